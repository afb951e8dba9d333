// Spreading and interpolation of float points on the matrix units, appended to nonuniform.cl. Points are sorted by tiles of
// STEP x STEP first cells (in three dimensions also by first plane), so the boxes of a tile's points lie in TILE x TILE cells.
//
// TILE, STEP    cells per axis of a tile with and without its border; STEP is even
// POLYNOMIALS   coefficients of the kernel's polynomials
// PRODUCTS      3: factors are split into two TF32 numbers, and three products give float's precision; 1: one rounded product
// PAIRED        1: the fastest axis has an even number of cells, so two neighbours are loaded at once
#define ROW 24 /* numbers per zero-padded row of weights: rows of four points are in different banks */
#define DEEP 9 /* numbers per point of the weights along the slowest axis */

CONSTANT_TABLE float polynomials[TABLE] = POLYNOMIALS;

// TF32 number next to v. What is left of v is a TF32 number again, up to 2^-22 of v.
FUNCTION float high_part(float v) { return FLOAT_OF((BITS_OF(v) + 0x1000u) & 0xffffe000u); }

// d += a b for fragments of 16 x 8 and 8 x 8.
#define MULTIPLY(d, a, b)                                                              \
  MATRIX_TF32(scratch, d, a[0], a[1], a[2], a[3], b[0], b[1])
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

// Weights of all cells. The kernel is even: cells c and WIDTH - 1 - c share the even and odd parts of one polynomial.
FUNCTION void all_weights(float s, float* w) {
  const float square = s * s;
  UNROLL for (int c = 0; c < (WIDTH + 1) / 2; ++c) {
    float even = polynomials[(TERMS - 1) % 2 * WIDTH + c], odd = polynomials[TERMS % 2 * WIDTH + c];
    UNROLL for (int p = (TERMS - 1) % 2 + 2; p < TERMS; p += 2) even = FMA(even, square, polynomials[p * WIDTH + c]);
    UNROLL for (int p = TERMS % 2 + 2; p < TERMS; p += 2) odd = FMA(odd, square, polynomials[p * WIDTH + c]);
    w[c] = FMA(odd, s, even);
    w[WIDTH - 1 - c] = 2 * c == WIDTH - 1 ? even : FMA(-odd, s, even);
  }
}

// A row of TILE numbers: zeros, and the weights of a coordinate from its first cell on. Returns that cell.
FUNCTION void put_row(LOCAL float* row, float x, int cells, int origin) {
  float s, w[WIDTH];
  const int left = place(x, cells, &s) - origin;
  all_weights(s, w);
  UNROLL for (int k = 0; k < TILE; k += 4) *(LOCAL float4*)(row + k) = make_float4(0, 0, 0, 0);
  UNROLL for (int k = 0; k < WIDTH; ++k) row[left + k] = w[k];
}

#if AXES == 3
// Weights along the slowest axis; returns the first plane.
FUNCTION int put_depth(LOCAL float* depth, float x, int cells) {
  float s, w[WIDTH];
  const int first = place(x, cells, &s);
  all_weights(s, w);
  UNROLL for (int k = 0; k < WIDTH; ++k) depth[k] = w[k];
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
#define HELD 1           /* halves of a tile's columns per 32 work-items */
#define HELD_PLANES WIDTH
#define SPREAD_ITEMS 64
#define READ_ITEMS 128
#define SPREAD_GROUP WORK_GROUP_RESIDENT(SPREAD_ITEMS, 1, 1, 8)
#else
#define HELD 2
#define HELD_PLANES 1
#define SPREAD_ITEMS 32
#define READ_ITEMS 32
#define SPREAD_GROUP WORK_GROUP(SPREAD_ITEMS, 1, 1)
#endif

FUNCTION void add_pair(GLOBAL float* to, float re, float im) {
  if (re == 0 && im == 0) return;
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(re), "f"(im) : "memory");
#else
  ADD_TO(to, re);
  ADD_TO(to + 1, im);
#endif
}

// Adds a piece of the points of one tile to the grid. Eight points with the same first plane are one product per plane: 16
// rows of weights along the second axis times strengths, by the weights along the fastest axis times that of the plane. In
// three dimensions 32 work-items own half of the columns and keep WIDTH planes in registers, a window that slides.
KERNEL SPREAD_GROUP
void spread_matrix(GLOBAL const float* RESTRICT records, GLOBAL const uint* RESTRICT pieces,
                   GLOBAL const float2* RESTRICT strengths, GLOBAL float* RESTRICT grid, ulong offset, int cells0,
                   int cells1, int cells2, int tiles) {
  LOCAL_ARRAY(float4, across, SPREAD_ITEMS * ROW / 4);
  LOCAL_ARRAY(float4, down, SPREAD_ITEMS * ROW / 4);
  LOCAL_ARRAY(float2, strength, SPREAD_ITEMS);
#if AXES == 3
  LOCAL_ARRAY(float, deep, SPREAD_ITEMS * DEEP);
  LOCAL_ARRAY(int, plane, SPREAD_ITEMS);
#endif
  MATRIX_SCRATCH(scratch, SPREAD_ITEMS);
  const int item = LOCAL_ID(0), half_tile = AXES == 3 ? item / 32 : 0, g8 = item >> 2 & 7, t4 = item & 3;
  const int tile = (int)pieces[3 * GROUP_ID(0)];
  const uint begin = pieces[3 * GROUP_ID(0) + 1], end = pieces[3 * GROUP_ID(0) + 2];
  const int column0 = tile % tiles * STEP, line0 = tile / tiles * STEP;
  float acc[HELD_PLANES][HELD][2][4];
  UNROLL for (int z = 0; z < HELD_PLANES; ++z) {
    UNROLL for (int i = 0; i < 8 * HELD; ++i) acc[z][i / 8][i / 4 % 2][i % 4] = 0;
  }
  uint cell[HELD][4]; /* of each sum, in its plane */
  UNROLL for (int i = 0; i < 4 * HELD; ++i) {
    cell[i / 4][i % 4] = (uint)((line0 + g8 + i % 4 / 2 * 8) % cells1) * (uint)cells2 +
                         (uint)((column0 + 8 * (i / 4 + half_tile) + 2 * t4 + i % 2) % cells2);
  }
  const ulong plane_cells = (ulong)cells1 * (ulong)cells2;
#define LEAVE_PLANE(from, z)                                                                              \
  UNROLL for (int i = 0; i < 4 * HELD; ++i) {                                                             \
    add_pair(grid + 2 * ((ulong)(from)*plane_cells + cell[i / 4][i % 4]), acc[z][i / 4][0][i % 4],        \
             acc[z][i / 4][1][i % 4]);                                                                    \
  }
  int at = -1; /* first plane of the window; -1: empty */
  for (uint from = begin; from < end; from += SPREAD_ITEMS) {
    const int count = (int)min((uint)SPREAD_ITEMS, end - from);
    BARRIER();
    if (item < count) {
      const float4 record = LOAD_ONCE((GLOBAL const float4*)records + from + (uint)item);
      strength[item] = strengths[offset + LOADED_INDEX(record.w)];
      put_row((LOCAL float*)across + item * ROW, AXES == 3 ? record.z : record.y, cells2, column0);
      put_row((LOCAL float*)down + item * ROW, AXES == 3 ? record.y : record.x, cells1, line0);
#if AXES == 3
      plane[item] = put_depth(deep + item * DEEP, record.x, cells0);
#endif
    }
    BARRIER();
    for (int g = 0; g < count;) {
#if AXES == 3
      const int run = run_of(plane, g, count), first = plane[g];
      if (first != at) {
        if (at < 0 || first - at >= WIDTH) {
          UNROLL for (int z = 0; z < WIDTH; ++z) {
            if (at >= 0) { LEAVE_PLANE((at + z) % cells0, z) }
            UNROLL for (int i = 0; i < 8; ++i) acc[z][0][i / 4][i % 4] = 0;
          }
          at = first;
        }
        for (; at < first; ++at) {
          LEAVE_PLANE(at, 0)
          UNROLL for (int z = 0; z < WIDTH; ++z) {
            UNROLL for (int i = 0; i < 8; ++i) acc[z][0][i / 4][i % 4] = z + 1 < WIDTH ? acc[(z + 1) % WIDTH][0][i / 4][i % 4] : 0;
          }
        }
      }
#else
      const int run = min(8, count - g);
      at = 0;
#endif
      const int p = g + (t4 < run ? t4 : 0), q = g + (t4 + 4 < run ? t4 + 4 : 0);
      const float2 none = make_float2(0, 0), cp = t4 < run ? strength[p] : none, cq = t4 + 4 < run ? strength[q] : none;
      LOCAL const float* row_p = (LOCAL const float*)down + p * ROW + g8;
      LOCAL const float* row_q = (LOCAL const float*)down + q * ROW + g8;
      const float y[4] = {row_p[0], row_p[8], row_q[0], row_q[8]};
      const float re[4] = {y[0] * cp.x, y[1] * cp.x, y[2] * cq.x, y[3] * cq.x};
      const float im[4] = {y[0] * cp.y, y[1] * cp.y, y[2] * cq.y, y[3] * cq.y};
      float high_re[4], low_re[4], high_im[4], low_im[4];
      SPLIT(re, high_re, low_re, 4)
      SPLIT(im, high_im, low_im, 4)
      UNROLL for (int h = 0; h < HELD; ++h) {
        const int column = 8 * (h + half_tile) + g8;
        const float x[2] = {((LOCAL const float*)across)[p * ROW + column], ((LOCAL const float*)across)[q * ROW + column]};
        UNROLL for (int z = 0; z < HELD_PLANES; ++z) {
#if AXES == 3
          const float b[2] = {x[0] * deep[p * DEEP + z], x[1] * deep[q * DEEP + z]};
#else
          const float b[2] = {x[0], x[1]};
#endif
          float high_b[2], low_b[2];
          SPLIT(b, high_b, low_b, 2)
          /* The units truncate sums, so those of many points are added here. */
          float sum_re[4] = {0, 0, 0, 0}, sum_im[4] = {0, 0, 0, 0};
          MULTIPLY_SPLIT(sum_re, high_re, low_re, high_b, low_b);
          MULTIPLY_SPLIT(sum_im, high_im, low_im, high_b, low_b);
          UNROLL for (int i = 0; i < 4; ++i) {
            acc[z][h][0][i] += sum_re[i];
            acc[z][h][1][i] += sum_im[i];
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

// Cells x and x + 1 of a row.
FUNCTION float4 cell_pair(GLOBAL const float2* row, int x0, int x1) {
#if PAIRED
  return LOAD_CACHED((GLOBAL const float4*)(row + x0));
#else
  const float2 a = LOAD_CACHED(row + x0), b = LOAD_CACHED(row + x1);
  return make_float4(a.x, a.y, b.x, b.y);
#endif
}

// Values at a piece of the points of one tile. A plane of 16 rows is the second factor: 32 points x 16 columns of weights times 16
// columns x 8 rows of cells, of which a work-item gets two rows of four points; these are multiplied by the weights of the
// rows and of the plane and added. Fragments store columns 2 t and 2 t + 1 in places t and t + 4.
KERNEL WORK_GROUP(READ_ITEMS, 1, 1)
void interpolate_matrix(GLOBAL const float* RESTRICT records, GLOBAL const uint* RESTRICT pieces,
                        GLOBAL const float2* RESTRICT grid, GLOBAL float2* RESTRICT values, ulong offset, int cells0,
                        int cells1, int cells2, int tiles) {
  LOCAL_ARRAY(float4, across, READ_ITEMS * ROW / 4);
  LOCAL_ARRAY(float4, down, READ_ITEMS * ROW / 4);
  LOCAL_ARRAY(float2, parts, READ_ITEMS * 5);
#if AXES == 3
  LOCAL_ARRAY(float, deep, READ_ITEMS * DEEP);
  LOCAL_ARRAY(int, plane, READ_ITEMS);
#endif
  MATRIX_SCRATCH(scratch, READ_ITEMS);
  const int item = LOCAL_ID(0), warp = item & ~31, g8 = item >> 2 & 7, t4 = item & 3;
  const int tile = (int)pieces[3 * GROUP_ID(0)];
  const uint begin = pieces[3 * GROUP_ID(0) + 1], end = pieces[3 * GROUP_ID(0) + 2];
  const int column0 = tile % tiles * STEP, line0 = tile / tiles * STEP;
  for (uint from = begin; from < end; from += READ_ITEMS) {
    const int count = (int)min((uint)READ_ITEMS, end - from);
    uint index = 0;
    BARRIER();
    if (item < count) {
      const float4 record = LOAD_ONCE((GLOBAL const float4*)records + from + (uint)item);
      index = LOADED_INDEX(record.w);
      put_row((LOCAL float*)across + item * ROW, AXES == 3 ? record.z : record.y, cells2, column0);
      put_row((LOCAL float*)down + item * ROW, AXES == 3 ? record.y : record.x, cells1, line0);
#if AXES == 3
      plane[item] = put_depth(deep + item * DEEP, record.x, cells0);
#endif
    } else {
      UNROLL for (int k = 0; k < TILE; k += 4) {
        *(LOCAL float4*)((LOCAL float*)across + item * ROW + k) = make_float4(0, 0, 0, 0);
        *(LOCAL float4*)((LOCAL float*)down + item * ROW + k) = make_float4(0, 0, 0, 0);
      }
#if AXES == 3
      plane[item] = 1 << 30;
#endif
    }
    BARRIER();
    float high_a[2][2][4], low_a[2][2][4];
    UNROLL for (int i = 0; i < 4; ++i) { /* 16 points, half of the columns */
      LOCAL const float* one = (LOCAL const float*)across + (warp + i / 2 * 16 + g8) * ROW + i % 2 * 8 + 2 * t4;
      const float2 upper = *(LOCAL const float2*)one, lower = *(LOCAL const float2*)(one + 8 * ROW);
      const float a[4] = {upper.x, lower.x, upper.y, lower.y};
      SPLIT(a, high_a[i / 2][i % 2], low_a[i / 2][i % 2], 4)
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
    float total[4][2] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
    for (int z = 0; z < planes; ++z) {
      const int from_plane = lowest + z < cells0 ? lowest + z : lowest + z - cells0;
      float row_sum[4][2] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
      UNROLL for (int n = 0; n < 2; ++n) { /* half of the rows */
        const int line = (line0 + 8 * n + g8) % cells1;
        GLOBAL const float2* row = grid + ((ulong)from_plane * (ulong)cells1 + (ulong)line) * (ulong)cells2;
        float sum[2][2][4];
        UNROLL for (int i = 0; i < 16; ++i) sum[i / 8][i / 4 % 2][i % 4] = 0;
        UNROLL for (int k = 0; k < 2; ++k) {
          const int column = column0 + 8 * k + 2 * t4;
          const float4 cells = cell_pair(row, column % cells2, (column + 1) % cells2);
          const float re[2] = {cells.x, cells.z}, im[2] = {cells.y, cells.w};
          float high_re[2], low_re[2], high_im[2], low_im[2];
          SPLIT(re, high_re, low_re, 2)
          SPLIT(im, high_im, low_im, 2)
          UNROLL for (int m = 0; m < 2; ++m) {
            MULTIPLY_SPLIT(sum[m][0], high_a[m][k], low_a[m][k], high_re, low_re);
            MULTIPLY_SPLIT(sum[m][1], high_a[m][k], low_a[m][k], high_im, low_im);
          }
        }
        UNROLL for (int p = 0; p < 4; ++p) {
          const float2 factor =
              *(LOCAL const float2*)((LOCAL const float*)down + (warp + p * 8 + g8) * ROW + 8 * n + 2 * t4);
          UNROLL for (int part = 0; part < 2; ++part) {
            row_sum[p][part] = FMA(sum[p / 2][part][p % 2 * 2], factor.x, row_sum[p][part]);
            row_sum[p][part] = FMA(sum[p / 2][part][p % 2 * 2 + 1], factor.y, row_sum[p][part]);
          }
        }
      }
      UNROLL for (int p = 0; p < 4; ++p) {
#if AXES == 3
        const int k = lowest + z - plane[warp + p * 8 + g8];
        const float factor = k >= 0 && k < WIDTH ? deep[(warp + p * 8 + g8) * DEEP + k] : 0;
#else
        const float factor = 1;
#endif
        total[p][0] = FMA(row_sum[p][0], factor, total[p][0]);
        total[p][1] = FMA(row_sum[p][1], factor, total[p][1]);
      }
    }
    UNROLL for (int p = 0; p < 4; ++p) parts[(warp + p * 8 + g8) * 5 + t4] = make_float2(total[p][0], total[p][1]);
    BARRIER();
    if (item < count) {
      float2 value = parts[item * 5];
      UNROLL for (int k = 1; k < 4; ++k) {
        value.x += parts[item * 5 + k].x;
        value.y += parts[item * 5 + k].y;
      }
      values[offset + index] = value;
    }
  }
}
