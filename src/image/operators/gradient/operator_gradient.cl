// Gradient (d/dx, d/dy) of one channel. A work-item computes two neighbouring pixels of ROWS_EACH rows and issues all loads
// first. SIDE, MIDDLE: smoothing weights times the derivative's weight.
#define ROWS_HERE (ROWS_EACH + 2)

KERNEL WORK_GROUP(128, 1, 1)
void gradient(GLOBAL const ELEMENT* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL float* RESTRICT result,
              ulong out_offset, ulong out_pitch, int rows, int columns, int in_vec4, int out_vec4) {
  const int x = 2 * (int)GLOBAL_ID(0), top = (int)GROUP_ID(1) * ROWS_EACH;
  if (x >= columns) return;
  int places[4];
  UNROLL
  for (int k = 0; k < 4; ++k) places[k] = BORDERED(x - 1 + k, columns);
  float v[4 * ROWS_HERE];
#if DEPTH == 1
  // Extracts bytes x - 1 to x + 2 from the two words that contain them.
  const int word = x - 1 & ~3, interior = in_vec4 && x > 0 && word + 8 <= columns && top > 0 && top + ROWS_EACH < rows;
  if (interior) {
    GLOBAL const uchar* line = image + in_offset + (ulong)(top - 1) * in_pitch + (ulong)word;
    const uint which = (x & 2) == 0 ? 0x6543u : 0x4321u;
    uint words[2 * ROWS_HERE];
    UNROLL
    for (int r = 0; r < ROWS_HERE; ++r) {
      words[2 * r] = LOAD_CACHED((GLOBAL const uint*)line);
      words[2 * r + 1] = LOAD_CACHED((GLOBAL const uint*)line + 1);
      line += in_pitch;
    }
    UNROLL
    for (int r = 0; r < ROWS_HERE; ++r) unpack_vec4(BYTE_PERMUTE(words[2 * r], words[2 * r + 1], which), v + 4 * r);
  } else
#endif
  {
    UNROLL
    for (int r = 0; r < ROWS_HERE; ++r) {
      const int row = BORDERED(top - 1 + r, rows);
      GLOBAL const ELEMENT* line = image + in_offset + (ulong)(row < 0 ? 0 : row) * in_pitch;
      UNROLL
      for (int k = 0; k < 4; ++k) v[4 * r + k] = row < 0 || places[k] < 0 ? BEYOND : (float)LOAD_CACHED(line + places[k]);
    }
  }
  float apart[2 * ROWS_HERE], smooth[2 * ROWS_HERE];
  UNROLL
  for (int r = 0; r < ROWS_HERE; ++r) {
    UNROLL
    for (int k = 0; k < 2; ++k) {
      const float* three = v + 4 * r + k;
      apart[2 * r + k] = three[2] - three[0];
      smooth[2 * r + k] = FMA(MIDDLE, three[1], SIDE * (three[0] + three[2]));
    }
  }
  UNROLL
  for (int r = 0; r < ROWS_EACH; ++r) {
    float made[4];
    UNROLL
    for (int k = 0; k < 2; ++k) {
      made[2 * k] = FMA(MIDDLE, apart[2 * r + 2 + k], SIDE * (apart[2 * r + k] + apart[2 * r + 4 + k]));
      made[2 * k + 1] = smooth[2 * r + 4 + k] - smooth[2 * r + k];
    }
    if (top + r >= rows) return;
    GLOBAL float* to = result + out_offset + (ulong)(top + r) * out_pitch + (ulong)(2 * x);
    if (out_vec4 && x + 1 < columns) {
      *(GLOBAL float4*)to = make_float4(made[0], made[1], made[2], made[3]);
    } else {
      for (int k = 0; k < 4; ++k) {
        if (x + k / 2 < columns) to[k] = made[k];
      }
    }
  }
}
