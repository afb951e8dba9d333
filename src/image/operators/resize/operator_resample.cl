// Resizing 8-bit images with two or four taps per axis. A work-item computes four neighbouring channels of ROWS_EACH rows
// and moves down the input rows that they need. `vec4_table` holds for each vec4 its first input word, the selectors of its
// taps within WORDS words, and 16-bit weights, so that a row takes TAPS / 2 two-way dot products per channel. Rows are
// combined in float. Border pixels are replicated.
#define ITEMS_HERE 128

#if TAPS == 2
#define SHARES 1
#define PAIR_OF_PRODUCTS DOT_PAIR_UNSIGNED
#else
#define SHARES 4
#define PAIR_OF_PRODUCTS DOT_PAIR_SIGNED
#endif

FUNCTION uint word_of_bytes(GLOBAL const uchar* line, int at, int wide) {
  uint word = 0u;
  for (int e = 3; e >= 0; --e) word = word << 8 | (uint)line[at + e < wide ? at + e : wide - 1];
  return word;
}

KERNEL WORK_GROUP(ITEMS_HERE, 1, 1)
void resample(GLOBAL const uchar* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL uchar* RESTRICT result,
              ulong out_offset, ulong out_pitch, int rows, int wide, int out_rows, int out_wide, int in_aligned,
              int out_aligned, GLOBAL const uint* RESTRICT vec4_table, GLOBAL const int* RESTRICT rows_from,
              GLOBAL const float* RESTRICT rows_weights) {
  LOCAL_ARRAY(int, last_of, ROWS_EACH + 1);  // last input row that an output row needs
  LOCAL_ARRAY(float, shares, ROWS_EACH * SHARES);
  const int count = (out_wide + 3) / 4, four = (int)GROUP_ID(0) * ITEMS_HERE + LOCAL_ID(0), top = (int)GROUP_ID(1) * ROWS_EACH;
  const int begin = rows_from[top];
  for (int k = LOCAL_ID(0); k <= ROWS_EACH; k += ITEMS_HERE)
    last_of[k] = k < ROWS_EACH && top + k < out_rows ? rows_from[top + k] - begin + TAPS - 1 : -1;
  for (int k = LOCAL_ID(0); k < ROWS_EACH * SHARES; k += ITEMS_HERE)
    shares[k] = top + k / SHARES < out_rows ? rows_weights[top * SHARES + k] : 0.0f;
  BARRIER();
  if (four >= count) return;
  GLOBAL const uint* own = vec4_table + four;
  const int at = (int)own[0];
  own += count;
  uint which[TAPS * (WORDS - 1)], weights[2 * TAPS];
  UNROLL
  for (int k = 0; k < TAPS * (WORDS - 1); ++k, own += count) which[k] = *own;
  UNROLL
  for (int k = 0; k < 2 * TAPS; ++k, own += count) weights[k] = *own;
  uint words[ROWS_IN * WORDS];
  if (in_aligned && at + 4 * WORDS <= wide) {
    UNROLL
    for (int i = 0; i < ROWS_IN; ++i) {
      const int row = begin + i < 0 ? 0 : begin + i < rows ? begin + i : rows - 1;
      GLOBAL const uchar* from = image + in_offset + (ulong)row * in_pitch + (ulong)at;
      UNROLL
      for (int n = 0; n < WORDS; ++n) words[i * WORDS + n] = LOAD_CACHED((GLOBAL const uint*)(from + 4 * n));
    }
  } else {
    UNROLL
    for (int i = 0; i < ROWS_IN; ++i) {
      const int row = begin + i < 0 ? 0 : begin + i < rows ? begin + i : rows - 1;
      UNROLL
      for (int n = 0; n < WORDS; ++n)
        words[i * WORDS + n] = word_of_bytes(image + in_offset + (ulong)row * in_pitch, at + 4 * n, wide);
    }
  }
  float lines[TAPS * 4];  // horizontal sums of the last TAPS rows
  UNROLL
  for (int k = 0; k < 4 * TAPS; ++k) lines[k] = 0.0f;
  LOCAL const int* last = last_of;
  LOCAL const float* share = shares;
  GLOBAL uchar* to = result + out_offset + (ulong)top * out_pitch + (ulong)(4 * four);
  UNROLL
  for (int i = 0; i < ROWS_IN; ++i) {
    UNROLL
    for (int k = 0; k < 4 * (TAPS - 1); ++k) lines[k] = lines[k + 4];
    UNROLL
    for (int q = 0; q < TAPS; ++q) {
      uint bytes = BYTE_PERMUTE(words[i * WORDS], words[i * WORDS + 1], which[q * (WORDS - 1)]);
      UNROLL
      for (int n = 1; n < WORDS - 1; ++n) bytes = BYTE_PERMUTE(bytes, words[i * WORDS + n + 1], which[q * (WORDS - 1) + n]);
#if TAPS == 2
      lines[4 + 2 * q] = (float)PAIR_OF_PRODUCTS(weights[2 * q], bytes, 0, 0);
      lines[5 + 2 * q] = (float)PAIR_OF_PRODUCTS(weights[2 * q + 1], bytes, 0, 1);
#else
      lines[12 + q] = (float)PAIR_OF_PRODUCTS(weights[2 * q + 1], bytes, PAIR_OF_PRODUCTS(weights[2 * q], bytes, 0, 0), 1);
#endif
    }
    if (i + 1 < TAPS) continue;
#if TAPS == 2
    float from[4], apart[4];  // byte 1 of the bits of 32768 + v is the integer part of v
    UNROLL
    for (int k = 0; k < 4; ++k) {
      from[k] = FMA(lines[k], ONE_OF_SCALE, 32768.5f);
      apart[k] = lines[4 + k] - lines[k];
    }
#endif
    for (; *last == i; ++last, share += SHARES) {
      uint bits[4];
#if TAPS == 2
      UNROLL
      for (int k = 0; k < 4; ++k) bits[k] = BITS_OF(FMA(apart[k], share[0], from[k]));
      const uint which_byte = 0x0051u;
#else
      UNROLL
      for (int k = 0; k < 4; ++k) {
        float sum = 0.0f;
        UNROLL
        for (int j = 0; j < 4; ++j) sum = FMA(lines[4 * j + k], share[j], sum);
        bits[k] = BITS_OF(fmin(fmax(sum, 0.0f), 255.0f) + 8388608.0f);
      }
      const uint which_byte = 0x0040u;
#endif
      const uint word = BYTE_PERMUTE(BYTE_PERMUTE(bits[0], bits[1], which_byte), BYTE_PERMUTE(bits[2], bits[3], which_byte),
                                     0x5410u);
      if (out_aligned && 4 * four + 4 <= out_wide) {
        *(GLOBAL uint*)to = word;
      } else {
        for (int e = 0; e < 4; ++e) {
          if (4 * four + e < out_wide) to[e] = (uchar)(word >> 8 * e);
        }
      }
      to += out_pitch;
    }
  }
}
