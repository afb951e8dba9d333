// Cross-bilateral filter, one pixel per work-item, from global memory: any radius, any device.
KERNEL WORK_GROUP(32, 8, 1) void smooth(GLOBAL const uint* RESTRICT cells, GLOBAL const float2* RESTRICT flow,
                                        GLOBAL float2* RESTRICT out, int rows, int columns) {
  const int c = (int)GLOBAL_ID(0), r = (int)GLOBAL_ID(1);
  if (c >= columns || r >= rows) return;
  const ulong plane = (ulong)GROUP_ID(2) * (ulong)rows * (ulong)columns;
  const ulong own_cell = plane + (ulong)r * (ulong)columns + (ulong)c;
  const uint own = cells[own_cell] & 0xffffffu;
  float u = 0.0f, v = 0.0f, sum = 0.0f;
  for (int y = most_of(r - FILTER, 0); y <= least_of(r + FILTER, rows - 1); ++y) {
    float row_u = 0.0f, row_v = 0.0f, row_sum = 0.0f;
    for (int x = most_of(c - FILTER, 0); x <= least_of(c + FILTER, columns - 1); ++x) {
      const ulong cell = plane + (ulong)y * (ulong)columns + (ulong)x;
      const uint other = cells[cell];
      if (other >> 24) continue;
      const float weight = EXP2_FAST(FMA((float)squares_of(own, other, 0u), SLOPE, column_exponents[x - c + FILTER]));
      const float2 theirs = flow[cell];
      row_u = FMA(weight, theirs.x, row_u);
      row_v = FMA(weight, theirs.y, row_v);
      row_sum += weight;
    }
    const float share = row_weights[y - r + FILTER];
    u = FMA(share, row_u, u);
    v = FMA(share, row_v, v);
    sum = FMA(share, row_sum, sum);
  }
  out[own_cell] = sum < 1e-9f ? flow[own_cell] : make_float2(u / sum, v / sum);
}
