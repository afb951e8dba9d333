// The exact variance of 8-bit images without local memory: a work-item has four columns and goes down the image, adding
// dot products of the words of the row that comes into the window and those of the row that leaves it. Words that lie in
// all four windows are summed once for the four; of the others each pixel takes the bytes it has. All in whole numbers,
// modulo 2^32; one rounding at the end.
// LEFT and RIGHT: columns of the window on either side of the pixel.
#define ITEMS_HERE 128
#define FIRST_WORD (-((LEFT + 3) / 4))
#define WORDS ((RIGHT + 3) / 4 - FIRST_WORD + 1)
#define CELLS (WINDOW_ROWS * WINDOW_COLUMNS)

// The bytes of a word that the window of pixel `k` has; `first`: the column of the word's first byte.
FUNCTION uint bytes_within(int k, int first) {
  uint mask = 0;
  UNROLL
  for (int b = 0; b < 4; ++b) {
    if (first + b >= k - LEFT && first + b <= k + RIGHT) mask |= 255u << 8 * b;
  }
  return mask;
}

FUNCTION uint beyond_edge(GLOBAL const uchar* line, int x, int columns) {
  uint word = 0;
  UNROLL
  for (int b = 0; b < 4; ++b) {
    const int at = bordered(x + b, columns);
    word |= (at < 0 ? (uint)BEYOND : (uint)line[at]) << 8 * b;
  }
  return word;
}

// A row's words from `x` on; `row` < 0: the constant.
FUNCTION void words_of(GLOBAL const uchar* in, ulong pitch, int row, int x, int columns, int inside, int aligned,
                       uint* words) {
  if (row < 0) {
    UNROLL
    for (int i = 0; i < WORDS; ++i) words[i] = (uint)BEYOND * 0x01010101u;
    return;
  }
  GLOBAL const uchar* line = in + (ulong)row * pitch;
  if (inside) {
    UNROLL
    for (int i = 0; i < WORDS; ++i) words[i] = LOAD_CACHED((GLOBAL const uint*)(line + x) + i);
    return;
  }
  UNROLL
  for (int i = 0; i < WORDS; ++i) {
    const int at = x + 4 * i;
    words[i] = aligned && at >= 0 && at + 3 < columns ? LOAD_CACHED((GLOBAL const uint*)(line + at))
                                                      : beyond_edge(line, at, columns);
  }
}

// sums[4], squares[4]: what the four windows have in common.
FUNCTION void add_row(const uint* words, uint* sums, uint* squares) {
  UNROLL
  for (int i = 0; i < WORDS; ++i) {
    const int first = 4 * (FIRST_WORD + i);
    uint common = 0xffffffffu;
    UNROLL
    for (int k = 0; k < 4; ++k) common &= bytes_within(k, first);
    if (common == 0xffffffffu) {
      sums[4] = BYTES_DOT(words[i], 0x01010101u, sums[4]);
      squares[4] = BYTES_DOT(words[i], words[i], squares[4]);
    } else {
      UNROLL
      for (int k = 0; k < 4; ++k) {
        const uint mask = bytes_within(k, first);
        if (mask != 0) {
          sums[k] = BYTES_DOT(words[i], mask & 0x01010101u, sums[k]);
          squares[k] = BYTES_DOT(words[i] & mask, words[i], squares[k]);
        }
      }
    }
  }
}

FUNCTION float variance_of(uint sum, uint squares) {
  const uint d = sum / (uint)CELLS, e = sum - d * (uint)CELLS;  // M2 = q - d (s + e) - e^2 / n
  const float m = FMA((float)(e * e), -1.0f / (float)CELLS, (float)(squares - d * (sum + e)));
  return m * (1.0f / (float)CELLS);
}

KERNEL WORK_GROUP(ITEMS_HERE, 1, 1)
void variance(GLOBAL const uchar* RESTRICT image, ulong offset, ulong pitch, GLOBAL float* RESTRICT out, ulong out_offset,
              ulong out_pitch, int rows, int columns, int chunk, int aligned, int out_aligned) {
  GLOBAL const uchar* in = image + offset;
  const int own = 4 * ((int)GROUP_ID(0) * ITEMS_HERE + (int)LOCAL_ID(0)), x = own + 4 * FIRST_WORD;
  const int top = (int)GROUP_ID(1) * chunk, here = chunk < rows - top ? chunk : rows - top;
  if (own >= columns) return;
  const int inside = aligned && x >= 0 && x + 4 * WORDS <= columns;
  uint came_sums[5], came_squares[5], went_sums[5], went_squares[5], fresh[WORDS], stale[WORDS];
  UNROLL
  for (int k = 0; k < 5; ++k) {
    came_sums[k] = 0;
    came_squares[k] = 0;
    went_sums[k] = 0;
    went_squares[k] = 0;
  }
  UNROLL
  for (int i = 0; i < WORDS; ++i) stale[i] = 0;
  int next = top - WINDOW_ROWS / 2;  // the row that comes next
  for (int step = 0; step < WINDOW_ROWS - 1; ++step, ++next) {
    words_of(in, pitch, bordered(next, rows), x, columns, inside, aligned, fresh);
    add_row(fresh, came_sums, came_squares);
  }
  words_of(in, pitch, bordered(next, rows), x, columns, inside, aligned, fresh);
  GLOBAL float* to = out + out_offset + (ulong)top * out_pitch + (ulong)own;
  for (int step = 0; step < here; ++step, ++next, to += out_pitch) {
    add_row(fresh, came_sums, came_squares);
    add_row(stale, went_sums, went_squares);
    // What the next row needs is on its way while this one is finished.
    words_of(in, pitch, bordered(next + 1, rows), x, columns, inside, aligned, fresh);
    words_of(in, pitch, bordered(next + 1 - WINDOW_ROWS, rows), x, columns, inside, aligned, stale);
    const uint sum = came_sums[4] - went_sums[4], squares = came_squares[4] - went_squares[4];
    float result[4];
    UNROLL
    for (int k = 0; k < 4; ++k) {
      result[k] = variance_of(sum + came_sums[k] - went_sums[k], squares + came_squares[k] - went_squares[k]);
    }
    if (out_aligned && own + 3 < columns) {
      STORE_ONCE((GLOBAL float4*)to, make_float4(result[0], result[1], result[2], result[3]));
    } else {
      UNROLL
      for (int k = 0; k < 4; ++k) {
        if (own + k < columns) to[k] = result[k];
      }
    }
  }
}
