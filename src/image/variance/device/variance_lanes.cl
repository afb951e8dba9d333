// Exact variance of 8-bit images, as in variance_columns.cl (pixels minus 128, integers in float). A lane has sixteen
// columns and reads its neighbours' sums from their registers: LEFT and RIGHT are at most sixteen. A sub-group moves
// down the image; its first and last lanes write nothing. Rows are kept in local memory until they leave the window.
#define EACH 16
#define WORDS (EACH / 4)
#define CELLS (WINDOW_ROWS * WINDOW_COLUMNS)
#define NOTHING 0x80808080u  // four pixels that are 0 after 128 is subtracted
#define BEYOND_WORD ((uint)BEYOND * 0x01010101u)
#if SUB_GROUP_WIDTH == 32
#define LANES_MEET() SUB_GROUP_BARRIER()
#define TOGETHER 2  // sub-groups per group
#define AHEAD 6  // rows in flight before the first window is complete
#else
#define LANES_MEET() BARRIER()
#define TOGETHER 1
#define AHEAD 1
#endif

FUNCTION float beside_2_23(uint word, int k) { return FLOAT_OF(BYTE_PERMUTE(word, 0x4b000000u, 0x7540u + (uint)k)); }

// If a enters and b leaves, the sum grows by d = a - b and the squares by d (a + b).
FUNCTION void replace(uint4 come, uint4 go, float* sums, float* squares) {
  const uint fresh[WORDS] = {come.x, come.y, come.z, come.w}, stale[WORDS] = {go.x, go.y, go.z, go.w};
  UNROLL
  for (int c = 0; c < EACH; ++c) {
    const float a = beside_2_23(fresh[c >> 2], c & 3), b = beside_2_23(stale[c >> 2], c & 3);
    const float d = a - b;
    sums[c] += d;
    squares[c] = FMA(d, FMA(2.0f, b - 8388736.0f, d), squares[c]);
  }
}

// q - s^2 / n without cancellation: m is s / n rounded, e its error; q - s m has one rounding.
FUNCTION float around_mean(float s, float q, float n) {
  const float m = s * (1.0f / n), e = FMA(-m, n, s);
  return FMA(-m, e, FMA(-s, m, q));
}

// Sixteen pixels of a row and, in a strip at the image's sides, one pixel beyond the image that this lane loads.
struct row_segment {
  uint4 words;
  uint beyond;
};

FUNCTION uint some_of(GLOBAL const uchar* line, int value, int columns, int aligned) {
  if (aligned && value >= 0 && value + 4 <= columns) return LOAD_CACHED((GLOBAL const uint*)(line + value));
  uint word = 0u;
  UNROLL
  for (int e = 0; e < 4; ++e) {
    if (value + e >= 0 && value + e < columns) word |= (uint)line[value + e] << 8 * e;
  }
  return word;
}

FUNCTION struct row_segment load_line(GLOBAL const uchar* in, ulong pitch, int row, int rows, int x, int columns, int brought,
                                int aligned, const int at_ends) {
  const int there = bordered(row, rows);
  GLOBAL const uchar* line = in + (ulong)(there < 0 ? 0 : there) * pitch;
  struct row_segment p;
  p.beyond = 0u;
  if (!at_ends || (aligned == 2 && x >= 0 && x + EACH <= columns)) {
    p.words = LOAD_CACHED((GLOBAL const uint4*)(line + x));
  } else if (x < columns && x + EACH > 0) {
    p.words = make_uint4(some_of(line, x, columns, aligned), some_of(line, x + 4, columns, aligned),
                         some_of(line, x + 8, columns, aligned), some_of(line, x + 12, columns, aligned));
  } else {
    p.words = make_uint4(0u, 0u, 0u, 0u);
  }
  if (at_ends) p.beyond = brought < 0 ? (uint)BEYOND : (uint)line[brought];
#if BORDER == 3
  if (there < 0) {
    p.words = make_uint4(BEYOND_WORD, BEYOND_WORD, BEYOND_WORD, BEYOND_WORD);
    p.beyond = (uint)BEYOND;
  }
#endif
  return p;
}

// Stores a row in local memory until it leaves the window; at the image's sides each lane adds the pixel it loaded.
FUNCTION uint4 keep_line(LOCAL uint4* line, struct row_segment p, int lane, int to, const int at_ends) {
  line[lane] = p.words;
#if SUB_GROUP_WIDTH == 32  // others always have at_ends
  if (!at_ends) return p.words;
#endif
  LANES_MEET();
  if (to >= 0) ((LOCAL uchar*)line)[to] = (uchar)p.beyond;
  LANES_MEET();
  return line[lane];
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

// `at_ends` is a constant at every call: 0 if no column is beyond the image.
FUNCTION void go_down(LOCAL uint4* waiting, LOCAL float4* staged, LOCAL float* exchange_sums, LOCAL float* exchange_squares,
                      GLOBAL const uchar* in, ulong pitch, GLOBAL float* to, ulong out_pitch, int rows, int columns,
                      int strip, int top, int here, int aligned, int out_aligned, const int at_ends) {
  const int lane = LOCAL_ID(0) & 31, x = strip + EACH * lane;
  // Half of the lanes load the sixteen pixels before the image, the other half those behind it.
  const int beyond = lane < 16 ? -1 - lane : columns + lane - 16, place = beyond - strip;
  const int brought = at_ends ? bordered(beyond, columns) : 0, filled = place >= 0 && place < 32 * EACH ? place : -1;
  float sums[EACH], squares[EACH];
  UNROLL
  for (int c = 0; c < EACH; ++c) sums[c] = squares[c] = 0.0f;
  const uint4 nothing = make_uint4(NOTHING, NOTHING, NOTHING, NOTHING);
  int next = top - WINDOW_ROWS / 2;  // the row that enters next
  struct row_segment coming[AHEAD];
  UNROLL
  for (int a = 0; a < AHEAD; ++a)
    coming[a] = load_line(in, pitch, next + a, rows, x, columns, brought, aligned, at_ends);
  for (int k = 0; k + AHEAD < WINDOW_ROWS; k += AHEAD) {
    UNROLL
    for (int a = 0; a < AHEAD; ++a, ++next) {
      replace(keep_line(waiting + 32 * (k + a), coming[a], lane, filled, at_ends), nothing, sums, squares);
      if (k + a + AHEAD < WINDOW_ROWS)
        coming[a] = load_line(in, pitch, next + AHEAD, rows, x, columns, brought, aligned, at_ends);
    }
  }
  UNROLL
  for (int a = 0; a < (WINDOW_ROWS - 1) % AHEAD; ++a, ++next)
    replace(keep_line(waiting + 32 * (WINDOW_ROWS - 1 - (WINDOW_ROWS - 1) % AHEAD + a), coming[a], lane, filled, at_ends),
            nothing, sums, squares);
  struct row_segment arriving = coming[(WINDOW_ROWS - 1) % AHEAD];
  waiting[32 * (WINDOW_ROWS - 1) + lane] = nothing;
  LOCAL uint4* oldest = waiting + 32 * (WINDOW_ROWS - 1);
  for (int i = 0; i < here; ++i, ++next) {
    const uint4 stale = oldest[lane], fresh = keep_line(oldest, arriving, lane, filled, at_ends);
    if (i + 1 < here) arriving = load_line(in, pitch, next + 1, rows, x, columns, brought, aligned, at_ends);
    replace(fresh, stale, sums, squares);
    oldest = oldest == waiting + 32 * (WINDOW_ROWS - 1) ? waiting : oldest + 32;
    // Sums of the columns that the next lane reads.
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
    // Pairs of lanes exchange every second group of four, so that together they store 32 contiguous bytes.
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
    // Transposed in local memory, so that neighbouring lanes store neighbouring pixels; positions are permuted to avoid
    // bank conflicts.
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

KERNEL WORK_GROUP_RESIDENT(32 * TOGETHER, 1, 1, RESIDENT / TOGETHER)
void variance(GLOBAL const uchar* RESTRICT image, ulong offset, ulong pitch, GLOBAL float* RESTRICT out, ulong out_offset,
              ulong out_pitch, int rows, int columns, int chunk, int aligned, int out_aligned, int strips,
              int side_groups, int side_chunk) {
  LOCAL_ARRAY(uint4, waiting, TOGETHER * WINDOW_ROWS * 32);
#if SUB_GROUP_WIDTH == 32
  LOCAL float4* staged = 0;
  LOCAL float* exchange_sums = 0;
  LOCAL float* exchange_squares = 0;
#else
  LOCAL_ARRAY(float4, staged, 256);
  LOCAL_ARRAY(float, exchange_sums, 32 * (EACH + 1));
  LOCAL_ARRAY(float, exchange_squares, 32 * (EACH + 1));
#endif
  // A strip at a side takes longer per row and therefore has fewer rows: all sub-groups run at once, and the slowest
  // determines the time.
  const int sub = LOCAL_ID(0) / 32, group = (int)GROUP_ID(0) * TOGETHER + sub;
  const int at_side = group < side_groups, sides = strips < 2 ? 1 : 2;
#if TOGETHER > 1
  if (!at_side && strips == sides) return;  // a surplus sub-group
#endif
  const int across = at_side ? sides : strips - sides, task = at_side ? group : group - side_groups;
  const int down = task / across, place = task - down * across, each = at_side ? side_chunk : chunk;
  const int strip = (at_side ? place * (strips - 1) : place + 1) * 30 * EACH - EACH, top = down * each;
  const int here = each < rows - top ? each : rows - top;
#if TOGETHER > 1
  if (here <= 0) return;
#endif
  LOCAL uint4* own = waiting + sub * WINDOW_ROWS * 32;
  GLOBAL float* to = out + out_offset + (ulong)top * out_pitch;
  const int inside = aligned == 2 && out_aligned && strip >= 0 && strip + 32 * EACH <= columns;
#if SUB_GROUP_WIDTH == 32
  if (inside) {
    go_down(own, staged, exchange_sums, exchange_squares, image + offset, pitch, to, out_pitch, rows, columns, strip, top,
            here, 1, 1, 0);
    return;
  }
#endif  // other devices have barriers inside, which PoCL 3.1 miscompiles in branches (and crashes with -O2)
  go_down(own, staged, exchange_sums, exchange_squares, image + offset, pitch, to, out_pitch, rows, columns, strip, top, here,
          aligned, out_aligned, 1);
}
