// Downscaling 8-bit images by two with more than two taps per axis: TAPS 4 is bicubic, (-3, 19, 19, -3) / 32, and 5 a
// pyramid level, (1, 4, 6, 4, 1) / 16. A work-item computes four pixels of ROWS_EACH rows and issues all loads first.
// Interleaved channels are not separated: a word's weights are zero for the other channels.
#define PIXELS_BEFORE (TAPS - 3)
#define BEFORE ((PIXELS_BEFORE * CHANNELS + 3) / 4)  // in words
#define OWN (2 * CHANNELS)
#define WORDS_HERE (BEFORE + OWN + 1)
#define ROWS_HERE (2 * ROWS_EACH + TAPS - 2)
#define FAR 1000  // any size larger than what a work-item reads

FUNCTION uint weighted(const uint* words, int at, uint a, uint b, uint c, uint d, uint e) {  // `at`: the first tap's byte
  const uint weights[5] = {a, b, c, d, e};
  uint sum = 0u;
  UNROLL
  for (int k = 0; k < CHANNELS + 2; ++k) {
    uint word_weights = 0u;
    UNROLL
    for (int j = 0; j < 5; ++j) {
      const int place = at + j * CHANNELS;
      if (place / 4 == at / 4 + k) word_weights |= weights[j] << 8 * (place % 4);
    }
    if (word_weights != 0u) sum = BYTES_DOT(words[at / 4 + k], word_weights, sum);
  }
  return sum;
}
FUNCTION int across_taps(const uint* words, int at) {
#if TAPS == 4 && CHANNELS == 1
  const uint four = at % 4 == 0 ? words[at / 4]
                                : BYTE_PERMUTE(words[at / 4], words[at / 4 + (at % 4 > 0)],
                                               at % 4 == 1 ? 0x4321u : at % 4 == 2 ? 0x5432u : 0x6543u);
  return (int)BYTES_DOT(four, 0x00131300u, 0u) - (int)BYTES_DOT(four, 0x03000003u, 0u);
#elif TAPS == 4
  return (int)weighted(words, at, 0u, 19u, 19u, 0u, 0u) - (int)weighted(words, at, 3u, 0u, 0u, 3u, 0u);
#else
  return (int)weighted(words, at, 1u, 4u, 6u, 4u, 1u);
#endif
}
FUNCTION uint made_of(const int* s) {  // rounds half to even; with 4 taps half up
#if TAPS == 4
  const int sum = (19 * (s[1] + s[2]) - 3 * (s[0] + s[3]) + 512) >> 10;
  return (uint)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
#else
  const uint sum = (uint)(s[0] + s[4] + 4 * (s[1] + s[3]) + 6 * s[2]);
  return (sum + 127u + (sum >> 8 & 1u)) >> 8;
#endif
}

// A word beyond the end of a row, made from the words `own` inside it; `from` is its first byte relative to `own`.
FUNCTION uint beyond(const uint* own, int from) {
  uint word = 0u;
  UNROLL
  for (int e = 0; e < 4; ++e) {
    const int byte = from + e, pixel = byte >= 0 ? byte / CHANNELS : -((CHANNELS - 1 - byte) / CHANNELS);
    const int there = byte < 0 ? BORDERED(pixel, FAR) : BORDERED(pixel + FAR - 8, FAR) - (FAR - 8);
    const int place = there * CHANNELS + byte - pixel * CHANNELS;
    word |= (there < 0 || there > 7 ? (uint)BEYOND : own[place / 4] >> 8 * (place % 4) & 255u) << 8 * e;
  }
  return word;
}

KERNEL WORK_GROUP(128, 1, 1)
void downscale_bytes(GLOBAL const uchar* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL uchar* RESTRICT result,
                 ulong out_offset, ulong out_pitch, int rows, int columns, int in_vec8, int out_vec4) {
  const int first = 4 * (int)GLOBAL_ID(0), top = (int)GROUP_ID(1) * ROWS_EACH;
  const int out_rows = (rows + 1) / 2, out_columns = (columns + 1) / 2;
  if (first >= out_columns) return;
  GLOBAL const uchar* in = image + in_offset;
  GLOBAL uchar* out = result + out_offset + (ulong)top * out_pitch + (ulong)(first * CHANNELS);
  const int at_left = first == 0, at_right = 2 * first + 8 == columns;
  const int whole = (2 * first + 8) * CHANNELS + 4 <= columns * CHANNELS || at_right;
#ifdef WRAP_BORDER  // pixels beyond an end come from the opposite side
  const int inside = !at_left && !at_right;
#else
  const int inside = 1;
#endif
  if (in_vec8 && out_vec4 && whole && inside && top + ROWS_EACH <= out_rows) {
    GLOBAL const uchar* from = in + (ulong)(2 * first * CHANNELS);
    uint words[ROWS_HERE * WORDS_HERE];
    UNROLL
    for (int r = 0; r < ROWS_HERE; ++r) {
      const int row = BORDERED(2 * top - PIXELS_BEFORE + r, rows);
      uint* line = words + r * WORDS_HERE;
      if (row < 0) {
        UNROLL
        for (int k = 0; k < WORDS_HERE; ++k) line[k] = (uint)BEYOND * 0x01010101u;
      } else {
        GLOBAL const uchar* there = from + (ulong)row * in_pitch;
        UNROLL
        for (int k = 0; k < CHANNELS; ++k) {
          const uint2 two = LOAD_CACHED((GLOBAL const uint2*)there + k);
          line[BEFORE + 2 * k] = two.x;
          line[BEFORE + 2 * k + 1] = two.y;
        }
        UNROLL
        for (int k = 0; k < BEFORE; ++k) line[k] = LOAD_CACHED((GLOBAL const uint*)there + (at_left ? 0 : k - BEFORE));
        line[BEFORE + OWN] = LOAD_CACHED((GLOBAL const uint*)there + (at_right ? OWN - 1 : OWN));
      }
    }
#ifndef WRAP_BORDER
    UNROLL
    for (int r = 0; r < ROWS_HERE; ++r) {
      uint* line = words + r * WORDS_HERE;
      if (at_left) {
        UNROLL
        for (int k = 0; k < BEFORE; ++k) line[k] = beyond(line + BEFORE, 4 * (k - BEFORE));
      }
      if (at_right) line[BEFORE + OWN] = beyond(line + BEFORE, 4 * OWN);
    }
#endif
    UNROLL
    for (int k = 0; k < CHANNELS; ++k) {
      uint made[ROWS_EACH * 4];
      UNROLL
      for (int e = 0; e < 4; ++e) {
        const int value = 4 * k + e, at = 4 * BEFORE + value + value / CHANNELS * CHANNELS - PIXELS_BEFORE * CHANNELS;
        int sums[ROWS_HERE];
        UNROLL
        for (int r = 0; r < ROWS_HERE; ++r) sums[r] = across_taps(words + r * WORDS_HERE, at);
        UNROLL
        for (int r = 0; r < ROWS_EACH; ++r) made[4 * r + e] = made_of(sums + 2 * r);
      }
      UNROLL
      for (int r = 0; r < ROWS_EACH; ++r)
        *((GLOBAL uint*)(out + (ulong)r * out_pitch) + k) =
            BYTE_PERMUTE(BYTE_PERMUTE(made[4 * r], made[4 * r + 1], 0x0040u),
                         BYTE_PERMUTE(made[4 * r + 2], made[4 * r + 3], 0x0040u), 0x5410u);
    }
    return;
  }
  const int wide = (out_columns - first < 4 ? out_columns - first : 4) * CHANNELS;
  for (int r = 0; r < ROWS_EACH && top + r < out_rows; ++r) {
    for (int value = 0; value < wide; ++value) {
      const int pixel = 2 * (first + value / CHANNELS) - PIXELS_BEFORE, channel = value % CHANNELS;
      int sums[TAPS];
      for (int i = 0; i < TAPS; ++i) {
        const int row = BORDERED(2 * (top + r) - PIXELS_BEFORE + i, rows);
        uint four = 0u, last = 0u;
        for (int j = 0; j < TAPS; ++j) {
          const int column = BORDERED(pixel + j, columns);
          uint byte = (uint)BEYOND;
          if (row >= 0 && column >= 0) byte = (uint)in[(ulong)row * in_pitch + (ulong)(column * CHANNELS + channel)];
          if (j < 4) {
            four |= byte << 8 * j;
          } else {
            last = byte;
          }
        }
#if TAPS == 4
        sums[i] = (int)BYTES_DOT(four, 0x00131300u, 0u) - (int)BYTES_DOT(four, 0x03000003u, 0u);
#else
        sums[i] = (int)BYTES_DOT(four, 0x04060401u, last);
#endif
      }
      out[(ulong)r * out_pitch + (ulong)value] = (uchar)made_of(sums);
    }
  }
}
