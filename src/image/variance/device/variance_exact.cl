// Exact variance of 8-bit images in integers, with one rounding at the end. A work-item has four columns and moves down
// the image: it adds the row that enters the window and subtracts the one that leaves. Sums across the window are
// formed from sums of four columns and, at its ends, of single columns.
// LEFT, RIGHT: columns of the window on either side of the pixel. FIRST_FOUR to LAST_FOUR: the groups of four columns
// entirely within the first pixel's window, relative to its own. EDGE_LEFT, EDGE_RIGHT: single columns before and after
// them.
#define ITEMS_HERE 128
#if defined(__CUDACC_RTC__) || defined(RIDGE_OVERLOAD)
#define AHEAD 4  // rows in flight
#else
#define AHEAD 1
#endif
#define FOURS_LEFT ((LEFT + 3) / 4)
#define FOURS_RIGHT ((RIGHT + 3) / 4)
#define CELLS (WINDOW_ROWS * WINDOW_COLUMNS)

// Four pixels of a row; `row` < 0: the constant. Pixels inside the image are loaded without a branch, so that the load
// is not waited for before its use; only the image's edges take the other path.
FUNCTION uint four_of(GLOBAL const uchar* in, ulong pitch, int row, int x, int whole, int x0, int x1, int x2, int x3) {
  uint four = (uint)BEYOND * 0x01010101u;
  GLOBAL const uchar* line = in + (ulong)(row < 0 ? 0 : row) * pitch;
  if (whole && row >= 0) four = LOAD_CACHED((GLOBAL const uint*)(line + x));
  if (!whole && row >= 0) {
    const uint a = x0 < 0 ? (uint)BEYOND : line[x0], b = x1 < 0 ? (uint)BEYOND : line[x1];
    const uint c = x2 < 0 ? (uint)BEYOND : line[x2], d = x3 < 0 ? (uint)BEYOND : line[x3];
    four = a | b << 8 | c << 16 | d << 24;
  }
  return four;
}

// Sums of columns 0 and 2, and of 1 and 3, in half-words; squares that entered and that left, modulo 2^32.
FUNCTION void replace(uint fresh, uint stale, uint* even, uint* odd, uint* came, uint* went) {
  *even += (fresh & 0xff00ffu) - (stale & 0xff00ffu);
  *odd += (fresh >> 8 & 0xff00ffu) - (stale >> 8 & 0xff00ffu);
  UNROLL
  for (int k = 0; k < 4; ++k) {
    came[k] = BYTES_DOT(fresh & 255u << 8 * k, fresh, came[k]);
    went[k] = BYTES_DOT(stale & 255u << 8 * k, stale, went[k]);
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
  LOCAL_ARRAY(uint2, columns_sums, 8 * ITEMS_HERE);  // two rows, used alternately; column k of every four, then k + 1
  LOCAL_ARRAY(uint2, fours_sums, 2 * ITEMS_HERE);
  GLOBAL const uchar* in = image + offset;
  const int t = LOCAL_ID(0);
  const int x = 4 * ((int)GROUP_ID(0) * (ITEMS_HERE - FOURS_LEFT - FOURS_RIGHT) + t - FOURS_LEFT);
  const int top = (int)GROUP_ID(1) * chunk, here = chunk < rows - top ? chunk : rows - top;
  const int whole = aligned && x >= 0 && x + 3 < columns;
  const int writes = t >= FOURS_LEFT && t < ITEMS_HERE - FOURS_RIGHT && x < columns;
  const int x0 = bordered(x, columns), x1 = bordered(x + 1, columns);
  const int x2 = bordered(x + 2, columns), x3 = bordered(x + 3, columns);
  uint even = 0, odd = 0, came[4], went[4];
  UNROLL
  for (int k = 0; k < 4; ++k) {
    came[k] = 0;
    went[k] = 0;
  }
  int next = top - WINDOW_ROWS / 2;  // the row that enters next
  for (int step = 0; step < WINDOW_ROWS - 1; ++step, ++next) {
    replace(four_of(in, pitch, bordered(next, rows), x, whole, x0, x1, x2, x3), 0u, &even, &odd, came, went);
  }
  uint fresh[AHEAD], stale[AHEAD];
  UNROLL
  for (int k = 0; k < AHEAD; ++k) {
    fresh[k] = four_of(in, pitch, bordered(next + k, rows), x, whole, x0, x1, x2, x3);
    stale[k] = k == 0 ? 0u : four_of(in, pitch, bordered(next + k - WINDOW_ROWS, rows), x, whole, x0, x1, x2, x3);
  }
  GLOBAL float* to = out + out_offset + (ulong)top * out_pitch + (ulong)(writes ? x : 0);
  for (int begin = 0; begin < here; begin += AHEAD) {
    UNROLL
    for (int slot = 0; slot < AHEAD; ++slot, ++next, to += out_pitch) {
      const int step = begin + slot;
      replace(fresh[slot], stale[slot], &even, &odd, came, went);
      // The load for a later row is in flight while this one is computed.
      fresh[slot] = four_of(in, pitch, bordered(next + AHEAD, rows), x, whole, x0, x1, x2, x3);
      stale[slot] = four_of(in, pitch, bordered(next + AHEAD - WINDOW_ROWS, rows), x, whole, x0, x1, x2, x3);
      LOCAL uint2* single = columns_sums + (step & 1) * 4 * ITEMS_HERE + t;
      LOCAL uint2* four = fours_sums + (step & 1) * ITEMS_HERE + t;
      const uint s0 = even & 0xffffu, s1 = odd & 0xffffu, s2 = even >> 16, s3 = odd >> 16;
      const uint q0 = came[0] - went[0], q1 = came[1] - went[1], q2 = came[2] - went[2], q3 = came[3] - went[3];
      single[0] = make_uint2(s0, q0);
      single[ITEMS_HERE] = make_uint2(s1, q1);
      single[2 * ITEMS_HERE] = make_uint2(s2, q2);
      single[3 * ITEMS_HERE] = make_uint2(s3, q3);
      four[0] = make_uint2(s0 + s1 + s2 + s3, q0 + q1 + q2 + q3);
      BARRIER();
      if (writes && step < here) {
        uint sum = 0, squares = 0;
        UNROLL
        for (int c = -LEFT; c < -LEFT + EDGE_LEFT; ++c) {
          const uint2 one = single[(c & 3) * ITEMS_HERE + (c >> 2)];
          sum += one.x;
          squares += one.y;
        }
        UNROLL
        for (int f = FIRST_FOUR; f <= LAST_FOUR; ++f) {
          const uint2 one = four[f];
          sum += one.x;
          squares += one.y;
        }
        UNROLL
        for (int c = RIGHT - EDGE_RIGHT + 1; c <= RIGHT; ++c) {
          const uint2 one = single[(c & 3) * ITEMS_HERE + (c >> 2)];
          sum += one.x;
          squares += one.y;
        }
        float result[4];
        result[0] = variance_of(sum, squares);
        UNROLL
        for (int k = 1; k < 4; ++k) {
          const int in_column = RIGHT + k, out_column = k - 1 - LEFT;
          const uint2 comes = single[(in_column & 3) * ITEMS_HERE + (in_column >> 2)];
          const uint2 goes = single[(out_column & 3) * ITEMS_HERE + (out_column >> 2)];
          sum += comes.x - goes.x;
          squares += comes.y - goes.y;
          result[k] = variance_of(sum, squares);
        }
        if (out_aligned && x + 3 < columns) {
          STORE_ONCE((GLOBAL float4*)to, make_float4(result[0], result[1], result[2], result[3]));
        } else {
          UNROLL
          for (int k = 0; k < 4; ++k) {
            if (x + k < columns) to[k] = result[k];
          }
        }
      }
    }
  }
}
