// Gray of four pixels a work-item, ROWS_EACH rows.
KERNEL WORK_GROUP(128, 1, 1)
void point(GLOBAL const ELEMENT* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL ELEMENT* RESTRICT result,
           ulong out_offset, ulong out_pitch, int rows, int columns, int in_fours, int out_fours) {
  const int first = 4 * (int)GLOBAL_ID(0);
  if (first >= columns) return;
  for (int r = 0; r < ROWS_EACH; ++r) {
    const int row = (int)GROUP_ID(1) * ROWS_EACH + r;
    if (row >= rows) return;
    GLOBAL const ELEMENT* in = image + in_offset + (ulong)row * in_pitch + (ulong)(first * CHANNELS);
    GLOBAL ELEMENT* out = result + out_offset + (ulong)row * out_pitch + first;
    float v[4];
    if (in_fours && first + 3 < columns) {
      float c[4 * CHANNELS];
      UNROLL
      for (int k = 0; k < CHANNELS; ++k) load_four(in + 4 * k, c + 4 * k);
      UNROLL
      for (int k = 0; k < 4; ++k)
        v[k] = FMA(RED, c[k * CHANNELS], FMA(GREEN, c[k * CHANNELS + 1], BLUE * c[k * CHANNELS + 2]));
    } else {
      for (int k = 0; k < 4; ++k) {
        GLOBAL const ELEMENT* p = in + (first + k < columns ? k : 0) * CHANNELS;
        v[k] = FMA(RED, (float)p[0], FMA(GREEN, (float)p[1], BLUE * (float)p[2]));
      }
    }
    store_up_to_four(out, v, columns - first, out_fours);
  }
}
