// Downscaling 8-bit images of even size by two: means of 2x2 pixels, rounded half to even. A work-item computes four pixels
// of ROWS_EACH rows and issues all loads before the first sum.
FUNCTION uint byte_sum(const uint* words, int at, uint start) {
  return BYTES_DOT(words[at / 4], 1u << 8 * (at % 4), start);
}
FUNCTION uint quarter(uint sum) { return (sum + 1u + (sum >> 2 & 1u)) >> 2; }

KERNEL WORK_GROUP(128, 1, 1)
void downscale_bytes(GLOBAL const uchar* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL uchar* RESTRICT result,
                 ulong out_offset, ulong out_pitch, int rows, int columns, int in_vec4, int out_vec4) {
  const int first = 4 * (int)GLOBAL_ID(0), top = (int)GROUP_ID(1) * ROWS_EACH;
  const int out_rows = rows / 2, out_columns = columns / 2;
  if (first >= out_columns) return;
  GLOBAL const uchar* in = image + in_offset + (ulong)(2 * top) * in_pitch + (ulong)(2 * first * CHANNELS);
  GLOBAL uchar* out = result + out_offset + (ulong)top * out_pitch + (ulong)(first * CHANNELS);
  if (in_vec4 && out_vec4 && first + 4 <= out_columns && top + ROWS_EACH <= out_rows) {
    uint words[2 * ROWS_EACH * 2 * CHANNELS];
    UNROLL
    for (int k = 0; k < 2 * ROWS_EACH * 2 * CHANNELS; ++k)
      words[k] = LOAD_CACHED((GLOBAL const uint*)(in + (ulong)(k / (2 * CHANNELS)) * in_pitch) + k % (2 * CHANNELS));
    UNROLL
    for (int r = 0; r < ROWS_EACH; ++r) {
      const uint* upper = words + 4 * CHANNELS * r;
      const uint* lower = upper + 2 * CHANNELS;
      UNROLL
      for (int k = 0; k < CHANNELS; ++k) {
        uint made[4];
        UNROLL
        for (int e = 0; e < 4; ++e) {
          const int value = 4 * k + e, a = value + value / CHANNELS * CHANNELS, b = a + CHANNELS;
          made[e] = quarter(byte_sum(upper, a, byte_sum(upper, b, byte_sum(lower, a, byte_sum(lower, b, 0u)))));
        }
        *((GLOBAL uint*)(out + (ulong)r * out_pitch) + k) =
            BYTE_PERMUTE(BYTE_PERMUTE(made[0], made[1], 0x0040u), BYTE_PERMUTE(made[2], made[3], 0x0040u), 0x5410u);
      }
    }
    return;
  }
  const int wide = (out_columns - first < 4 ? out_columns - first : 4) * CHANNELS;
  for (int r = 0; r < ROWS_EACH && top + r < out_rows; ++r) {
    for (int value = 0; value < wide; ++value) {
      GLOBAL const uchar* p = in + (ulong)(2 * r) * in_pitch + value + value / CHANNELS * CHANNELS;
      const uint sum = (uint)p[0] + (uint)p[CHANNELS] + (uint)p[in_pitch] + (uint)p[in_pitch + CHANNELS];
      out[(ulong)r * out_pitch + (ulong)value] = (uchar)quarter(sum);
    }
  }
}
