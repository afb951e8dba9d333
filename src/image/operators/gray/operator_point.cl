// Conversion to gray: four pixels of ROWS_EACH rows per work-item.
#if DEPTH == 1 && CHANNELS == 3
// Weights in thousandths are 16-bit integers: the sums are exact, and the division is a multiplication that keeps the high
// word.
FUNCTION uint gray_of(uint word, uint upper, uint lower) {
  const uint sum = (BYTES_DOT(word, upper, 0u) << 8) + BYTES_DOT(word, lower, 500u);
  return (uint)((ulong)sum * 4294968ul >> 32);
}
FUNCTION uint four_grays(uint a, uint b, uint c) {  // from the twelve bytes of four pixels
  const uint upper = RED_1000 >> 8 | GREEN_1000 >> 8 << 8 | BLUE_1000 >> 8 << 16;
  const uint lower = (RED_1000 & 255u) | (GREEN_1000 & 255u) << 8 | (BLUE_1000 & 255u) << 16;
  const uint first = gray_of(a, upper, lower), second = gray_of(BYTE_PERMUTE(a, b, 0x0543u), upper, lower);
  const uint third = gray_of(BYTE_PERMUTE(b, c, 0x0432u), upper, lower), last = gray_of(c, upper << 8, lower << 8);
  return BYTE_PERMUTE(BYTE_PERMUTE(first, second, 0x0040u), BYTE_PERMUTE(third, last, 0x0040u), 0x5410u);
}
#endif

KERNEL WORK_GROUP(128, 1, 1)
void point(GLOBAL const ELEMENT* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL ELEMENT* RESTRICT result,
           ulong out_offset, ulong out_pitch, int rows, int columns, int in_vec4, int out_vec4) {
  const int first = 4 * (int)GLOBAL_ID(0);
  if (first >= columns) return;
#if DEPTH == 1 && CHANNELS == 3
  const int top = (int)GROUP_ID(1) * ROWS_EACH;
  // All rows are loaded before the first sum.
  if (in_vec4 && out_vec4 && first + 3 < columns && top + ROWS_EACH <= rows) {
    GLOBAL const uchar* in = image + in_offset + (ulong)top * in_pitch + (ulong)(first * 3);
    GLOBAL uchar* out = result + out_offset + (ulong)top * out_pitch + first;
    uint words[3 * ROWS_EACH];
    UNROLL
    for (int k = 0; k < 3 * ROWS_EACH; ++k)
      words[k] = LOAD_CACHED((GLOBAL const uint*)(in + (ulong)(k / 3) * in_pitch) + k % 3);
    UNROLL
    for (int r = 0; r < ROWS_EACH; ++r)
      *(GLOBAL uint*)(out + (ulong)r * out_pitch) = four_grays(words[3 * r], words[3 * r + 1], words[3 * r + 2]);
    return;
  }
#endif
  for (int r = 0; r < ROWS_EACH; ++r) {
    const int row = (int)GROUP_ID(1) * ROWS_EACH + r;
    if (row >= rows) return;
    GLOBAL const ELEMENT* in = image + in_offset + (ulong)row * in_pitch + (ulong)(first * CHANNELS);
    GLOBAL ELEMENT* out = result + out_offset + (ulong)row * out_pitch + first;
    float v[4];
    if (in_vec4 && first + 3 < columns) {
      float c[4 * CHANNELS];
      UNROLL
      for (int k = 0; k < CHANNELS; ++k) load_vec4(in + 4 * k, c + 4 * k);
      UNROLL
      for (int k = 0; k < 4; ++k)
        v[k] = FMA(RED, c[k * CHANNELS], FMA(GREEN, c[k * CHANNELS + 1], BLUE * c[k * CHANNELS + 2]));
    } else {
      for (int k = 0; k < 4; ++k) {
        GLOBAL const ELEMENT* p = in + (first + k < columns ? k : 0) * CHANNELS;
        v[k] = FMA(RED, (float)p[0], FMA(GREEN, (float)p[1], BLUE * (float)p[2]));
      }
    }
    store_up_to_four(out, v, columns - first, out_vec4);
  }
}
