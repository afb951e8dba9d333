// Windows of any weights on 8-bit images as exact products of byte matrices; weights are integers of PLANES bytes. A
// sub-group moves down a strip of 128 neighbouring channels, 4 rows per step. A product computes 16 results (4 rows of 4
// channels) of 8 chunks at once from two words of 4 rows each: (16 results x 32 weights) times (32 bytes x 8 chunks).
//
// Lane 4 g + t holds row t of each block of four, of chunk g: 16 channels and LEFT words on either side, shifted by SKIP
// bytes so that words begin where windows do. It computes channels 2 (g & 1) and the next of every vec4 of chunks 2 t and 2
// t + 1, of row g >> 1; lane group g ^ 1 has the other channels. AHEAD blocks of four rows are loaded ahead. Where windows
// reach beyond the ends of rows, each result is summed by its own work-item.
#define ITEMS_HERE (32 * SUB_GROUPS)
#define ROW_WORDS (WORDS + 3)
#define LOADED (4 + 2 * LEFT)
#define STEPS (ROWS_EACH / 4)
#define COMING (STEPS + BLOCKS - 1)
#if SUB_GROUP_WIDTH == 32
#define UNROLLED UNROLL
#else
#define UNROLLED  // products are loops with barriers there
#endif

#if LEFT == 1
#define LOAD_SIDE(to, p) (to)[0] = LOAD_CACHED((GLOBAL const uint*)(p));
#elif LEFT == 2
#define LOAD_SIDE(to, p)                                    \
  {                                                         \
    const uint2 two = LOAD_CACHED((GLOBAL const uint2*)(p)); \
    (to)[0] = two.x;                                        \
    (to)[1] = two.y;                                        \
  }
#else
#define LOAD_SIDE(to, p) LOAD_CHUNK(to, p)
#endif
#define LOAD_CHUNK(to, p)                                    \
  {                                                          \
    const uint4 four = LOAD_CACHED((GLOBAL const uint4*)(p)); \
    (to)[0] = four.x;                                        \
    (to)[1] = four.y;                                        \
    (to)[2] = four.z;                                        \
    (to)[3] = four.w;                                        \
  }

// Divides a sum that includes ROUNDING; the result is in byte RESULT_BYTE. On the H200 the high word of a product takes
// four times as long as a shift and twice as long as the low word.
FUNCTION uint divided(int sum) {
#if defined(DIVIDED_BY_SHIFT)
  return (uint)sum << DIVIDED_BY_SHIFT;
#elif defined(DIVIDED_BELOW)
  return (uint)sum * RECIPROCAL;
#else
#ifdef NEVER_BEYOND
  const uint positive = (uint)sum;
#else
  const uint positive = (uint)(sum < 0 ? 0 : sum > MOST_SUM ? MOST_SUM : sum);
#endif
  return (uint)((ulong)positive * (ulong)RECIPROCAL >> 32);
#endif
}

FUNCTION void load_four_rows(GLOBAL const uchar* in, ulong pitch, int row, int rows, int chunk, int before, int behind,
                             uint* to) {
  const int there = BORDERED(row, rows);
  GLOBAL const uchar* p = in + (ulong)(there < 0 ? 0 : there) * pitch;
  LOAD_SIDE(to, p + before)
  LOAD_CHUNK(to + LEFT, p + chunk)
  LOAD_SIDE(to + LEFT + 4, p + behind)
#ifdef FILLED
  UNROLL
  for (int k = 0; k < LOADED; ++k) to[k] = there < 0 ? (uint)BEYOND * 0x01010101u : to[k];
#endif
}

FUNCTION void load_rows_inside(GLOBAL const uchar* p, uint* to) {
  LOAD_SIDE(to, p - 4 * LEFT)
  LOAD_CHUNK(to + LEFT, p)
  LOAD_SIDE(to + LEFT + 4, p + 16)
}

// Shifts words that begin at chunks to words that begin at windows.
FUNCTION void move_words(const uint* loaded, uint* words) {
  UNROLL
  for (int k = 0; k < ROW_WORDS; ++k) {
    const int at = k + SKIP / 4;
#if SKIP % 4 == 0
    words[k] = loaded[at];
#else
    words[k] = BYTE_PERMUTE(loaded[at], loaded[at + 1 < LOADED ? at + 1 : at],
                            SKIP % 4 == 1 ? 0x4321u : SKIP % 4 == 2 ? 0x5432u : 0x6543u);
#endif
  }
}

// Computes result `item` among channels [0, first) and [behind_last, wide) of all rows.
FUNCTION void sum_window(GLOBAL const uchar* in, ulong in_pitch, GLOBAL uchar* out, ulong out_pitch, int rows, int columns,
                         GLOBAL const int* weights, int first, int behind_last, int item) {
  const int each = first + columns * CHANNELS - behind_last, row = item / each;
  int value = item - row * each;
  value = value < first ? value : behind_last + value - first;
  if (row >= rows) return;
  const int pixel = value / CHANNELS, channel = value - pixel * CHANNELS;
  int places[WINDOW_COLUMNS];  // computed once for all rows of the window
  UNROLLED
  for (int j = 0; j < WINDOW_COLUMNS; ++j) {
    const int place = BORDERED(pixel + j - WINDOW_COLUMNS / 2, columns);
    places[j] = place < 0 ? -1 : place * CHANNELS + channel;
  }
  int sum = ROUNDING;
  for (int begin = 0; begin < WINDOW_ROWS; begin += 4) {  // the loads of four rows overlap
    UNROLLED
    for (int k = 0; k < 4; ++k) {
      const int i = begin + k < WINDOW_ROWS ? begin + k : WINDOW_ROWS - 1, counts = begin + k < WINDOW_ROWS;
      const int from = BORDERED(row + i - WINDOW_ROWS / 2, rows);
      GLOBAL const uchar* line = in + (ulong)(from < 0 ? 0 : from) * in_pitch;
      UNROLLED
      for (int j = 0; j < WINDOW_COLUMNS; ++j) {
        const int byte = from < 0 || places[j] < 0 ? (int)BEYOND : (int)line[places[j]];
        sum += (counts ? weights[i * WINDOW_COLUMNS + j] : 0) * byte;
      }
    }
  }
  out[(ulong)row * out_pitch + (ulong)value] = (uchar)(divided(sum) >> 8 * RESULT_BYTE & 255u);
}

FUNCTION void go_down(LOCAL float* scratch, LOCAL uint* exchange, GLOBAL const uchar* in, ulong in_pitch, GLOBAL uchar* out,
                      ulong out_pitch, int rows, int wide, GLOBAL const uint4* fragments, int first, int behind_last,
                      int strip, int top, const int inside) {
  const int lane = LOCAL_ID(0) & 31, g = lane >> 2, t = lane & 3, odd = g & 1;
  // Words beyond the ends of the row are replaced by others; results that depend on them are not stored.
  int chunk = strip + 16 * g;
  chunk = chunk + 16 <= wide ? chunk : 0;
  const int before = chunk >= 4 * LEFT ? chunk - 4 * LEFT : chunk;
  const int behind = chunk + 16 + 4 * LEFT <= wide ? chunk + 16 : chunk;
  const int above = top - WINDOW_ROWS / 2 + t;
  GLOBAL const uchar* line = inside ? in + (ulong)above * in_pitch + chunk : in;
  uint loaded[AHEAD * LOADED];
  UNROLL
  for (int i = 0; i < AHEAD; ++i) {
    if (inside) {
      load_rows_inside(line + (ulong)(4 * i) * in_pitch, loaded + i * LOADED);
    } else {
      load_four_rows(in, in_pitch, above + 4 * i, rows, chunk, before, behind, loaded + i * LOADED);
    }
  }
  uint4 factors[PRODUCTS * PLANES];
  UNROLL
  for (int k = 0; k < PRODUCTS * PLANES; ++k) factors[k] = LOAD_CACHED(fragments + 32 * k + lane);
  const int zero[4] = {0, 0, 0, 0}, rounding[4] = {ROUNDING, ROUNDING, ROUNDING, ROUNDING};
  uint words[BLOCKS * ROW_WORDS];
  UNROLLED
  for (int i = 0; i < COMING; ++i) {  // loads four rows; with the previous ones, four rows are computed
    move_words(loaded + i % AHEAD * LOADED, words + i % BLOCKS * ROW_WORDS);
    if (i + AHEAD < COMING) {
      if (inside) {
        load_rows_inside(line + (ulong)(4 * (i + AHEAD)) * in_pitch, loaded + i % AHEAD * LOADED);
      } else {
        load_four_rows(in, in_pitch, above + 4 * (i + AHEAD), rows, chunk, before, behind, loaded + i % AHEAD * LOADED);
      }
    }
    if (i < BLOCKS - 1) continue;
    const int step = i - BLOCKS + 1;
    uint mine[4];  // of chunk 2 t: channels of vec4s 0 and 1, 2 and 3; the same of chunk 2 t + 1
    UNROLLED
    for (int two = 0; two < 2; ++two) {
      uint pairs[4];
      UNROLLED
      for (int one = 0; one < 2; ++one) {
        int sums[4 * PLANES];
        UNROLLED
        for (int m = 0; m < PRODUCTS; ++m) {
          const int a = 2 * m, b = 2 * m + 1 < BLOCKS * WORDS ? 2 * m + 1 : 2 * m;  // an unpaired last word has weight 0
          const uint b0 = words[(step + a / WORDS) % BLOCKS * ROW_WORDS + a % WORDS + 2 * two + one];
          const uint b1 = words[(step + b / WORDS) % BLOCKS * ROW_WORDS + b % WORDS + 2 * two + one];
          UNROLLED
          for (int p = 0; p < PLANES; ++p) {
            const uint4 w = factors[m * PLANES + p];
            int* d = sums + 4 * p;
            if (p == 0 && SIGNED) {
              MATRIX_S8(scratch, d, w.x, w.y, w.z, w.w, b0, b1, m > 0 ? d : p == PLANES - 1 ? rounding : zero);
            } else {
              MATRIX_U8(scratch, d, w.x, w.y, w.z, w.w, b0, b1, m > 0 ? d : p == PLANES - 1 ? rounding : zero);
            }
          }
        }
        uint made[4];
        UNROLL
        for (int k = 0; k < 4; ++k) {
          int sum = sums[k];
          UNROLL
          for (int p = 1; p < PLANES; ++p) sum = (int)((uint)sum << 8) + sums[4 * p + k];
          made[k] = divided(sum);
        }
        pairs[one] = BYTE_PERMUTE(made[0], made[2], RESULT_BYTE + 16u * (4u + RESULT_BYTE));
        pairs[2 + one] = BYTE_PERMUTE(made[1], made[3], RESULT_BYTE + 16u * (4u + RESULT_BYTE));
      }
      mine[two] = BYTE_PERMUTE(pairs[0], pairs[1], 0x5410u);
      mine[2 + two] = BYTE_PERMUTE(pairs[2], pairs[3], 0x5410u);
    }
    uint whole[4];
#if SUB_GROUP_WIDTH != 32
    BARRIER();
    UNROLL
    for (int k = 0; k < 4; ++k) exchange[4 * lane + k] = mine[k];
    BARRIER();
#endif
    UNROLL
    for (int k = 0; k < 2; ++k) {
      const uint keep = odd ? mine[2 + k] : mine[k];
#if SUB_GROUP_WIDTH != 32
      const uint other = exchange[4 * (lane ^ 4) + (odd ? 2 : 0) + k];
#else
      const uint other = SHUFFLE_XOR(odd ? mine[k] : mine[2 + k], 4);
#endif
      whole[2 * k] = BYTE_PERMUTE(keep, other, odd ? 0x1054u : 0x5410u);
      whole[2 * k + 1] = BYTE_PERMUTE(keep, other, odd ? 0x3276u : 0x7632u);
    }
    const int row = top + 4 * step + (g >> 1), value = strip + 16 * (2 * t + odd);
    if (inside || row < rows) {
      GLOBAL uchar* to = out + (ulong)row * out_pitch + (ulong)value;
      if (inside || (value >= first && value + 16 <= behind_last)) {
        *(GLOBAL uint4*)to = make_uint4(whole[0], whole[1], whole[2], whole[3]);
      } else {
        UNROLL
        for (int k = 0; k < 16; ++k) {
          if (value + k >= first && value + k < behind_last) to[k] = (uchar)(whole[k / 4] >> 8 * (k % 4));
        }
      }
    }
  }
}

KERNEL WORK_GROUP_RESIDENT(ITEMS_HERE, 1, 1, RESIDENT)
void windows(GLOBAL const uchar* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL uchar* RESTRICT result,
             ulong out_offset, ulong out_pitch, int rows, int columns, GLOBAL const uint4* RESTRICT fragments,
             GLOBAL const int* RESTRICT weights, int first, int behind_last, int end_groups, int strips, int tasks) {
  MATRIX_SCRATCH(scratch, ITEMS_HERE);
#if SUB_GROUP_WIDTH == 32
  LOCAL uint* exchange = 0;
#else
  LOCAL_ARRAY(uint, exchange, 4 * ITEMS_HERE);
#endif
  const int group = (int)GROUP_ID(0), task = (group - end_groups) * SUB_GROUPS + LOCAL_ID(0) / 32, down = task / strips;
  if (group < end_groups) {
    sum_window(image + in_offset, in_pitch, result + out_offset, out_pitch, rows, columns, weights, first, behind_last,
               group * ITEMS_HERE + LOCAL_ID(0));
  } else if (SUB_GROUPS == 1 || task < tasks) {
    const int strip = (task - down * strips) * 128, top = down * ROWS_EACH, wide = columns * CHANNELS;
#if SUB_GROUP_WIDTH == 32
    const int above = top - WINDOW_ROWS / 2;
    if (above >= 0 && above + 4 * COMING <= rows && strip >= 4 * LEFT && strip >= first &&
        strip + 128 + 4 * LEFT <= wide && strip + 128 <= behind_last) {
      go_down(scratch, exchange, image + in_offset, in_pitch, result + out_offset, out_pitch, rows, wide, fragments,
              first, behind_last, strip, top, 1);
      return;
    }
#endif
    go_down(scratch, exchange, image + in_offset, in_pitch, result + out_offset, out_pitch, rows, wide, fragments, first,
            behind_last, strip, top, 0);
  }
}
