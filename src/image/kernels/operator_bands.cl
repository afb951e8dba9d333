// A column of weights times a row of them, none below zero, for images of bytes: two products of matrices of bytes, one
// after the other. Across, 16 channels of 8 rows are a band of weights times the bytes around them; down, 16 rows of 8
// channels are another band times what the first has made, in two bytes. A sub-group goes down a strip of TILES times 16
// channels, 16 rows a step, and keeps what the next steps need in registers.
//
// Lane 4 g + t loads word t of the 16 channels of every block, of rows g and g + 8 of a step. The first product gives it
// rows 2 t and 2 t + 1 of two channels: the order of rows that the second takes. Of that one it has rows g and g + 8 of
// the four channels from 4 t on. BLOCKS of 16 channels across, PAIRS of 8 rows down surround what is made.
#define ITEMS_HERE (32 * SUB_GROUPS)
#define LOADED (TILES + BLOCKS - 1)
#define PAD (8 * (BLOCKS - 1))
#define PAD_ROWS (8 * (PAIRS - 1))
#define HALF_BLOCKS ((BLOCKS + 1) / 2)
#define HALF_PAIRS ((PAIRS + 1) / 2)
#define FACTORS (HALF_BLOCKS * PLANES_ACROSS + HALF_PAIRS * PLANES_DOWN)
#if SUB_GROUP_WIDTH == 32
#define UNROLLED UNROLL
#else
#define UNROLLED  // products are loops and barriers there
#endif

// Of a row that may lie beyond the image (`there` < 0), where a constant stands for it.
FUNCTION uint load_block(GLOBAL const uchar* in, ulong pitch, int there, int value, int columns, int aligned) {
  GLOBAL const uchar* row = in + (ulong)(there < 0 ? 0 : there) * pitch;
  uint word;
  if (aligned && value >= 0 && value + 4 <= columns * CHANNELS) {
    word = LOAD_CACHED((GLOBAL const uint*)(row + value));
  } else {
    word = scattered_word(row, value, columns);
  }
  return there < 0 ? BEYOND_WORD : word;
}

FUNCTION uint divided(uint sum) {
#ifdef NEVER_BEYOND
  return (uint)((ulong)sum * (ulong)RECIPROCAL >> 32);
#else
  return (uint)((ulong)(sum > MOST_SUM ? MOST_SUM : sum) * (ulong)RECIPROCAL >> 32);
#endif
}

// `at_ends`: a constant wherever this is called, 0 where neither a row nor a channel lies beyond the image.
FUNCTION void go_down(LOCAL float* scratch, GLOBAL const uchar* in, ulong in_pitch, GLOBAL uchar* out, ulong out_pitch,
                      int rows, int columns, int strip, int top, GLOBAL const uint4* fragments, int in_aligned,
                      int out_aligned, const int at_ends) {
  const int lane = LOCAL_ID(0) & 31, g = lane >> 2, t = lane & 3, wide = columns * CHANNELS;
  const int value = strip - PAD + 4 * t;
  int row = top - PAD_ROWS + g;
  GLOBAL const uchar* line = at_ends ? in : in + (ulong)row * in_pitch + value;
  uint upper_words[LOADED], lower_words[LOADED];
  UNROLL
  for (int b = 0; b < LOADED; ++b) {
    if (at_ends) {
      upper_words[b] = load_block(in, in_pitch, BORDERED(row, rows), value + 16 * b, columns, in_aligned);
      lower_words[b] = load_block(in, in_pitch, BORDERED(row + 8, rows), value + 16 * b, columns, in_aligned);
    } else {
      upper_words[b] = LOAD_CACHED((GLOBAL const uint*)(line + 16 * b));
      lower_words[b] = LOAD_CACHED((GLOBAL const uint*)(line + 8ul * in_pitch + 16 * b));
    }
  }
  uint4 factors[FACTORS];
  UNROLL
  for (int k = 0; k < FACTORS; ++k) factors[k] = LOAD_CACHED(fragments + 32 * k + lane);
  const int zero[4] = {0, 0, 0, 0};
  const int first[4] = {ROUNDING_ACROSS, ROUNDING_ACROSS, ROUNDING_ACROSS, ROUNDING_ACROSS};
  const int second[4] = {ROUNDING_DOWN, ROUNDING_DOWN, ROUNDING_DOWN, ROUNDING_DOWN};
  uint made[PAIRS * TILES * 4];  // of a pair of 8 rows and a tile: upper and lower bytes of its two channels
  UNROLL
  for (int k = 0; k < PAIRS * TILES * 4; ++k) made[k] = 0u;
  for (int step = 1 - PAIRS; step < STEPS; ++step) {
    int upper_there = 0, lower_there = 0;
    if (step + 1 < STEPS) {  // the last rows are loaded again rather than any behind them
      row += 16;
      line += at_ends ? 0ul : 16ul * in_pitch;
    }
    if (at_ends) {
      upper_there = BORDERED(row, rows);
      lower_there = BORDERED(row + 8, rows);
    }
    UNROLLED
    for (int q = 0; q < TILES; ++q) {
      uint sums[8];
      UNROLLED
      for (int under = 0; under < 2; ++under) {
        uint* mine = under == 0 ? upper_words : lower_words;
        uint words[2 * HALF_BLOCKS];
        UNROLL
        for (int b = 0; b < 2 * HALF_BLOCKS; ++b)
          words[b] = mine[q + (b < BLOCKS ? b : BLOCKS - 1)];  // one more than there are has weights of 0
        int d[4 * PLANES_ACROSS];
        UNROLLED
        for (int p = 0; p < PLANES_ACROSS; ++p) {
          UNROLLED
          for (int k = 0; k < HALF_BLOCKS; ++k) {
            const uint4 w = factors[p * HALF_BLOCKS + k];
            MATRIX_U8(scratch, d + 4 * p, w.x, w.y, w.z, w.w, words[2 * k], words[2 * k + 1],
                      k > 0 ? d + 4 * p : p == PLANES_ACROSS - 1 ? first : zero);
          }
        }
        UNROLL
        for (int k = 0; k < 4; ++k) {
#if PLANES_ACROSS == 2
          sums[4 * under + k] = ((uint)d[k] << (8 + SHIFT)) + ((uint)d[4 + k] << SHIFT);
#else
          sums[4 * under + k] = (uint)d[k] << SHIFT;
#endif
        }
        UNROLL
        for (int b = 0; b < LOADED; ++b) {  // no tile after this one needs them
          if (b != q && (q < TILES - 1 || b < q)) continue;
          if (at_ends) {
            mine[b] = load_block(in, in_pitch, under == 0 ? upper_there : lower_there, value + 16 * b, columns, in_aligned);
          } else {
            mine[b] = LOAD_CACHED((GLOBAL const uint*)(line + (ulong)(8 * under) * in_pitch + 16 * b));
          }
        }
      }
      uint* newest = made + ((PAIRS - 1) * TILES + q) * 4;
      UNROLL
      for (int n = 0; n < 2; ++n) {
        const uint above = CHOOSE_BYTES(sums[2 * n], sums[2 * n + 1], 0x7632u);
        const uint below = CHOOSE_BYTES(sums[4 + 2 * n], sums[5 + 2 * n], 0x7632u);
        newest[2 * n] = CHOOSE_BYTES(above, below, 0x7531u);
        newest[2 * n + 1] = CHOOSE_BYTES(above, below, 0x6420u);
      }
#if SUB_GROUP_WIDTH == 32
      if (step >= 0)
#endif
      {
        uint results[8];
        UNROLLED
        for (int n = 0; n < 2; ++n) {
          int high[4], low[4];
          UNROLLED
          for (int k = 0; k < HALF_PAIRS; ++k) {
            const uint4 w = factors[HALF_BLOCKS * PLANES_ACROSS + k];
            const uint* a = made + (2 * k * TILES + q) * 4 + 2 * n;
            const uint* b = made + ((2 * k + 1 < PAIRS ? 2 * k + 1 : 2 * k) * TILES + q) * 4 + 2 * n;
            MATRIX_U8(scratch, high, w.x, w.y, w.z, w.w, a[0], b[0], k > 0 ? high : zero);
            MATRIX_U8(scratch, low, w.x, w.y, w.z, w.w, a[1], b[1], k > 0 ? low : second);
#if PLANES_DOWN == 2  // the product of the lower bytes is left out: its mean is in ROUNDING_DOWN
            const uint4 v = factors[HALF_BLOCKS * PLANES_ACROSS + HALF_PAIRS + k];
            MATRIX_U8(scratch, low, v.x, v.y, v.z, v.w, a[0], b[0], low);
#endif
          }
          UNROLL
          for (int k = 0; k < 4; ++k) results[4 * n + k] = divided(((uint)high[k] << 8) + (uint)low[k]);
        }
        UNROLL
        for (int side = 0; side < 2; ++side) {
          const uint select = RESULT_BYTE + 16u * (4u + RESULT_BYTE);
          const uint word = CHOOSE_BYTES(CHOOSE_BYTES(results[2 * side], results[2 * side + 1], select),
                                         CHOOSE_BYTES(results[4 + 2 * side], results[5 + 2 * side], select), 0x5410u);
          const int here = strip + 16 * q + 4 * t, to_row = top + 16 * step + g + 8 * side;
          GLOBAL uchar* to = out + (ulong)to_row * out_pitch + (ulong)here;
          if (!at_ends || (step >= 0 && to_row < rows && out_aligned && here + 4 <= wide)) {
            *(GLOBAL uint*)to = word;
          } else if (step >= 0 && to_row < rows) {
            UNROLL
            for (int e = 0; e < 4; ++e) {
              if (here + e < wide) to[e] = (uchar)(word >> 8 * e);
            }
          }
        }
      }
      UNROLL
      for (int i = 0; i + 1 < PAIRS; ++i) {
        UNROLL
        for (int k = 0; k < 4; ++k) made[(i * TILES + q) * 4 + k] = made[((i + 1) * TILES + q) * 4 + k];
      }
    }
  }
}

KERNEL WORK_GROUP_RESIDENT(ITEMS_HERE, 1, 1, RESIDENT)
void bands(GLOBAL const uchar* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL uchar* RESTRICT result,
           ulong out_offset, ulong out_pitch, int rows, int columns, int in_aligned, int out_aligned,
           GLOBAL const uint4* RESTRICT fragments) {
  MATRIX_SCRATCH(scratch, ITEMS_HERE);
  const int strip = ((int)GROUP_ID(0) * SUB_GROUPS + LOCAL_ID(0) / 32) * 16 * TILES, top = (int)GROUP_ID(1) * 16 * STEPS;
  GLOBAL const uchar* in = image + in_offset;
  GLOBAL uchar* out = result + out_offset;
#if SUB_GROUP_WIDTH == 32
  if (strip >= columns * CHANNELS) return;
  const int first = top - PAD_ROWS, left = strip - PAD;
  if (in_aligned && out_aligned && first >= 0 && first + 16 * (STEPS + PAIRS - 1) <= rows && left >= 0 &&
      left + 16 * LOADED <= columns * CHANNELS) {
    go_down(scratch, in, in_pitch, out, out_pitch, rows, columns, strip, top, fragments, 1, 1, 0);
    return;
  }
#endif
  go_down(scratch, in, in_pitch, out, out_pitch, rows, columns, strip, top, fragments, in_aligned, out_aligned, 1);
}
