// Gaussian 3 x 3 with reflected borders; (rows, columns) becomes (x, y).
KERNEL WORK_GROUP(32, 8, 1) void finish(GLOBAL const float2* RESTRICT flow, int rows, int columns,
                                        GLOBAL float* RESTRICT out, ulong offset, ulong pitch) {
  const int c = (int)GLOBAL_ID(0), r = (int)GLOBAL_ID(1);
  if (c >= columns || r >= rows) return;
  const int before = reflected(c - 1, columns), after = reflected(c + 1, columns);
  float u[3], v[3];
  for (int i = 0; i < 3; ++i) {
    GLOBAL const float2* row = flow + (ulong)reflected(r + i - 1, rows) * (ulong)columns;
    const float2 a = row[before], b = row[c], d = row[after];
    u[i] = FMA(GAUSS_OWN, b.x, GAUSS_BESIDE * (a.x + d.x));
    v[i] = FMA(GAUSS_OWN, b.y, GAUSS_BESIDE * (a.y + d.y));
  }
  GLOBAL float* to = out + offset + (ulong)r * pitch + (ulong)(2 * c);
  to[0] = FMA(GAUSS_OWN, v[1], GAUSS_BESIDE * (v[0] + v[2]));
  to[1] = FMA(GAUSS_OWN, u[1], GAUSS_BESIDE * (u[0] + u[2]));
}
