// Box filter of 8-bit images, WINDOW_ROWS x WINDOW_COLUMNS. A lane sums sixteen neighbouring values of a row in pairs of 16
// bits that cannot overflow. Moving down, it adds the new row and subtracts the oldest; horizontal neighbours come from
// adjacent lanes. Sub-groups of a group are stacked vertically, so that shared rows are read from memory once.
#define EACH 16
#define PAIRS 8  // pairs per lane: values c and c + PAIRS
#define LEFT (WINDOW_COLUMNS / 2 * CHANNELS)
#define RIGHT ((WINDOW_COLUMNS - 1 - WINDOW_COLUMNS / 2) * CHANNELS)
#define LEFT_WORDS ((LEFT + 3) / 4)
#define RIGHT_WORDS ((RIGHT + 3) / 4)
#define ABOVE (WINDOW_ROWS / 2)
#define ROWS_HERE (ROWS_EACH + WINDOW_ROWS - 1)
#define FAR (1 << 20)
#define BEYOND_WORD ((uint)BEYOND * 0x01010101u)
// The mean is in the highest byte.
#define MEAN(sum) ((sum) * RECIPROCAL + ROUNDING)

// Packs the means of four sums into a word.
FUNCTION uint means_of_four(const uint* sums) {
#ifdef __CUDACC_RTC__
  // The bits of a sum are also a denormal float, 2^-149 times its value. Scaled and added to 2.0, the mean is rounded into
  // the low mantissa bits. The shifts discard all higher bits except 64 in the top byte of sums[0], which the 192 added to
  // the last value cancels.
  const float beside[4] = {2.0f, 2.0f, 2.0f, 2.0f + 192.0f / 4194304.0f};
  uint bits[4];
  UNROLL
  for (int e = 0; e < 4; ++e) bits[e] = BITS_OF(FMA(FLOAT_OF(sums[e]), LARGE_RECIPROCAL, beside[e]));
  return (((((bits[3] << 8) + bits[2]) << 8) + bits[1]) << 8) + bits[0];
#else
  return BYTE_PERMUTE(BYTE_PERMUTE(MEAN(sums[0]), MEAN(sums[1]), 0x0073u),
                      BYTE_PERMUTE(MEAN(sums[2]), MEAN(sums[3]), 0x0073u), 0x5410u);
#endif
}

#if SUB_GROUP_WIDTH == 32
#define BEFORE(k) SHUFFLE_UP(sums[k], 1)
#define BEHIND(k) SHUFFLE_DOWN(sums[k], 1)
#else
#define BEFORE(k) exchanged[32 * (k) + (lane > 0 ? lane - 1 : 0)]
#define BEHIND(k) exchanged[32 * (k) + (lane < 31 ? lane + 1 : 31)]
#endif

// Bytes 0 and 2, or 1 and 3, of a word as two 16-bit values.
FUNCTION uint u16_pair(uint word, const int odd) { return odd ? BYTE_PERMUTE(word, 0u, 0x4341u) : word & 0x00ff00ffu; }

// Index of the lane's own value that the border repeats at position v: v < 0 is before the start of the row, v >= EACH
// after its end. Negative if it is the constant.
FUNCTION int value_beyond(const int v) {
  const int j = v < 0 ? -1 - v : v - EACH, there = BORDERED(-1 - j / CHANNELS, FAR);
  if (there < 0) return -1;
  return v < 0 ? there * CHANNELS + CHANNELS - 1 - j % CHANNELS : EACH - CHANNELS * (there + 1) + j % CHANNELS;
}

// Sums of positions v and v + 2 beyond the end of a row.
FUNCTION uint sums_beyond(const uint* sums, const int v) {
  const int a = value_beyond(v), b = value_beyond(v + 2);
  if (a < 0 || b < 0) return (uint)BEYOND * WINDOW_ROWS * 0x10001u;
  const uint which = (a % 4 < 2 ? 0x10u : 0x32u) | (b % 4 < 2 ? 0x5400u : 0x7600u);
  return BYTE_PERMUTE(sums[(2 * (a / 4) + a % 2) & 7], sums[(2 * (b / 4) + b % 2) & 7], which);
}

FUNCTION void take_words(uint4 four, uint* words) {
  words[0] = four.x;
  words[1] = four.y;
  words[2] = four.z;
  words[3] = four.w;
}
FUNCTION uint4 load_row(GLOBAL const uchar* RESTRICT in, ulong pitch, int row, int rows) {
  const int there = BORDERED(row, rows);
  if (there < 0) return make_uint4(BEYOND_WORD, BEYOND_WORD, BEYOND_WORD, BEYOND_WORD);
  return LOAD_CACHED((GLOBAL const uint4*)(in + (ulong)there * pitch));
}

// Computes a single value, at the ends of rows or if rows are not aligned.
FUNCTION void sum_one(GLOBAL const uchar* RESTRICT in, ulong in_pitch, GLOBAL uchar* RESTRICT out, ulong out_pitch, int rows,
                      int columns, int row, int value) {
  const int pixel = value / CHANNELS, channel = value - pixel * CHANNELS;
  int places[WINDOW_COLUMNS];
  UNROLL
  for (int k = 0; k < WINDOW_COLUMNS; ++k) {
    const int there = BORDERED(pixel - WINDOW_COLUMNS / 2 + k, columns);
    places[k] = there < 0 ? -1 : there * CHANNELS + channel;
  }
  uint sum = 0;
  for (int r = 0; r < WINDOW_ROWS; ++r) {
    const int there = BORDERED(row - ABOVE + r, rows);
    GLOBAL const uchar* line = in + (ulong)(there < 0 ? 0 : there) * in_pitch;
    UNROLL
    for (int k = 0; k < WINDOW_COLUMNS; ++k)
      sum += there < 0 || places[k] < 0 ? (uint)BEYOND : (uint)LOAD_CACHED(line + places[k]);
  }
  out[(ulong)row * out_pitch + (ulong)value] = (uchar)(MEAN(sum) >> 24);
}

// Computes ROWS_EACH rows of a lane. `at_ends`: 0 if no column is outside the image; a constant where speed matters.
FUNCTION void go_down(LOCAL uint* exchanged, GLOBAL const uchar* RESTRICT from, ulong in_pitch, GLOBAL uchar* RESTRICT to,
                      ulong out_pitch, int rows, int wide, int first, int end, int top, int x, int lane, const int at_ends) {
  uint words[4 * ROWS_HERE];
  if (top >= ABOVE && top + ROWS_EACH + WINDOW_ROWS <= rows) {
    GLOBAL const uchar* line = from + (ulong)(top - ABOVE) * in_pitch;
    UNROLL
    for (int r = 0; r < ROWS_HERE; ++r) {
      take_words(LOAD_CACHED((GLOBAL const uint4*)line), words + 4 * r);
      line += in_pitch;
    }
  } else {
    UNROLL
    for (int r = 0; r < ROWS_HERE; ++r) take_words(load_row(from, in_pitch, top - ABOVE + r, rows), words + 4 * r);
  }
  const int stored = lane > 0 && lane < 31 && x >= 0 && x + EACH <= wide;
  uint sums[PAIRS];  // of word k: values 0 and 2 at index 2 k, 1 and 3 at 2 k + 1
  UNROLL
  for (int k = 0; k < PAIRS; ++k) {
    sums[k] = 0u;
    UNROLL
    for (int r = 0; r < WINDOW_ROWS - 1; ++r) sums[k] += u16_pair(words[4 * r + k / 2], k % 2);
  }
  UNROLL
  for (int o = 0; o < ROWS_EACH; ++o) {
    UNROLL
    for (int k = 0; k < PAIRS; ++k) {
      sums[k] += u16_pair(words[4 * (o + WINDOW_ROWS - 1) + k / 2], k % 2);
      if (o > 0) sums[k] -= u16_pair(words[4 * (o > 0 ? o - 1 : 0) + k / 2], k % 2);
    }
#if SUB_GROUP_WIDTH != 32
    UNROLL
    for (int k = 0; k < PAIRS; ++k) exchanged[32 * k + lane] = sums[k];
    BARRIER();
#endif
    uint near[2 * (LEFT_WORDS + 4 + RIGHT_WORDS)];
    UNROLL
    for (int k = 0; k < 2 * LEFT_WORDS; ++k) {
      near[k] = BEFORE(PAIRS - 2 * LEFT_WORDS + k);
      if (at_ends && x == 0) near[k] = sums_beyond(sums, 4 * (k / 2 - LEFT_WORDS) + k % 2);
    }
    UNROLL
    for (int k = 0; k < PAIRS; ++k) near[2 * LEFT_WORDS + k] = sums[k];
    UNROLL
    for (int k = 0; k < 2 * RIGHT_WORDS; ++k) {
      near[2 * LEFT_WORDS + PAIRS + k] = BEHIND(k);
      if (at_ends && x + EACH == wide) near[2 * LEFT_WORDS + PAIRS + k] = sums_beyond(sums, EACH + 4 * (k / 2) + k % 2);
    }
    uint pairs[LEFT + PAIRS + RIGHT];
    UNROLL
    for (int i = 0; i < LEFT + PAIRS + RIGHT; ++i) {
      const int v = i - LEFT + 4 * LEFT_WORDS, k = 2 * (v / 4) + v % 2;
      pairs[i] = BYTE_PERMUTE(near[k], near[k + PAIRS / 2], v % 4 < 2 ? 0x5410u : 0x7632u);
    }
    uint across[PAIRS];
    UNROLL
    for (int i = 0; i < PAIRS; ++i) {
      if (i < CHANNELS) {
        across[i] = pairs[i];
        UNROLL
        for (int k = 1; k < WINDOW_COLUMNS; ++k) across[i] += pairs[i + k * CHANNELS];
      } else {
        across[i] = across[(i - CHANNELS) & 7] + pairs[i + (WINDOW_COLUMNS - 1) * CHANNELS] - pairs[(i - CHANNELS) & 7];
      }
    }
    uint made[4];
    UNROLL
    for (int w = 0; w < 2; ++w) {
      uint low[4], high[4];
      UNROLL
      for (int e = 0; e < 4; ++e) {
        low[e] = across[4 * w + e] & 0xffffu;
        high[e] = across[4 * w + e] >> 16;
      }
      made[w] = means_of_four(low);
      made[w + 2] = means_of_four(high);
    }
    if (stored && top + o < rows) {
      if (x >= first && x + EACH <= end) {
        *(GLOBAL uint4*)to = make_uint4(made[0], made[1], made[2], made[3]);
      } else {
        UNROLL
        for (int w = 0; w < 4; ++w) {
          if (x + 4 * w >= first && x + 4 * w + 4 <= end) ((GLOBAL uint*)to)[w] = made[w];
        }
      }
    }
    to += out_pitch;
#if SUB_GROUP_WIDTH != 32
    BARRIER();
#endif
  }
}

// Computes the `item`-th of the values outside of [first, end), counted row by row.
FUNCTION void sum_outside(GLOBAL const uchar* RESTRICT in, ulong in_pitch, GLOBAL uchar* RESTRICT out, ulong out_pitch, int rows,
                          int columns, int first, int end, int item) {
  const int singles = first + columns * CHANNELS - end, row = item / singles, k = item - row * singles;
  if (row < rows) sum_one(in, in_pitch, out, out_pitch, rows, columns, row, k < first ? k : end + k - first);
}

#if SUB_GROUPS == 1
// The values outside of [first, end). A kernel of its own, because the work-items of `sums` meet at barriers without sub-groups:
// PoCL 3.1 without optimization computes wrong values if others have returned.
KERNEL WORK_GROUP(32, 1, 1)
void single_sums(GLOBAL const uchar* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL uchar* RESTRICT result,
                 ulong out_offset, ulong out_pitch, int rows, int columns, int first, int end, int single_groups, int strips) {
  sum_outside(image + in_offset, in_pitch, result + out_offset, out_pitch, rows, columns, first, end, (int)GLOBAL_ID(0));
}
#endif

// Computes values [first, end) of each row by lanes; the first and last lane of a sub-group only provide neighbours. The
// other values are computed one per work-item by the first `single_groups` groups. If first is 0, the outer
// lanes apply the border.
KERNEL WORK_GROUP_RESIDENT(32 * SUB_GROUPS, 1, 1, RESIDENT)
void sums(GLOBAL const uchar* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL uchar* RESTRICT result, ulong out_offset,
          ulong out_pitch, int rows, int columns, int first, int end, int single_groups, int strips) {
#if SUB_GROUP_WIDTH == 32
  LOCAL uint* exchanged = 0;
#else
  LOCAL_ARRAY(uint, exchanged, 32 * PAIRS);
#endif
  const int wide = columns * CHANNELS, lane = LOCAL_ID(0) & 31, group = (int)GROUP_ID(0) - single_groups;
  GLOBAL const uchar* in = image + in_offset;
  GLOBAL uchar* out = result + out_offset;
#if SUB_GROUPS > 1
  if (group < 0) {
    sum_outside(in, in_pitch, out, out_pitch, rows, columns, first, end, (int)GLOBAL_ID(0));
    return;
  }
#endif
  const int block = group / strips, strip = group - block * strips;
  const int top = (block * SUB_GROUPS + LOCAL_ID(0) / 32) * ROWS_EACH, x = EACH * (30 * strip + lane - 1);
#if SUB_GROUPS > 1
  if (top >= rows) return;
#endif
  GLOBAL const uchar* from = in + (ulong)(x >= 0 && x + EACH <= wide ? x : 0);
  GLOBAL uchar* to = out + (ulong)top * out_pitch + (ulong)(x < 0 ? 0 : x);
  const int at_ends = ENDS_KNOWN && first == 0 && (strip == 0 || strip == strips - 1);
#if SUB_GROUPS > 1
  if (at_ends) {
    go_down(exchanged, from, in_pitch, to, out_pitch, rows, wide, first, end, top, x, lane, 1);
  } else {
    go_down(exchanged, from, in_pitch, to, out_pitch, rows, wide, first, end, top, x, lane, 0);
  }
#else
  go_down(exchanged, from, in_pitch, to, out_pitch, rows, wide, first, end, top, x, lane, at_ends);
#endif
}
