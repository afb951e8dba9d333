// The exact variance of 8-bit images, as in variance_columns (pixels less 128, whole numbers in float), where a lane has
// sixteen columns and takes the sums of its neighbours' from their registers: LEFT and RIGHT are at most sixteen. A
// sub-group goes down the image; its first and last lane write nothing.
#define EACH 16
#define WORDS (EACH / 4)
#define CELLS (WINDOW_ROWS * WINDOW_COLUMNS)
#define NOTHING 0x80808080u  // four pixels that are 0 less 128

FUNCTION float beside_2_23(uint word, int k) { return FLOAT_OF(CHOOSE_BYTES(word, 0x4b000000u, 0x7540u + (uint)k)); }

// Where b leaves and a comes the sum grows by d = a - b and the squares by d (a + b).
FUNCTION void replace(const uint* fresh, const uint* stale, float* sums, float* squares) {
  UNROLL
  for (int c = 0; c < EACH; ++c) {
    const float a = beside_2_23(fresh[c >> 2], c & 3), b = beside_2_23(stale[c >> 2], c & 3);
    const float d = a - b;
    sums[c] += d;
    squares[c] = FMA(d, FMA(2.0f, b - 8388736.0f, d), squares[c]);
  }
}

// q - s^2 / n without losing what cancels: m is s / n rounded, e what it lacks; high + low is s m.
FUNCTION float around_mean(float s, float q, float n) {
  const float m = s * (1.0f / n), e = FMA(-m, n, s), high = s * m, low = FMA(s, m, -high);
  return FMA(-m, e, (q - high) - low);
}

FUNCTION void load_line(GLOBAL const uchar* in, ulong pitch, int row, int rows, int x, int columns,
                        const struct place* places, uint* words, const int at_ends) {
  const int there = bordered(row, rows);
  GLOBAL const uchar* line = in + (ulong)(there < 0 ? 0 : there) * pitch;
  if (at_ends) {
    UNROLL
    for (int k = 0; k < WORDS; ++k) load_parts(line, x + 4 * k, columns, places + k, words + k * PARTS);
  } else {
    const uint4 w = LOAD_CACHED((GLOBAL const uint4*)(line + x));
    words[0] = w.x;
    words[PARTS] = w.y;
    words[2 * PARTS] = w.z;
    words[3 * PARTS] = w.w;
  }
}
FUNCTION void whole_words(const uint* parts, const struct place* places, int row, int rows, uint* words, const int at_ends) {
  UNROLL
  for (int k = 0; k < WORDS; ++k) {
    words[k] = at_ends ? put_together(parts + k * PARTS, places + k, row >= 0 && row < rows) : parts[k * PARTS];
#ifdef FILLED
    if (row < 0 || row >= rows) words[k] = BEYOND_WORD;
#endif
  }
}

FUNCTION void store_line(GLOBAL float* to, int column, int columns, float4 v, int aligned, const int at_ends) {
  if (!at_ends || (aligned && column + 3 < columns)) {
    STORE_ONCE((GLOBAL float4*)(to + column), v);
  } else {
    if (column < columns) to[column] = v.x;
    if (column + 1 < columns) to[column + 1] = v.y;
    if (column + 2 < columns) to[column + 2] = v.z;
    if (column + 3 < columns) to[column + 3] = v.w;
  }
}

#if SUB_GROUP_WIDTH == 32
#define BEFORE(v, c) SHUFFLE_UP(v[c], 1)
#define BEHIND(v, c) SHUFFLE_DOWN(v[c], 1)
#else
#define BEFORE(v, c) exchange_##v[32 * (c) + (lane > 0 ? lane - 1 : 0)]
#define BEHIND(v, c) exchange_##v[32 * (c) + (lane < 31 ? lane + 1 : 31)]
#endif

// `at_ends`: a constant wherever this is called, 0 where no column lies beyond the image.
FUNCTION void go_down(LOCAL float4* staged, LOCAL float* exchange_sums, LOCAL float* exchange_squares,
                      GLOBAL const uchar* in, ulong pitch, GLOBAL float* to, ulong out_pitch, int rows, int columns,
                      int strip, int top, int here, int aligned, int out_aligned, const int at_ends) {
  const int lane = LOCAL_ID(0), x = strip + EACH * lane;
  struct place places[WORDS];
  if (at_ends) {
    UNROLL
    for (int k = 0; k < WORDS; ++k) places[k] = find_place(x + 4 * k, columns, aligned);
  }
  float sums[EACH], squares[EACH];
  UNROLL
  for (int c = 0; c < EACH; ++c) sums[c] = squares[c] = 0.0f;
  const uint nothing[WORDS] = {NOTHING, NOTHING, NOTHING, NOTHING};
  uint parts[2][WORDS * PARTS], fresh[WORDS], stale[WORDS];
  int next = top - WINDOW_ROWS / 2;  // the row that comes next
  load_line(in, pitch, next, rows, x, columns, places, parts[0], at_ends);
  for (int k = 0; k < WINDOW_ROWS - 1; ++k, ++next) {
    whole_words(parts[0], places, next, rows, fresh, at_ends);
    load_line(in, pitch, next + 1, rows, x, columns, places, parts[0], at_ends);
    replace(fresh, nothing, sums, squares);
  }
  UNROLL
  for (int k = 0; k < WORDS * PARTS; ++k) parts[1][k] = NOTHING;
  for (int i = 0; i < here; ++i, ++next) {
    whole_words(parts[0], places, next, rows, fresh, at_ends);
    whole_words(parts[1], places, next - WINDOW_ROWS, rows, stale, at_ends);
    if (i == 0) {
      UNROLL
      for (int k = 0; k < WORDS; ++k) stale[k] = NOTHING;
    }
    if (i + 1 < here) {
      load_line(in, pitch, next + 1, rows, x, columns, places, parts[0], at_ends);
      load_line(in, pitch, next + 1 - WINDOW_ROWS, rows, x, columns, places, parts[1], at_ends);
    }
    replace(fresh, stale, sums, squares);
    // Of the columns that the lane behind looks at.
    float ends_sums[1] = {0.0f}, ends_squares[1] = {0.0f};
    UNROLL
    for (int c = EACH - LEFT; c < EACH; ++c) {
      ends_sums[0] += sums[c];
      ends_squares[0] += squares[c];
    }
#if SUB_GROUP_WIDTH != 32
    LOCAL float* exchange_ends_sums = exchange_sums + 32 * EACH;
    LOCAL float* exchange_ends_squares = exchange_squares + 32 * EACH;
    UNROLL
    for (int c = 0; c < EACH; ++c) {
      exchange_sums[32 * c + lane] = sums[c];
      exchange_squares[32 * c + lane] = squares[c];
    }
    exchange_ends_sums[lane] = ends_sums[0];
    exchange_ends_squares[lane] = ends_squares[0];
    BARRIER();
#endif
    float s = BEFORE(ends_sums, 0), q = BEFORE(ends_squares, 0), result[EACH];
    UNROLL
    for (int c = 0; c <= RIGHT; ++c) {
      s += c < EACH ? sums[c % EACH] : BEHIND(sums, c % EACH);
      q += c < EACH ? squares[c % EACH] : BEHIND(squares, c % EACH);
    }
    UNROLL
    for (int j = 0; j < EACH; ++j) {
      if (j > 0) {
        const int comes = j + RIGHT, goes = j - 1 - LEFT;
        s += (comes < EACH ? sums[comes % EACH] : BEHIND(sums, comes % EACH)) -
             (goes >= 0 ? sums[goes & (EACH - 1)] : BEFORE(sums, goes & (EACH - 1)));
        q += (comes < EACH ? squares[comes % EACH] : BEHIND(squares, comes % EACH)) -
             (goes >= 0 ? squares[goes & (EACH - 1)] : BEFORE(squares, goes & (EACH - 1)));
      }
      result[j] = around_mean(s, q, (float)CELLS) * (1.0f / (float)CELLS);
    }
#if SUB_GROUP_WIDTH == 32
    // Two lanes exchange every second four, so that together they store 32 neighbouring bytes.
    const int odd = lane & 1;
    UNROLL
    for (int f = 0; f < 4; f += 2) {
      float other[4];
      UNROLL
      for (int k = 0; k < 4; ++k) other[k] = SHUFFLE_XOR(odd ? result[4 * f + k] : result[4 * f + 4 + k], 1);
      const float4 kept = make_float4(odd ? result[4 * f + 4] : result[4 * f], odd ? result[4 * f + 5] : result[4 * f + 1],
                                      odd ? result[4 * f + 6] : result[4 * f + 2], odd ? result[4 * f + 7] : result[4 * f + 3]);
      const float4 given = make_float4(other[0], other[1], other[2], other[3]);
      const int column = strip + EACH * (lane & ~1) + 4 * (f + odd);
      if (lane > 1) store_line(to, column, columns, odd ? given : kept, out_aligned, at_ends);
      if (lane < 30) store_line(to, column + EACH, columns, odd ? kept : given, out_aligned, at_ends);
    }
#else
    // Turned in local memory, so that neighbouring lanes store neighbouring pixels; places are exchanged against conflicts.
    LOCAL float4* line = staged + 128 * (i & 1);
    UNROLL
    for (int f = 0; f < 4; ++f)
      line[4 * lane + (f ^ (lane >> 1 & 3))] =
          make_float4(result[4 * f], result[4 * f + 1], result[4 * f + 2], result[4 * f + 3]);
    BARRIER();
    UNROLL
    for (int p = 0; p < 4; ++p) {
      const int four = 32 * p + lane, owner = four >> 2;
      const float4 v = line[4 * owner + ((four & 3) ^ (owner >> 1 & 3))];
      if (owner > 0 && owner < 31) store_line(to, strip + 4 * four, columns, v, out_aligned, at_ends);
    }
#endif
    to += out_pitch;
  }
}

KERNEL WORK_GROUP_RESIDENT(32, 1, 1, RESIDENT)
void variance(GLOBAL const uchar* RESTRICT image, ulong offset, ulong pitch, GLOBAL float* RESTRICT out, ulong out_offset,
              ulong out_pitch, int rows, int columns, int chunk, int aligned, int out_aligned, int strips,
              int side_groups, int side_chunk) {
#if SUB_GROUP_WIDTH == 32
  LOCAL float4* staged = 0;
  LOCAL float* exchange_sums = 0;
  LOCAL float* exchange_squares = 0;
#else
  LOCAL_ARRAY(float4, staged, 256);
  LOCAL_ARRAY(float, exchange_sums, 32 * (EACH + 1));
  LOCAL_ARRAY(float, exchange_squares, 32 * (EACH + 1));
#endif
  // A strip at a side takes longer a row and has fewer of them: all groups run at once, and the last to end counts.
  const int group = (int)GROUP_ID(0), at_side = group < side_groups, sides = strips < 2 ? 1 : 2;
  const int across = at_side ? sides : strips - sides, task = at_side ? group : group - side_groups;
  const int down = task / across, place = task - down * across, each = at_side ? side_chunk : chunk;
  const int strip = (at_side ? place * (strips - 1) : place + 1) * 30 * EACH - EACH, top = down * each;
  const int here = each < rows - top ? each : rows - top;
  GLOBAL float* to = out + out_offset + (ulong)top * out_pitch;
  const int inside = aligned == 2 && out_aligned && strip >= 0 && strip + 32 * EACH <= columns;
#if SUB_GROUP_WIDTH == 32
  if (inside) {
    go_down(staged, exchange_sums, exchange_squares, image + offset, pitch, to, out_pitch, rows, columns, strip, top, here,
            1, 1, 0);
    return;
  }
#endif  // elsewhere there are barriers within, which PoCL 3.1 compiles wrongly in branches (and with -O2 crashes)
  go_down(staged, exchange_sums, exchange_squares, image + offset, pitch, to, out_pitch, rows, columns, strip, top, here,
          aligned, out_aligned, 1);
}
