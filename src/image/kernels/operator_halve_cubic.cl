// Images of bytes to half their size, an even one, by cubics: (-3, 19, 19, -3) / 32 of four pixels each way, the ones at
// the ends again beyond them. Four pixels of ROWS_EACH rows a work-item; every word is on its way before the first is used.
#define WORDS_HERE (2 * CHANNELS + 2)  // eight pixels, and a word before and behind
#define ROWS_HERE (2 * ROWS_EACH + 2)
#if CHANNELS == 1
#define FIRST_AGAIN 0x0000u
#define LAST_AGAIN 0x3333u
#elif CHANNELS == 2
#define FIRST_AGAIN 0x1010u
#define LAST_AGAIN 0x3232u
#elif CHANNELS == 3
#define FIRST_AGAIN 0x2100u
#define LAST_AGAIN 0x3321u
#else
#define FIRST_AGAIN 0x3210u
#define LAST_AGAIN 0x3210u
#endif

FUNCTION int across_four(const uint* words, int at) {  // `at`: the byte of the first of them
#if CHANNELS == 1
  const uint four = at % 4 == 0 ? words[at / 4]
                                : CHOOSE_BYTES(words[at / 4], words[at / 4 + (at % 4 > 0)],
                                               at % 4 == 1 ? 0x4321u : at % 4 == 2 ? 0x5432u : 0x6543u);
#else
  const int b = at + CHANNELS, c = at + 2 * CHANNELS, d = at + 3 * CHANNELS;
  const uint near = CHOOSE_BYTES(words[b / 4], words[c / 4], (uint)(b % 4) << 4 | (uint)(4 + c % 4) << 8);
  const uint far = CHOOSE_BYTES(words[at / 4], words[d / 4], (uint)(at % 4) | (uint)(4 + d % 4) << 12);
  const uint four = CHOOSE_BYTES(near, far, 0x7214u);
#endif
  return (int)BYTES_DOT(four, 0x00131300u, 0u) - (int)BYTES_DOT(four, 0x03000003u, 0u);
}
FUNCTION uint made_of(int a, int b, int c, int d) {
  const int sum = (19 * (b + c) - 3 * (a + d) + 512) >> 10;
  return (uint)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}
FUNCTION int within(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }

KERNEL WORK_GROUP(128, 1, 1)
void halve_bytes(GLOBAL const uchar* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL uchar* RESTRICT result,
                 ulong out_offset, ulong out_pitch, int rows, int columns, int in_fours, int out_fours) {
  const int first = 4 * (int)GLOBAL_ID(0), top = (int)GROUP_ID(1) * ROWS_EACH;
  const int out_rows = rows / 2, out_columns = columns / 2;
  if (first >= out_columns) return;
  GLOBAL const uchar* in = image + in_offset;
  GLOBAL uchar* out = result + out_offset + (ulong)top * out_pitch + (ulong)(first * CHANNELS);
  if (in_fours && out_fours && first + 4 <= out_columns && top + ROWS_EACH <= out_rows) {
    const int at_left = first == 0, at_right = first + 4 == out_columns;
    GLOBAL const uchar* from = in + (ulong)(2 * first * CHANNELS);
    uint words[ROWS_HERE * WORDS_HERE];
    UNROLL
    for (int r = 0; r < ROWS_HERE; ++r) {
      GLOBAL const uint* line = (GLOBAL const uint*)(from + (ulong)within(2 * top - 1 + r, rows) * in_pitch);
      UNROLL
      for (int k = 0; k < WORDS_HERE; ++k) {
        const int there = k == 0 && at_left ? 0 : k == WORDS_HERE - 1 && at_right ? WORDS_HERE - 3 : k - 1;
        words[r * WORDS_HERE + k] = LOAD_CACHED(line + there);
      }
    }
    UNROLL
    for (int r = 0; r < ROWS_HERE; ++r) {
      uint* line = words + r * WORDS_HERE;
      if (at_left) line[0] = CHOOSE_BYTES(line[0], line[0], FIRST_AGAIN);
      if (at_right) line[WORDS_HERE - 1] = CHOOSE_BYTES(line[WORDS_HERE - 1], line[WORDS_HERE - 1], LAST_AGAIN);
    }
    UNROLL
    for (int k = 0; k < CHANNELS; ++k) {
      uint made[ROWS_EACH * 4];
      UNROLL
      for (int e = 0; e < 4; ++e) {
        const int value = 4 * k + e, at = 4 + value + value / CHANNELS * CHANNELS - CHANNELS;
        int sums[ROWS_HERE];
        UNROLL
        for (int r = 0; r < ROWS_HERE; ++r) sums[r] = across_four(words + r * WORDS_HERE, at);
        UNROLL
        for (int r = 0; r < ROWS_EACH; ++r)
          made[4 * r + e] = made_of(sums[2 * r], sums[2 * r + 1], sums[2 * r + 2], sums[2 * r + 3]);
      }
      UNROLL
      for (int r = 0; r < ROWS_EACH; ++r)
        *((GLOBAL uint*)(out + (ulong)r * out_pitch) + k) =
            CHOOSE_BYTES(CHOOSE_BYTES(made[4 * r], made[4 * r + 1], 0x0040u),
                         CHOOSE_BYTES(made[4 * r + 2], made[4 * r + 3], 0x0040u), 0x5410u);
    }
    return;
  }
  const int wide = (out_columns - first < 4 ? out_columns - first : 4) * CHANNELS;
  for (int r = 0; r < ROWS_EACH && top + r < out_rows; ++r) {
    for (int value = 0; value < wide; ++value) {
      const int pixel = 2 * (first + value / CHANNELS) - 1, channel = value % CHANNELS;
      int sums[4];
      for (int i = 0; i < 4; ++i) {
        GLOBAL const uchar* line = in + (ulong)within(2 * (top + r) - 1 + i, rows) * in_pitch + channel;
        int four[4];
        for (int j = 0; j < 4; ++j) four[j] = (int)line[within(pixel + j, columns) * CHANNELS];
        sums[i] = 19 * (four[1] + four[2]) - 3 * (four[0] + four[3]);
      }
      out[(ulong)r * out_pitch + (ulong)value] = (uchar)made_of(sums[0], sums[1], sums[2], sums[3]);
    }
  }
}
