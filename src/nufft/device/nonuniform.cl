// Nonuniform transforms on a device: sorting of points, spreading, interpolation, mode factors.
//
// NUMBER, NUMBER2, MAKE2      the plan's real and complex type; WIDE is 1 for double
// CELL                        numbers per cell, strength and value: 2 for complex ones, 1 for reals
// TURNS                       1: coordinates are the bits of 32-bit integers, 2^32 to a period
// AXES, WIDTH, TERMS          axes of the problem, cells of the kernel, coefficients per cell
// COLUMNS, LINES, BATCH       of spread_window: columns of a tile along the last two axes, points per round
// WINDOW                      1: with spread_window
// STEP, BINS                  first cells per tile and axis; 1: keys of two axes are tiles of both
// LANES                       work-items per point of interpolate and spread_atomic: a power of two, at least WIDTH
// Axes are numbered slowest first; a problem of fewer axes has cells0 = 1, or cells0 = cells1 = 1.
//
// A sorted point is a record of four NUMBERs: its coordinates x, y, z of the problem and its index.
#define GROUP 256
#define SCANNED 2048 /* elements per group of the first scan */
#define MOST_PER_PIECE 1024u
#define NO_KEY 0xffffffffu
#define TABLE (TERMS * WIDTH)

#if CELL == 1
#define VALUE NUMBER
#define MAKE_VALUE(re, im) (re)
#define RE(v) (v)
#define IM(v) ((NUMBER)0)
#else
#define VALUE NUMBER2
#define MAKE_VALUE(re, im) MAKE2((re), (im))
#define RE(v) ((v).x)
#define IM(v) ((v).y)
#endif

#if WIDE
#define STORED_INDEX(j) ((double)(j))
#define LOADED_INDEX(v) ((uint)(v))
#else
#define STORED_INDEX(j) FLOAT_OF((uint)(j))
#define LOADED_INDEX(v) BITS_OF(v)
#endif

#if WIDE && defined(__OPENCL_VERSION__)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
ulong __attribute__((overloadable)) atom_cmpxchg(volatile __global ulong* p, ulong expected, ulong value);
static inline void add_to(volatile __global double* p, double v) {
  volatile __global ulong* bits = (volatile __global ulong*)p;
  ulong seen = *bits, expected;
  do {
    expected = seen;
    seen = atom_cmpxchg(bits, expected, as_ulong(as_double(expected) + v));
  } while (seen != expected);
}
#define ADD_TO(p, v) add_to((p), (v))
#else
#define ADD_TO(p, v) ATOMIC_ADD((p), (v))
#endif

// First cell of a point's box, and the argument of the kernel's polynomials. x / (2 pi) is kept as a sum of two numbers
// until the whole cells have been removed, so that a float point is not rounded again on long axes.
FUNCTION int place(NUMBER x, int cells, NUMBER* s) {
#if TURNS
  const long position = (long)(int)BITS_OF(x) * cells; /* in cells / 2^32 */
  const NUMBER part = (NUMBER)(uint)position * (NUMBER)0x1p-32f;
  const NUMBER first = ceil(part - HALF_WIDTH);
  *s = 2 * ((first - part) + HALF_WIDTH) - 1;
  const int cell = (int)(position >> 32) + (int)first;
#else
  const NUMBER n = (NUMBER)cells;
  NUMBER turns = x * INVERSE_HIGH;
  const NUMBER rest = FMA(x, INVERSE_HIGH, -turns) + x * INVERSE_LOW;
  turns -= rint(turns);
  const NUMBER position = turns * n;
  const NUMBER error = FMA(turns, n, -position) + rest * n;
  const NUMBER first = ceil(position - HALF_WIDTH);
  *s = 2 * ((first - position) - error + HALF_WIDTH) - 1;
  const int cell = (int)first;
#endif
  return cell < 0 ? cell + cells : cell;
}

FUNCTION NUMBER weight(GLOBAL const NUMBER* table, int cell, NUMBER s) {
  NUMBER value = table[cell];
  UNROLL for (int p = 1; p < TERMS; ++p) value = FMA(value, s, table[p * WIDTH + cell]);
  return value;
}

// Sorting key: the tile of the columns, then the first cell along the window's axis (none for tiles of both axes).
FUNCTION uint key_of(NUMBER x, NUMBER y, NUMBER z, int cells0, int cells1, int cells2, int tiles) {
  NUMBER s;
#if AXES == 1
  return (uint)place(x, cells2, &s);
#elif AXES == 2 && BINS
  return (uint)(place(x, cells1, &s) / STEP * tiles + place(y, cells2, &s) / STEP);
#elif AXES == 2
  return (uint)(place(y, cells2, &s) / STEP * cells1 + place(x, cells1, &s));
#else
  return (uint)((place(y, cells1, &s) / STEP * tiles + place(z, cells2, &s) / STEP) * cells0 + place(x, cells0, &s));
#endif
}

// Counts a point and returns the number of points with the same key that were counted before it. Points of a warp with the
// same key make one atomic addition: otherwise the additions of a cluster of points would wait for one another.
#ifdef __CUDACC_RTC__
FUNCTION uint rank_of(uint* counts, uint key) {
  const uint active = __activemask();
  if (!__any_sync(active, key == __shfl_xor_sync(active, key, 1))) return ATOMIC_ADD(&counts[key], 1u);
  const uint same = __match_any_sync(active, key), lane = (uint)LOCAL_ID(0) & 31u;
  const int first = __ffs((int)same) - 1;
  uint before = 0;
  if ((int)lane == first) before = ATOMIC_ADD(&counts[key], (uint)__popc(same));
  return __shfl_sync(same, before, first) + (uint)__popc(same & ((1u << lane) - 1u));
}
#define RANK_OF(counts, key) rank_of(counts, key)
#else
#define RANK_OF(counts, key) ATOMIC_ADD(&(counts)[key], 1u)
#endif

// Counts the points per key. `bad` becomes the least index of a point that is not within `farthest`.
KERNEL WORK_GROUP(GROUP, 1, 1)
void count_points(GLOBAL const NUMBER* RESTRICT x, GLOBAL const NUMBER* RESTRICT y, GLOBAL const NUMBER* RESTRICT z,
                  GLOBAL uint* RESTRICT keys, GLOBAL uint* RESTRICT ranks, GLOBAL uint* RESTRICT counts,
                  GLOBAL uint* RESTRICT bad, NUMBER farthest, uint count, int cells0, int cells1, int cells2,
                  int tiles) {
  const uint j = GLOBAL_ID(0);
  if (j >= count) return;
  const NUMBER a = x[j], b = AXES > 1 ? y[j] : 0, c = AXES > 2 ? z[j] : 0;
  if (!TURNS && !(fabs(a) <= farthest && fabs(b) <= farthest && fabs(c) <= farthest)) {
    ATOMIC_MIN(bad, j);
    keys[j] = NO_KEY;
    return;
  }
  const uint key = key_of(a, b, c, cells0, cells1, cells2, tiles);
  keys[j] = key;
  ranks[j] = RANK_OF(counts, key);
}

// Exclusive sums of GROUP * `own` counts per group, in place, and the group's total.
KERNEL WORK_GROUP(GROUP, 1, 1)
void scan_counts(GLOBAL uint* RESTRICT counts, GLOBAL uint* RESTRICT totals, uint count, uint own) {
  LOCAL_ARRAY(uint, sums, 2 * GROUP);
  const int i = LOCAL_ID(0);
  const uint first = (GROUP_ID(0) * GROUP + (uint)i) * own;
  uint sum = 0;
  for (uint k = 0; k < own; ++k) sum += first + k < count ? counts[first + k] : 0;
  sums[i] = sum;
  int from = 0;
  for (int step = 1; step < GROUP; step *= 2) {
    BARRIER();
    sums[GROUP - from + i] = sums[from + i] + (i >= step ? sums[from + i - step] : 0);
    from = GROUP - from;
  }
  BARRIER();
  uint before = sums[from + i] - sum;
  for (uint k = 0; k < own && first + k < count; ++k) {
    const uint one = counts[first + k];
    counts[first + k] = before;
    before += one;
  }
  if (i == GROUP - 1) totals[GROUP_ID(0)] = before;
}

// Index of the first sorted point whose key is at least `key`.
#define FIRST_OF(key) (counts[key] + totals[(key) / SCANNED])

// Counts the pieces of at most MOST_PER_PIECE points per tile; numbers[tiles] becomes 0. Keys of a tile are consecutive.
KERNEL WORK_GROUP(GROUP, 1, 1)
void count_pieces(GLOBAL const uint* RESTRICT counts, GLOBAL const uint* RESTRICT totals, GLOBAL uint* RESTRICT numbers,
                  uint tiles, uint keys_per_tile) {
  const uint tile = GLOBAL_ID(0), key = tile * keys_per_tile;
  if (tile > tiles) return;
  numbers[tile] =
      tile < tiles ? (FIRST_OF(key + keys_per_tile) - FIRST_OF(key) + MOST_PER_PIECE - 1) / MOST_PER_PIECE : 0;
}

// Lists tile, first and end point of each piece, LISTERS work-items per tile; found[1] becomes the number of pieces.
#define LISTERS 8u
KERNEL WORK_GROUP(GROUP, 1, 1)
void list_pieces(GLOBAL const uint* RESTRICT counts, GLOBAL const uint* RESTRICT totals,
                 GLOBAL const uint* RESTRICT numbers, GLOBAL const uint* RESTRICT number_totals,
                 GLOBAL uint* RESTRICT pieces, GLOBAL uint* RESTRICT found, uint tiles, uint keys_per_tile) {
  const uint tile = GLOBAL_ID(0) / LISTERS, own = GLOBAL_ID(0) % LISTERS, key = tile * keys_per_tile;
  if (tile > tiles) return;
  uint piece = numbers[tile] + number_totals[tile / SCANNED] + own;
  if (tile == tiles) {
    if (own == 0) found[1] = piece;
    return;
  }
  const uint end = FIRST_OF(key + keys_per_tile);
  for (ulong from = FIRST_OF(key) + own * MOST_PER_PIECE; from < end; from += LISTERS * MOST_PER_PIECE, piece += LISTERS) {
    pieces[3 * piece] = tile;
    pieces[3 * piece + 1] = (uint)from;
    pieces[3 * piece + 2] = (uint)min(from + MOST_PER_PIECE, (ulong)end);
  }
}

KERNEL WORK_GROUP(GROUP, 1, 1)
void move_points(GLOBAL const NUMBER* RESTRICT x, GLOBAL const NUMBER* RESTRICT y, GLOBAL const NUMBER* RESTRICT z,
                 GLOBAL const uint* RESTRICT keys, GLOBAL const uint* RESTRICT ranks,
                 GLOBAL const uint* RESTRICT counts, GLOBAL const uint* RESTRICT totals,
                 GLOBAL NUMBER* RESTRICT records, uint count) {
  const uint j = GLOBAL_ID(0);
  if (j >= count) return;
  const uint key = keys[j];
  if (key == NO_KEY) return;
  const ulong to = (ulong)(FIRST_OF(key) + ranks[j]);
  const NUMBER b = AXES > 1 ? y[j] : 0, c = AXES > 2 ? z[j] : 0;
#if WIDE  /* whole sectors of memory */
  ((GLOBAL double2*)records)[2 * to] = make_double2(x[j], b);
  ((GLOBAL double2*)records)[2 * to + 1] = make_double2(c, STORED_INDEX(j));
#else
  ((GLOBAL float4*)records)[to] = make_float4(x[j], b, c, STORED_INDEX(j));
#endif
}

#if WINDOW
// Adds a group's piece of the points of one tile to the grid. Each work-item owns one column of cells along the window's
// axis (the slowest) and keeps WIDTH neighbouring cells of it in registers. Points come in the order of their first
// cell along that axis, so the window slides, and a cell is added to the grid once per piece.
KERNEL WORK_GROUP(COLUMNS, LINES, 1)
void spread_window(GLOBAL const NUMBER* RESTRICT records, GLOBAL const uint* RESTRICT pieces,
                   GLOBAL const VALUE* RESTRICT strengths, GLOBAL NUMBER* RESTRICT grid,
                   GLOBAL const NUMBER* RESTRICT table, ulong offset, int cells0, int cells1, int cells2, int tiles) {
  LOCAL_ARRAY(VALUE, across, BATCH * (COLUMNS + 1)); /* strength times the weight of each column */
  LOCAL_ARRAY(NUMBER, down, BATCH * WIDTH);            /* weights of the lines, from the first one on */
  LOCAL_ARRAY(NUMBER, deep, BATCH * WIDTH);            /* weights along the window's axis */
  LOCAL_ARRAY(int, first_line, BATCH);
  LOCAL_ARRAY(int, first_cell, BATCH);
  const int column = LOCAL_ID(0), line = LOCAL_ID(1), item = line * COLUMNS + column;
  const int tile = (int)pieces[3 * GROUP_ID(0)];
  const uint begin = pieces[3 * GROUP_ID(0) + 1], end = pieces[3 * GROUP_ID(0) + 2];
  const int column0 = tile % tiles * STEP;
  const int line0 = AXES == 3 ? tile / tiles * STEP : 0;
  const int depth = AXES == 3 ? cells0 : cells1;
  const ulong plane = AXES == 3 ? (ulong)cells1 * (ulong)cells2 : (ulong)cells2;
  GLOBAL NUMBER* own = grid + CELL * ((AXES == 3 ? (ulong)((line0 + line) % cells1) * (ulong)cells2 : 0) +
                                   (ulong)((column0 + column) % cells2));
  NUMBER re[WIDTH], im[WIDTH];
  UNROLL for (int i = 0; i < WIDTH; ++i) re[i] = im[i] = 0;
  int at = -1; /* first cell of the window; -1: empty */
#define LEAVE(cell, i)                                          \
  if (re[i] != 0 || im[i] != 0) {                               \
    GLOBAL NUMBER* to = own + CELL * plane * (ulong)((cell) % depth); \
    ADD_TO(to, re[i]);                                          \
    if (CELL == 2) ADD_TO(to + 1, im[i]);                       \
  }
  for (uint from = begin; from < end; from += BATCH) {
    const int count = (int)min((uint)BATCH, end - from);
    BARRIER();
    for (int task = item; task < AXES * BATCH; task += COLUMNS * LINES) {
      const int axis = task / BATCH, p = task % BATCH;
      if (p >= count) continue;
      GLOBAL const NUMBER* record = records + 4 * (ulong)(from + (uint)p);
      NUMBER s;
      if (axis == AXES - 1) {
        const int left = place(record[AXES - 1], cells2, &s) - column0;
        const VALUE strength = strengths[offset + LOADED_INDEX(record[3])];
        for (int k = 0; k < COLUMNS; ++k) across[p * (COLUMNS + 1) + k] = MAKE_VALUE(0, 0);
        UNROLL for (int k = 0; k < WIDTH; ++k) {
          const NUMBER value = weight(table, k, s);
          across[p * (COLUMNS + 1) + left + k] = MAKE_VALUE(RE(strength) * value, IM(strength) * value);
        }
      } else if (axis == 0) {
        first_cell[p] = place(record[0], depth, &s);
        UNROLL for (int k = 0; k < WIDTH; ++k) deep[p * WIDTH + k] = weight(table, k, s);
      } else {
        first_line[p] = place(record[1], cells1, &s) - line0;
        UNROLL for (int k = 0; k < WIDTH; ++k) down[p * WIDTH + k] = weight(table, k, s);
      }
    }
    BARRIER();
    for (int p = 0; p < count; ++p) {
      NUMBER value_re = RE(across[p * (COLUMNS + 1) + column]), value_im = IM(across[p * (COLUMNS + 1) + column]);
#if AXES == 3
      const int row = line - first_line[p];
      if (row < 0 || row >= WIDTH) continue;
      const NUMBER factor = down[p * WIDTH + row];
      value_re *= factor;
      value_im *= factor;
#endif
      const int cell = first_cell[p];
      if (cell != at) {
        if (at < 0 || cell - at >= WIDTH) {
          UNROLL for (int i = 0; i < WIDTH; ++i) {
            LEAVE(at + i, i)
            re[i] = im[i] = 0;
          }
          at = cell;
        }
        for (; at < cell; ++at) {
          LEAVE(at, 0)
          UNROLL for (int i = 0; i + 1 < WIDTH; ++i) {
            re[i] = re[i + 1];
            im[i] = im[i + 1];
          }
          re[WIDTH - 1] = im[WIDTH - 1] = 0;
        }
      }
      UNROLL for (int i = 0; i < WIDTH; ++i) {
        re[i] = FMA(value_re, deep[p * WIDTH + i], re[i]);
        if (CELL == 2) im[i] = FMA(value_im, deep[p * WIDTH + i], im[i]);
      }
    }
  }
  UNROLL for (int i = 0; i < WIDTH; ++i) {
    LEAVE(at + i, i)
  }
}
#endif

// Boxes of points: LANES work-items per point, each with one column along the fastest axis.
#define POINTS (128 / LANES)
#define PLANES (AXES > 2 ? WIDTH : 1)
#define ROWS (AXES > 1 ? WIDTH : 1)

// Work-items of one point are in one sub-group where there are any.
#if SUB_GROUP_WIDTH >= 32
#define BOX_BARRIER() SUB_GROUP_BARRIER()
#else
#define BOX_BARRIER() BARRIER()
#endif

// Weights of a work-item's column, and of its derivative.
typedef struct {
  NUMBER value, slope;
} ColumnWeight;

// Fills the weights of the slow axes (with `slopes` also their derivatives, LANES later) and returns those of this
// lane's column; *at is the first plane, row and column. Table 0 is the kernel's, tables 1 to 3 are its derivatives.
FUNCTION ColumnWeight box_weights(GLOBAL const NUMBER* record, GLOBAL const NUMBER* tables, const int* cells, int lane,
                                  LOCAL NUMBER* rows, LOCAL NUMBER* planes, int* at, const int slopes) {
  NUMBER s;
  ColumnWeight column;
  const int own = lane < WIDTH ? lane : 0;
  at[0] = at[1] = 0;
  at[2] = place(record[AXES - 1], cells[2], &s);
  column.value = lane < WIDTH ? weight(tables, own, s) : 0;
  column.slope = slopes && lane < WIDTH ? weight(tables + 3 * TABLE, own, s) : 0;
#if AXES > 1
  at[1] = place(record[AXES - 2], cells[1], &s);
  if (lane < WIDTH) rows[lane] = weight(tables, lane, s);
  if (slopes && lane < WIDTH) rows[LANES + lane] = weight(tables + 2 * TABLE, lane, s);
#endif
#if AXES > 2
  at[0] = place(record[0], cells[0], &s);
  if (lane < WIDTH) planes[lane] = weight(tables, lane, s);
  if (slopes && lane < WIDTH) planes[LANES + lane] = weight(tables + TABLE, lane, s);
#endif
  return column;
}

// Adds each point's box to the grid by atomic additions.
KERNEL WORK_GROUP(128, 1, 1)
void spread_atomic(GLOBAL const NUMBER* RESTRICT records, GLOBAL const VALUE* RESTRICT strengths,
                     GLOBAL NUMBER* RESTRICT grid, GLOBAL const NUMBER* RESTRICT tables, ulong offset, uint count,
                     int cells0, int cells1, int cells2) {
  LOCAL_ARRAY(NUMBER, row_weights, 128);
  LOCAL_ARRAY(NUMBER, plane_weights, 128);
  const int slot = LOCAL_ID(0) / LANES, lane = LOCAL_ID(0) % LANES;
  const uint j = GROUP_ID(0) * POINTS + (uint)slot;
  const int cells[3] = {cells0, cells1, cells2};
  LOCAL NUMBER* rows = row_weights + slot * LANES;
  LOCAL NUMBER* planes = plane_weights + slot * LANES;
  GLOBAL const NUMBER* record = records + 4 * (ulong)(j < count ? j : count - 1);
  int at[3];
  const NUMBER column = box_weights(record, tables, cells, lane, rows, planes, at, 0).value;
  BOX_BARRIER();
  if (j >= count || lane >= WIDTH) return;
  const VALUE strength = strengths[offset + LOADED_INDEX(record[3])];
  const ulong x = (ulong)((at[2] + lane) % cells2);
  for (int z = 0; z < PLANES; ++z) {
    for (int y = 0; y < ROWS; ++y) {
      const NUMBER value = column * (AXES > 1 ? rows[y] : 1) * (AXES > 2 ? planes[z] : 1);
      const ulong row = (ulong)((at[0] + z) % cells0) * (ulong)cells1 + (ulong)((at[1] + y) % cells1);
      GLOBAL NUMBER* to = grid + CELL * (row * (ulong)cells2 + x);
      ADD_TO(to, RE(strength) * value);
      if (CELL == 2) ADD_TO(to + 1, IM(strength) * value);
    }
  }
}

// Sum over the work-items of a point, returned to all of them.
FUNCTION NUMBER2 sum_lanes(NUMBER re, NUMBER im, LOCAL NUMBER2* sums) {
#if SUB_GROUP_WIDTH >= 32
  UNROLL for (int step = LANES / 2; step > 0; step /= 2) {
    re += SHUFFLE_XOR(re, step);
    im += SHUFFLE_XOR(im, step);
  }
  return MAKE2(re, im);
#else
  BARRIER();
  sums[LOCAL_ID(0)] = MAKE2(re, im);
  BARRIER();
  NUMBER2 total = MAKE2(0, 0);
  for (int k = 0; k < LANES; ++k) {
    total.x += sums[LOCAL_ID(0) / LANES * LANES + k].x;
    total.y += sums[LOCAL_ID(0) / LANES * LANES + k].y;
  }
  return total;
#endif
}

// Value of the grid at a point and, with `slopes`, its derivatives along the axes in arrays `stride` apart, slowest axis
// first. Every cell is read once. `rows` and `planes` are this point's part of local memory.
FUNCTION void read_box(GLOBAL const NUMBER* RESTRICT records, GLOBAL const VALUE* RESTRICT grid,
                       GLOBAL VALUE* RESTRICT values, GLOBAL const NUMBER* RESTRICT tables, ulong stride, uint count,
                       const int* cells, LOCAL NUMBER* rows, LOCAL NUMBER* planes, LOCAL NUMBER2* sums,
                       const int slopes) {
  const int lane = LOCAL_ID(0) % LANES;
  const uint j = GROUP_ID(0) * POINTS + (uint)(LOCAL_ID(0) / LANES);
  GLOBAL const NUMBER* record = records + 4 * (ulong)(j < count ? j : count - 1);
  int at[3];
  const ColumnWeight column = box_weights(record, tables, cells, lane, rows, planes, at, slopes);
  BOX_BARRIER();
  NUMBER re = 0, im = 0, row_re = 0, row_im = 0, plane_re = 0, plane_im = 0;
  const ulong x = (ulong)((at[2] + lane) % cells[2]);
  if (lane < WIDTH) {
    for (int z = 0; z < PLANES; ++z) {
      const int plane = at[0] + z < cells[0] ? at[0] + z : at[0] + z - cells[0];
      NUMBER sum_re = 0, sum_im = 0, slope_re = 0, slope_im = 0;
      UNROLL for (int y = 0; y < ROWS; ++y) {
        const int row = at[1] + y < cells[1] ? at[1] + y : at[1] + y - cells[1];
        const VALUE value = grid[((ulong)plane * (ulong)cells[1] + (ulong)row) * (ulong)cells[2] + x];
        const NUMBER factor = AXES > 1 ? rows[y] : 1;
        sum_re = FMA(RE(value), factor, sum_re);
        sum_im = FMA(IM(value), factor, sum_im);
        if (slopes && AXES > 1) {
          slope_re = FMA(RE(value), rows[LANES + y], slope_re);
          slope_im = FMA(IM(value), rows[LANES + y], slope_im);
        }
      }
      const NUMBER factor = AXES > 2 ? planes[z] : 1;
      re = FMA(sum_re, factor, re);
      im = FMA(sum_im, factor, im);
      row_re = FMA(slope_re, factor, row_re);
      row_im = FMA(slope_im, factor, row_im);
      if (slopes && AXES > 2) {
        plane_re = FMA(sum_re, planes[LANES + z], plane_re);
        plane_im = FMA(sum_im, planes[LANES + z], plane_im);
      }
    }
  }
  NUMBER2 result = sum_lanes(re * column.value, im * column.value, sums);
  if (slopes) {  // lane k stores array k
    const NUMBER2 by_column = sum_lanes(re * column.slope, im * column.slope, sums);
    const NUMBER2 by_row = sum_lanes(row_re * column.value, row_im * column.value, sums);
    const NUMBER2 by_plane = sum_lanes(plane_re * column.value, plane_im * column.value, sums);
    if (lane == AXES) result = by_column;
    if (lane == AXES - 1 && lane > 0) result = by_row;
    if (lane == AXES - 2 && lane > 0) result = by_plane;
  }
  if (j >= count || lane > (slopes ? AXES : 0)) return;
  values[(ulong)lane * stride + LOADED_INDEX(record[3])] = MAKE_VALUE(result.x, result.y);
}

#define READ_KERNEL(NAME, SLOPES)                                                                                      \
  KERNEL WORK_GROUP(128, 1, 1)                                                                                         \
  void NAME(GLOBAL const NUMBER* RESTRICT records, GLOBAL const VALUE* RESTRICT grid, GLOBAL VALUE* RESTRICT values,   \
            GLOBAL const NUMBER* RESTRICT tables, ulong offset, ulong stride, uint count, int cells0, int cells1,      \
            int cells2) {                                                                                              \
    LOCAL_ARRAY(NUMBER, row_weights, 256);                                                                             \
    LOCAL_ARRAY(NUMBER, plane_weights, 256);                                                                           \
    LOCAL_ARRAY(NUMBER2, sums, 128);                                                                                   \
    const int cells[3] = {cells0, cells1, cells2}, slot = LOCAL_ID(0) / LANES;                                         \
    read_box(records, grid, values + offset, tables, stride, count, cells, row_weights + slot * 2 * LANES,             \
             plane_weights + slot * 2 * LANES, sums, SLOPES);                                                          \
  }
READ_KERNEL(interpolate, 0)
#if CELL == 2
READ_KERNEL(interpolate_slopes, 1)
#endif

// Position of the frequency of this rank, counted from -(modes/2), in an array of modes.
FUNCTION int stored_at(int rank, int modes, int fft_order) {
  if (fft_order == 0) return rank;
  return rank < modes / 2 ? rank + modes - modes / 2 : rank - modes / 2;
}

#if CELL == 2
// Position of element i of the transform's box in an array of modes, and the mode's factor. The box holds all modes with
// ascending frequencies, or with descending ones: then the transform's sign is the other one.
FUNCTION ulong mode_at(uint i, int n0, int n1, int n2, GLOBAL const NUMBER* factors, int fft_order, int descending,
                       NUMBER* factor) {
  const int n[3] = {n0, n1, n2};
  const int at[3] = {(int)(i / ((uint)n1 * (uint)n2)), (int)(i / (uint)n2 % (uint)n1), (int)(i % (uint)n2)};
  ulong to = 0;
  int before = 0;
  *factor = 1;
  UNROLL for (int axis = 0; axis < 3; ++axis) {
    const int rank = descending ? n[axis] - 1 - at[axis] : at[axis];
    to = to * (ulong)n[axis] + (ulong)stored_at(rank, n[axis], fft_order);
    *factor *= factors[before + rank];
    before += n[axis];
  }
  return to;
}

KERNEL WORK_GROUP(GROUP, 1, 1)
void put_modes(GLOBAL const NUMBER2* RESTRICT modes, GLOBAL NUMBER2* RESTRICT box, GLOBAL const NUMBER* RESTRICT factors,
               ulong offset, int n0, int n1, int n2, int fft_order, int descending) {
  const uint i = GLOBAL_ID(0);
  if (i >= (uint)n0 * (uint)n1 * (uint)n2) return;
  NUMBER factor;
  const NUMBER2 mode = modes[offset + mode_at(i, n0, n1, n2, factors, fft_order, descending, &factor)];
  box[i] = MAKE2(mode.x * factor, mode.y * factor);
}

KERNEL WORK_GROUP(GROUP, 1, 1)
void take_modes(GLOBAL const NUMBER2* RESTRICT box, GLOBAL NUMBER2* RESTRICT modes, GLOBAL const NUMBER* RESTRICT factors,
                ulong offset, int n0, int n1, int n2, int fft_order, int descending) {
  const uint i = GLOBAL_ID(0);
  if (i >= (uint)n0 * (uint)n1 * (uint)n2) return;
  NUMBER factor;
  const ulong to = mode_at(i, n0, n1, n2, factors, fft_order, descending, &factor);
  const NUMBER2 value = box[i];
  modes[offset + to] = MAKE2(value.x * factor, value.y * factor);
}
#else
// Real values: the box is the half spectrum, with the frequencies 0 ... n/2 of the fastest axis and -(n/2) ... n/2 of the
// others. mode_of() returns the mode with the frequencies sign * k, or 0 if it is not stored (n/2 of an even axis).
FUNCTION NUMBER2 mode_of(GLOBAL const NUMBER2* modes, const int* n, const int* k, int sign, int fft_order) {
  ulong at = 0;
  UNROLL for (int axis = 0; axis < 3; ++axis) {
    const int rank = sign * k[axis] + n[axis] / 2;
    if (rank >= n[axis]) return MAKE2(0, 0);
    at = at * (ulong)n[axis] + (ulong)stored_at(rank, n[axis], fft_order);
  }
  return modes[at];
}

// The spectrum of the real part: half of a mode and of the conjugate of the opposite mode.
KERNEL WORK_GROUP(GROUP, 1, 1)
void put_modes(GLOBAL const NUMBER2* RESTRICT modes, GLOBAL NUMBER2* RESTRICT box, GLOBAL const NUMBER* RESTRICT factors,
               ulong offset, int n0, int n1, int n2, int fft_order, int conjugate) {
  const uint i = GLOBAL_ID(0), count1 = (uint)(n1 / 2 * 2 + 1), count2 = (uint)(n2 / 2 + 1);
  if (i >= (uint)(n0 / 2 * 2 + 1) * count1 * count2) return;
  const int n[3] = {n0, n1, n2};
  const int k[3] = {(int)(i / (count1 * count2)) - n0 / 2, (int)(i / count2 % count1) - n1 / 2, (int)(i % count2)};
  NUMBER factor = (NUMBER)0.5;
  int before = 0;
  UNROLL for (int axis = 0; axis < 3; ++axis) {
    factor *= factors[before + n[axis] / 2 - abs(k[axis])];
    before += n[axis];
  }
  const NUMBER2 mode = mode_of(modes + offset, n, k, 1, fft_order), opposite = mode_of(modes + offset, n, k, -1, fft_order);
  const NUMBER im = (mode.y - opposite.y) * factor;
  box[i] = MAKE2((mode.x + opposite.x) * factor, conjugate ? -im : im);
}

KERNEL WORK_GROUP(GROUP, 1, 1)
void take_modes(GLOBAL const NUMBER2* RESTRICT box, GLOBAL NUMBER2* RESTRICT modes, GLOBAL const NUMBER* RESTRICT factors,
                ulong offset, int n0, int n1, int n2, int fft_order, int conjugate) {
  const uint i = GLOBAL_ID(0);
  if (i >= (uint)n0 * (uint)n1 * (uint)n2) return;
  const int n[3] = {n0, n1, n2};
  const int rank[3] = {(int)(i / ((uint)n1 * (uint)n2)), (int)(i / (uint)n2 % (uint)n1), (int)(i % (uint)n2)};
  const int negative = rank[2] < n2 / 2, sign = negative ? -1 : 1;
  ulong from = 0, to = 0;
  NUMBER factor = 1;
  int before = 0;
  UNROLL for (int axis = 0; axis < 3; ++axis) {
    const int half_count = n[axis] / 2, k = sign * (rank[axis] - half_count);
    from = axis == 2 ? from * (ulong)(half_count + 1) + (ulong)k : from * (ulong)(2 * half_count + 1) + (ulong)(k + half_count);
    to = to * (ulong)n[axis] + (ulong)stored_at(rank[axis], n[axis], fft_order);
    factor *= factors[before + rank[axis]];
    before += n[axis];
  }
  const NUMBER2 value = box[from];
  modes[offset + to] = MAKE2(value.x * factor, (negative != conjugate ? -value.y : value.y) * factor);
}
#endif

#if CELL == 2
// out[to + j] = in[from + j] times factors[j], or times their conjugates.
KERNEL WORK_GROUP(GROUP, 1, 1)
void multiply_values(GLOBAL const NUMBER2* RESTRICT in, GLOBAL const NUMBER2* RESTRICT factors,
                     GLOBAL NUMBER2* RESTRICT out, ulong from, ulong to, uint count, int conjugate) {
  const uint j = GLOBAL_ID(0);
  if (j >= count) return;
  const NUMBER2 a = in[from + j], b = factors[j];
  const NUMBER im = conjugate ? -b.y : b.y;
  out[to + j] = MAKE2(a.x * b.x - a.y * im, a.x * im + a.y * b.x);
}
#endif
