// Spreading and interpolation on the matrix units, after nonuniform.cl and codegen/pairs_and_doubles.cl. Points are sorted by tiles of STEP x STEP first
// cells (in three dimensions also by first plane), so the boxes of a tile's points are within TILE x TILE cells.
//
// TILE, STEP    cells per axis of a tile with and without its border; STEP is even for float
// POLYNOMIALS   coefficients of the kernel's polynomials
// PRODUCTS      float, 3: factors are split into two TF32 numbers, and three products give float's precision; 1: one rounded
//               product. double: 1
// PAIRED        1: two neighbours of the fastest axis are loaded at once
#define ROW (WIDE ? 20 : 24)       /* numbers per zero-padded row of weights: rows of four points are in different banks */
#define DEEP (WIDTH / 2 * 2 + 1)   /* numbers per point of the weights along the slowest axis */
#if WIDE
#define QUAD double2 /* 16 bytes of zeros */
#define ZEROS make_double2(0, 0)
#else
#define QUAD float4
#define ZEROS make_float4(0, 0, 0, 0)
#endif
#define PER_QUAD (WIDE ? 2 : 4)
#define PART_OF(v, part) ((part) == 0 ? RE(v) : IM(v))

CONSTANT_TABLE NUMBER polynomials[TABLE] = POLYNOMIALS;

// multiply(scratch, d, a, b): d += a b for fragments of 16 x 8 and 8 x 8 numbers, laid out as by MATRIX_TF32.
#if !WIDE
#define SCRATCH(n) MATRIX_SCRATCH(scratch, n)
#define MULTIPLY(d, a, b) MATRIX_TF32(scratch, d, a[0], a[1], a[2], a[3], b[0], b[1])
#elif defined(MATRIX_DOUBLES)
#define SCRATCH(n)
#define MULTIPLY(d, a, b) MATRIX_DOUBLES(d, a, b)
#else
#define SCRATCH(n) LOCAL_ARRAY(double, scratch, 6 * (n))
FUNCTION void multiply_doubles(LOCAL double* scratch, double* d, const double* a, const double* b) {
  const int g = LOCAL_ID(0) >> 2 & 7, t = LOCAL_ID(0) & 3;
  LOCAL double* left = scratch + (LOCAL_ID(0) >> 5) * 192;
  LOCAL double* right = left + 128;
  BARRIER();
  for (int i = 0; i < 4; ++i) left[(g + i % 2 * 8) * 8 + t + i / 2 * 4] = a[i];
  for (int i = 0; i < 2; ++i) right[(t + i * 4) * 8 + g] = b[i];
  BARRIER();
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 8; ++k) d[i] += left[(g + i / 2 * 8) * 8 + k] * right[k * 8 + 2 * t + i % 2];
  }
}
#define MULTIPLY(d, a, b) multiply_doubles(scratch, d, a, b)
#endif

#if WIDE
#define high_part(v) (v)
#else
// Rounds v to the nearest TF32 number. The remainder rounded to TF32 represents v to a relative error of 2^-22.
FUNCTION float high_part(float v) { return FLOAT_OF((BITS_OF(v) + 0x1000u) & 0xffffe000u); }
#endif
#if PRODUCTS == 3
#define MULTIPLY_SPLIT(d, high_a, low_a, high_b, low_b) \
  MULTIPLY(d, low_a, high_b);                           \
  MULTIPLY(d, high_a, low_b);                           \
  MULTIPLY(d, high_a, high_b)
#else
#define MULTIPLY_SPLIT(d, high_a, low_a, high_b, low_b) MULTIPLY(d, high_a, high_b)
#endif
#define SPLIT(v, high, low, n)              \
  UNROLL for (int i_ = 0; i_ < (n); ++i_) { \
    high[i_] = high_part(v[i_]);            \
    low[i_] = v[i_] - high[i_];             \
  }

// Stores the weights of all cells. The kernel is even: cells c and WIDTH - 1 - c share the even and odd parts of one
// polynomial.
FUNCTION void put_weights(LOCAL NUMBER* to, NUMBER s) {
  const NUMBER square = s * s;
  UNROLL for (int c = 0; c < (WIDTH + 1) / 2; ++c) {
    NUMBER even = polynomials[(TERMS - 1) % 2 * WIDTH + c], odd = polynomials[TERMS % 2 * WIDTH + c];
    UNROLL for (int p = (TERMS - 1) % 2 + 2; p < TERMS; p += 2) even = FMA(even, square, polynomials[p * WIDTH + c]);
    UNROLL for (int p = TERMS % 2 + 2; p < TERMS; p += 2) odd = FMA(odd, square, polynomials[p * WIDTH + c]);
    to[c] = 2 * c == WIDTH - 1 ? even : FMA(odd, s, even);
    if (2 * c != WIDTH - 1) to[WIDTH - 1 - c] = FMA(-odd, s, even);
  }
}

// A row of TILE numbers: zeros, and the weights of a coordinate from its first cell on.
FUNCTION void put_row(LOCAL NUMBER* row, NUMBER x, int cells, int origin) {
  NUMBER s;
  const int turn = AXES == 2 ? LOCAL_ID(0) >> 2 : 0; /* work-items write to different banks, where registers suffice */
  const int left = place(x, cells, &s) - origin;
  UNROLL for (int k = 0; k < TILE / PER_QUAD; ++k) *(LOCAL QUAD*)(row + (k + turn) % (TILE / PER_QUAD) * PER_QUAD) = ZEROS;
  put_weights(row + left, s);
}

#if AXES == 3
// Weights along the slowest axis; returns the first plane.
FUNCTION int put_depth(LOCAL NUMBER* depth, NUMBER x, int cells) {
  NUMBER s;
  const int first = place(x, cells, &s);
  put_weights(depth, s);
  return first;
}

// Number of points from g on with the same first plane, at most 8.
FUNCTION int run_of(LOCAL const int* plane, int g, int count) {
  const int most = min(8, count - g);
#ifdef __CUDACC_RTC__
  const int i = LOCAL_ID(0) & 7;
  return __popc(__ballot_sync(0xffffffffu, i < most && plane[g + i] == plane[g]) & 0xffu);
#else
  int run = 1;
  while (run < most && plane[g + run] == plane[g]) ++run;
  return run;
#endif
}
#define HELD 1               /* halves of a tile's columns per 32 work-items */
#if CELL == 1 || WIDE
#define PARTS 1 /* of a value per 32 work-items */
#else
#define PARTS 2
#endif
#define HELD_PLANES WIDTH
#define PREFETCHES (!WIDE && WIDTH < 7) /* spreading: the points of the next batch, where registers suffice */
#define READ_PREFETCHES (!WIDE)
#define LATE_STRENGTHS WIDE
#define SPREAD_BATCH 64 /* points whose weights are in local memory */
#define SPREAD_RESIDENT (WIDE ? (WIDTH > 10 ? 2 : 3) : WIDTH > 7 ? 6 : 8) /* groups per compute unit, by registers */
#define READ_RESIDENT (WIDE ? (WIDTH > 10 ? 4 : 6) : 4)
#else
#define HELD 2
#define PARTS CELL
#define HELD_PLANES 1
#define PREFETCHES 1
#define READ_PREFETCHES 1
#define LATE_STRENGTHS 0
#define SPREAD_BATCH 32
#define SPREAD_RESIDENT (WIDE ? 16 : 24)
#define READ_RESIDENT (WIDE ? 12 : 20)
#endif

// Adds one part, or both, to a cell.
FUNCTION void add_cell(GLOBAL NUMBER* to, const NUMBER* parts) {
#if PARTS == 1
  if (parts[0] != 0) ADD_TO(to, parts[0]);
#else
  if (parts[0] == 0 && parts[1] == 0) return;
#if !WIDE
  atomic_add_pair(to, parts[0], parts[1]);
#else
  ADD_TO(to, parts[0]);
  ADD_TO(to + 1, parts[1]);
#endif
#endif
}

// Sets the coordinates and the index of a sorted point.
#if WIDE
#define LOAD_RECORD(x, y, z, index, from)                                                      \
  const double2 first_ = LOAD_ONCE((GLOBAL const double2*)records + 2 * (ulong)(from));        \
  const double2 second_ = LOAD_ONCE((GLOBAL const double2*)records + 2 * (ulong)(from) + 1);   \
  x = first_.x, y = first_.y, z = second_.x, index = LOADED_INDEX(second_.y)
#else
#define LOAD_RECORD(x, y, z, index, from)                                   \
  const float4 record_ = LOAD_ONCE((GLOBAL const float4*)records + (from)); \
  x = record_.x, y = record_.y, z = record_.z, index = LOADED_INDEX(record_.w)
#endif

// Adds a piece of the points of one tile to the grid. Eight points with the same first plane are one matrix product per
// plane. Its first factor has 16 rows of 8: the weights along the second axis times the strengths. Its second factor has 8
// rows: the weights along the fastest axis times the weight of the plane. In three dimensions 32 work-items compute half of
// the columns (of complex doubles: the real or the imaginary part of half of them). They keep WIDTH planes in registers, a
// window that slides along the slowest axis.
KERNEL WORK_GROUP_RESIDENT(SPREAD_ITEMS, 1, 1, SPREAD_RESIDENT)
void spread_matrix(GLOBAL const NUMBER* RESTRICT records, GLOBAL const uint* RESTRICT pieces,
                   GLOBAL const VALUE* RESTRICT strengths, GLOBAL NUMBER* RESTRICT grid, ulong offset, int cells0,
                   int cells1, int cells2, int tiles) {
  LOCAL_ARRAY(QUAD, across, SPREAD_BATCH * ROW / PER_QUAD);
  LOCAL_ARRAY(QUAD, down, SPREAD_BATCH * ROW / PER_QUAD);
  LOCAL_ARRAY(NUMBER, strength, SPREAD_BATCH * CELL);
#if AXES == 3
  LOCAL_ARRAY(NUMBER, deep, SPREAD_BATCH * DEEP);
  LOCAL_ARRAY(int, plane, SPREAD_BATCH);
#endif
  SCRATCH(SPREAD_ITEMS);
  const int item = LOCAL_ID(0), g8 = item >> 2 & 7, t4 = item & 3;
  const int half_tile = AXES == 3 ? item / 32 % 2 : 0, part0 = AXES == 3 ? item / 64 : 0;
  const int tile = (int)pieces[3 * GROUP_ID(0)];
  const uint begin = pieces[3 * GROUP_ID(0) + 1], end = pieces[3 * GROUP_ID(0) + 2];
  const int column0 = tile % tiles * STEP, line0 = tile / tiles * STEP;
  NUMBER acc[HELD_PLANES][4 * HELD][PARTS];
  UNROLL for (int i = 0; i < HELD_PLANES * 4 * HELD * PARTS; ++i) acc[i / (4 * HELD * PARTS)][i / PARTS % (4 * HELD)][i % PARTS] = 0;
  uint cell[4 * HELD]; /* of each sum, in its plane */
  UNROLL for (int i = 0; i < 4 * HELD; ++i) {
    cell[i] = (uint)((line0 + g8 + i % 4 / 2 * 8) % cells1) * (uint)cells2 +
              (uint)((column0 + 8 * (i / 4 + half_tile) + 2 * t4 + i % 2) % cells2);
  }
  const ulong plane_cells = (ulong)cells1 * (ulong)cells2;
#define LEAVE_PLANE(from, z) \
  UNROLL for (int i = 0; i < 4 * HELD; ++i) add_cell(grid + CELL * ((ulong)(from)*plane_cells + cell[i]) + part0, acc[z][i]);
  int at = -1; /* first plane of the window; -1: empty */
  NUMBER x = 0, y = 0, z = 0;
  VALUE value = MAKE_VALUE(0, 0);
  uint index = 0;
#define LOAD_POINT(from)                                 \
  if ((from) + (uint)item < end && item < SPREAD_BATCH) { \
    LOAD_RECORD(x, y, z, index, (from) + (uint)item);    \
    if (!LATE_STRENGTHS) value = strengths[offset + index]; \
  }
#if PREFETCHES
  LOAD_POINT(begin)
#endif
  for (uint from = begin; from < end; from += SPREAD_BATCH) {
    const int count = (int)min((uint)SPREAD_BATCH, end - from);
#if !PREFETCHES
    x = y = z = 0, value = MAKE_VALUE(0, 0);
    LOAD_POINT(from)
#endif
    BARRIER();
    if (item < count) {
      put_row((LOCAL NUMBER*)across + item * ROW, AXES == 3 ? z : y, cells2, column0);
      put_row((LOCAL NUMBER*)down + item * ROW, AXES == 3 ? y : x, cells1, line0);
#if AXES == 3
      plane[item] = put_depth(deep + item * DEEP, x, cells0);
#endif
      if (LATE_STRENGTHS) value = strengths[offset + index];
      UNROLL for (int part = 0; part < CELL; ++part) strength[item * CELL + part] = PART_OF(value, part);
    }
    BARRIER();
#if PREFETCHES
    LOAD_POINT(from + SPREAD_BATCH)
#endif
    for (int g = 0; g < count;) {
#if AXES == 3
      const int run = run_of(plane, g, count), first = plane[g];
      if (first != at) {
        if (at < 0 || first - at >= WIDTH) {
          UNROLL for (int z = 0; z < WIDTH; ++z) {
            if (at >= 0) { LEAVE_PLANE((at + z) % cells0, z) }
            UNROLL for (int i = 0; i < 4 * PARTS; ++i) acc[z][i / PARTS][i % PARTS] = 0;
          }
          at = first;
        }
        for (; at < first; ++at) {
          LEAVE_PLANE(at, 0)
          UNROLL for (int z = 0; z < WIDTH; ++z) {
            UNROLL for (int i = 0; i < 4 * PARTS; ++i) {
              acc[z][i / PARTS][i % PARTS] = z + 1 < WIDTH ? acc[(z + 1) % WIDTH][i / PARTS][i % PARTS] : 0;
            }
          }
        }
      }
#else
      const int run = min(8, count - g);
      at = 0;
#endif
      const int p = g + (t4 < run ? t4 : 0), q = g + (t4 + 4 < run ? t4 + 4 : 0);
      LOCAL const NUMBER* row_p = (LOCAL const NUMBER*)down + p * ROW + g8;
      LOCAL const NUMBER* row_q = (LOCAL const NUMBER*)down + q * ROW + g8;
      NUMBER high_a[PARTS][4], low_a[PARTS][4];
      UNROLL for (int part = 0; part < PARTS; ++part) {
        const NUMBER cp = t4 < run ? strength[p * CELL + part0 + part] : 0;
        const NUMBER cq = t4 + 4 < run ? strength[q * CELL + part0 + part] : 0;
        const NUMBER a[4] = {row_p[0] * cp, row_p[8] * cp, row_q[0] * cq, row_q[8] * cq};
        SPLIT(a, high_a[part], low_a[part], 4)
      }
      UNROLL for (int h = 0; h < HELD; ++h) {
        LOCAL const NUMBER* columns = (LOCAL const NUMBER*)across + 8 * (h + half_tile) + g8;
        const NUMBER cells[2] = {columns[p * ROW], columns[q * ROW]};
        UNROLL for (int i = 0; i < HELD_PLANES; ++i) {
#if AXES == 3
          const NUMBER b[2] = {cells[0] * deep[p * DEEP + i], cells[1] * deep[q * DEEP + i]};
#else
          const NUMBER b[2] = {cells[0], cells[1]};
#endif
          NUMBER high_b[2], low_b[2];
          SPLIT(b, high_b, low_b, 2)
          UNROLL for (int part = 0; part < PARTS; ++part) {
            NUMBER sum[4] = {0, 0, 0, 0}; /* the units truncate sums of floats, so those of many points are added here */
            MULTIPLY_SPLIT(sum, high_a[part], low_a[part], high_b, low_b);
            UNROLL for (int j = 0; j < 4; ++j) acc[i][4 * h + j][part] += sum[j];
          }
        }
      }
      g += run;
    }
  }
  if (at < 0) return;
  UNROLL for (int z = 0; z < HELD_PLANES; ++z) {
    LEAVE_PLANE((at + z) % cells0, z)
  }
}

// Loads two neighbours of a row: the real parts, then the imaginary parts.
FUNCTION void load_pair(GLOBAL const VALUE* row, int x0, int x1, NUMBER* cells) {
#if PAIRED && CELL == 1
  const float2 both = LOAD_CACHED((GLOBAL const float2*)(row + x0));
  cells[0] = both.x, cells[1] = both.y;
#elif PAIRED
  const float4 both = LOAD_CACHED((GLOBAL const float4*)(row + x0));
  cells[0] = both.x, cells[1] = both.z, cells[2] = both.y, cells[3] = both.w;
#else
  const VALUE a = LOAD_CACHED(row + x0), b = LOAD_CACHED(row + x1);
  UNROLL for (int part = 0; part < CELL; ++part) cells[2 * part] = PART_OF(a, part), cells[2 * part + 1] = PART_OF(b, part);
#endif
}

// Interpolates at a piece of the points of one tile. For each plane a matrix product sums along the fastest axis: the weights
// of 32 points for 16 columns, times 16 columns x 8 rows of cells. A work-item holds the sums of two rows at four points,
// multiplies them by the weights of the rows and of the plane, and adds them. Fragments hold columns 2 t and 2 t + 1 at the
// positions t and t + 4.
KERNEL WORK_GROUP_RESIDENT(READ_ITEMS, 1, 1, READ_RESIDENT)
void interpolate_matrix(GLOBAL const NUMBER* RESTRICT records, GLOBAL const uint* RESTRICT pieces,
                        GLOBAL const VALUE* RESTRICT grid, GLOBAL NUMBER* RESTRICT values, ulong offset, int cells0,
                        int cells1, int cells2, int tiles) {
  LOCAL_ARRAY(QUAD, across, READ_ITEMS * ROW / PER_QUAD);
  LOCAL_ARRAY(QUAD, down, READ_ITEMS * ROW / PER_QUAD);
  LOCAL_ARRAY(NUMBER2, parts, READ_ITEMS * 5);
#if AXES == 3
  LOCAL_ARRAY(NUMBER, deep, READ_ITEMS * DEEP);
  LOCAL_ARRAY(int, plane, READ_ITEMS);
#endif
  SCRATCH(READ_ITEMS);
  const int item = LOCAL_ID(0), warp = item & ~31, g8 = item >> 2 & 7, t4 = item & 3;
  const int tile = (int)pieces[3 * GROUP_ID(0)];
  const uint begin = pieces[3 * GROUP_ID(0) + 1], end = pieces[3 * GROUP_ID(0) + 2];
  const int column0 = tile % tiles * STEP, line0 = tile / tiles * STEP;
  NUMBER x = 0, y = 0, z = 0;
  uint index = 0;
#if READ_PREFETCHES
  if (begin + (uint)item < end) {
    LOAD_RECORD(x, y, z, index, begin + (uint)item);
  }
#endif
  for (uint from = begin; from < end; from += READ_ITEMS) {
    const int count = (int)min((uint)READ_ITEMS, end - from);
#if !READ_PREFETCHES
    x = y = z = 0;
    if (item < count) {
      LOAD_RECORD(x, y, z, index, from + (uint)item);
    }
#endif
    const uint own = index;
    BARRIER();
    if (item < count) {
      put_row((LOCAL NUMBER*)across + item * ROW, AXES == 3 ? z : y, cells2, column0);
      put_row((LOCAL NUMBER*)down + item * ROW, AXES == 3 ? y : x, cells1, line0);
#if AXES == 3
      plane[item] = put_depth(deep + item * DEEP, x, cells0);
#endif
    } else {
      UNROLL for (int k = 0; k < TILE; k += PER_QUAD) {
        *(LOCAL QUAD*)((LOCAL NUMBER*)across + item * ROW + k) = ZEROS;
        *(LOCAL QUAD*)((LOCAL NUMBER*)down + item * ROW + k) = ZEROS;
      }
#if AXES == 3
      plane[item] = 1 << 30;
#endif
    }
    BARRIER();
#if READ_PREFETCHES
    if (from + READ_ITEMS + (uint)item < end) {
      LOAD_RECORD(x, y, z, index, from + READ_ITEMS + (uint)item);
    }
#endif
    NUMBER high_a[4][4], low_a[4][4];
    UNROLL for (int i = 0; i < 4; ++i) { /* 16 points, half of the columns */
      LOCAL const NUMBER* one = (LOCAL const NUMBER*)across + (warp + i / 2 * 16 + g8) * ROW + i % 2 * 8 + 2 * t4;
      const NUMBER2 upper = *(LOCAL const NUMBER2*)one, lower = *(LOCAL const NUMBER2*)(one + 8 * ROW);
      const NUMBER a[4] = {upper.x, lower.x, upper.y, lower.y};
      SPLIT(a, high_a[i], low_a[i], 4)
    }
#if AXES == 3
#if SUB_GROUP_WIDTH >= 32
    const int lowest = plane[warp], highest = plane[max(warp, min(warp + 31, count - 1))];
#else /* emulated products need the same number of planes in the whole group */
    const int lowest = plane[0], highest = plane[count - 1];
#endif
    const int planes = lowest < cells0 ? highest - lowest + WIDTH : 0;
#else
    const int lowest = 0, planes = 1;
#endif
    NUMBER total[4][CELL];
    UNROLL for (int i = 0; i < 4 * CELL; ++i) total[i / CELL][i % CELL] = 0;
    for (int depth = lowest; depth < lowest + planes; ++depth) {
      const int from_plane = depth < cells0 ? depth : depth - cells0;
      NUMBER row_sum[4][CELL];
      UNROLL for (int i = 0; i < 4 * CELL; ++i) row_sum[i / CELL][i % CELL] = 0;
      UNROLL for (int n = 0; n < 2; ++n) { /* half of the rows */
        const int line = (line0 + 8 * n + g8) % cells1;
        GLOBAL const VALUE* row = grid + ((ulong)from_plane * (ulong)cells1 + (ulong)line) * (ulong)cells2;
        NUMBER sum[2][CELL][4];
        UNROLL for (int i = 0; i < 8 * CELL; ++i) sum[i / (4 * CELL)][i / 4 % CELL][i % 4] = 0;
        UNROLL for (int k = 0; k < 2; ++k) {
          const int column = column0 + 8 * k + 2 * t4;
          NUMBER cells[2 * CELL], high_b[2 * CELL], low_b[2 * CELL];
          load_pair(row, column % cells2, (column + 1) % cells2, cells);
          SPLIT(cells, high_b, low_b, 2 * CELL)
          UNROLL for (int i = 0; i < 2 * CELL; ++i) { /* 16 points, one part */
            const int m = i / CELL, part = i % CELL;
            MULTIPLY_SPLIT(sum[m][part], high_a[2 * m + k], low_a[2 * m + k], (high_b + 2 * part), (low_b + 2 * part));
          }
        }
        UNROLL for (int p = 0; p < 4; ++p) {
          const NUMBER2 factor =
              *(LOCAL const NUMBER2*)((LOCAL const NUMBER*)down + (warp + p * 8 + g8) * ROW + 8 * n + 2 * t4);
          UNROLL for (int part = 0; part < CELL; ++part) {
            row_sum[p][part] = FMA(sum[p / 2][part][p % 2 * 2], factor.x, row_sum[p][part]);
            row_sum[p][part] = FMA(sum[p / 2][part][p % 2 * 2 + 1], factor.y, row_sum[p][part]);
          }
        }
      }
      UNROLL for (int p = 0; p < 4; ++p) {
#if AXES == 3
        const int k = depth - plane[warp + p * 8 + g8];
        const NUMBER factor = k >= 0 && k < WIDTH ? deep[(warp + p * 8 + g8) * DEEP + k] : 0;
#else
        const NUMBER factor = 1;
#endif
        UNROLL for (int part = 0; part < CELL; ++part) total[p][part] = FMA(row_sum[p][part], factor, total[p][part]);
      }
    }
    UNROLL for (int p = 0; p < 4; ++p) parts[(warp + p * 8 + g8) * 5 + t4] = MAKE2(total[p][0], total[p][CELL - 1]);
    BARRIER();
    if (item < count) {
      NUMBER2 value = parts[item * 5];
      UNROLL for (int k = 1; k < 4; ++k) {
        value.x += parts[item * 5 + k].x;
        value.y += parts[item * 5 + k].y;
      }
#if CELL == 1
      values[offset + own] = value.x;
#else
      ((GLOBAL NUMBER2*)values)[offset + own] = value;
#endif
    }
  }
}
