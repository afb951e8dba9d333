// Three-wise (ternary tree) variance of 8-bit images, windows of 9 or 27 in both directions. A work-item has one column
// and moves down the image. 3 x 3 cells are summed in integers; three such parts in a row are joined, then three of
// those, horizontally through local memory and vertically from rows kept in registers.
// A part is its sum and nine times the squares about its mean. Three parts of n values each have M = M_a + M_b + M_c +
// 6 / n (x^2 + y (y - x)) with x = S_a - S_b, y = S_c - S_b. TOGETHER: rows between two barriers; it must divide 18.
#define ITEMS_HERE 256
#define BESIDE (WINDOW_COLUMNS / 2)
#define EDGE (WINDOW_COLUMNS == 27 ? 9 : 3)
#define LINE (ITEMS_HERE + 2 * EDGE)

// The three pixels around x as two words, shifted when used: a load is waited for only at its use.
FUNCTION uint2 three_of(GLOBAL const uchar* in, ulong pitch, int row, int x, int whole, int x0, int x1, int x2) {
  uint2 three = make_uint2((uint)BEYOND * 0x01010101u, (uint)BEYOND * 0x01010101u);
  GLOBAL const uchar* line = in + (ulong)(row < 0 ? 0 : row) * pitch;
  if (whole && row >= 0) {
    GLOBAL const uint* words = (GLOBAL const uint*)(line + ((x - 1) & ~3));
    three.x = LOAD_CACHED(words);
    three.y = LOAD_CACHED(words + 1);
  }
  if (!whole && row >= 0) {
    const uint a = x0 < 0 ? (uint)BEYOND : line[x0], b = x1 < 0 ? (uint)BEYOND : line[x1];
    const uint c = x2 < 0 ? (uint)BEYOND : line[x2];
    three.x = a | b << 8 | c << 16;
  }
  return three;
}

FUNCTION float2 joined(float2 a, float2 b, float2 c, float share) {  // share: 6 / n
  const float x = a.x - b.x, y = c.x - b.x;
  return make_float2(a.x + b.x + c.x, FMA(share, FMA(x, x, y * (y - x)), a.y + b.y + c.y));
}

KERNEL WORK_GROUP_RESIDENT(256, 1, 1, 2)
void variance(GLOBAL const uchar* RESTRICT image, ulong offset, ulong pitch, GLOBAL float* RESTRICT out, ulong out_offset,
              ulong out_pitch, int rows, int columns, int chunk, int aligned, int out_aligned) {
  LOCAL_ARRAY(float2, nines, TOGETHER * LINE);
#if WINDOW_COLUMNS == 27
  LOCAL_ARRAY(float2, wide, TOGETHER * LINE);
#endif
  GLOBAL const uchar* in = image + offset;
  const int t = LOCAL_ID(0), x = (int)GROUP_ID(0) * (ITEMS_HERE - 2 * BESIDE) + t - BESIDE;
  const int top = (int)GROUP_ID(1) * chunk, here = chunk < rows - top ? chunk : rows - top;
  const int whole = aligned && x >= 1 && ((x - 1) & ~3) + 7 < columns;
  const int writes = t >= BESIDE && t < ITEMS_HERE - BESIDE && x < columns;
  const int x0 = bordered(x - 1, columns), x1 = bordered(x, columns), x2 = bordered(x + 1, columns);
  const int first = top - WINDOW_ROWS / 2, shift = whole ? 8 * ((x - 1) & 3) : 0;
  GLOBAL float* to = out + out_offset + (ulong)(writes ? x : 0);
  int sum_1 = 0, sum_2 = 0, squares_1 = 0, squares_2 = 0;  // sums of three cells, of the previous rows
  float2 three_rows[6];  // as wide as the window, three rows high
  UNROLL
  for (int i = 0; i < 6; ++i) three_rows[i] = make_float2(0.0f, 0.0f);
#if WINDOW_ROWS == 27
  float2 nine_rows[18];  // nine rows high
  UNROLL
  for (int i = 0; i < 18; ++i) nine_rows[i] = make_float2(0.0f, 0.0f);
#endif
  uint2 next[TOGETHER];
  UNROLL
  for (int k = 0; k < TOGETHER; ++k) next[k] = three_of(in, pitch, bordered(first + k, rows), x, whole, x0, x1, x2);
  for (int begin = 0; begin < here + WINDOW_ROWS - 1; begin += 18) {
    UNROLL
    for (int part = 0; part < 18; part += TOGETHER) {
      float2 own[TOGETHER];
      UNROLL
      for (int k = 0; k < TOGETHER; ++k) {
        const uint three = (uint)(((ulong)next[k].y << 32 | (ulong)next[k].x) >> shift) & 0xffffffu;
        const int sum = (int)BYTES_DOT(three, 0x010101u, 0u), squares = (int)BYTES_DOT(three, three, 0u);
        const int nine = sum + sum_1 + sum_2;
        own[k] = make_float2((float)nine, (float)(9 * (squares + squares_1 + squares_2) - nine * nine));
        sum_2 = sum_1;
        sum_1 = sum;
        squares_2 = squares_1;
        squares_1 = squares;
        nines[k * LINE + EDGE + t] = own[k];
      }
      UNROLL
      for (int k = 0; k < TOGETHER; ++k) {
        next[k] = three_of(in, pitch, bordered(first + begin + part + TOGETHER + k, rows), x, whole, x0, x1, x2);
      }
      BARRIER();
      UNROLL
      for (int k = 0; k < TOGETHER; ++k) {
        LOCAL const float2* line = nines + k * LINE + EDGE + t;
        own[k] = joined(line[-3], own[k], line[3], 6.0f / 9.0f);
#if WINDOW_COLUMNS == 27
        wide[k * LINE + EDGE + t] = own[k];
#endif
      }
      BARRIER();
      UNROLL
      for (int k = 0; k < TOGETHER; ++k) {
        const int i = part + k;
#if WINDOW_COLUMNS == 27
        LOCAL const float2* line = wide + k * LINE + EDGE + t;
        const float2 across = joined(line[-9], own[k], line[9], 6.0f / 27.0f);
        const float cells = 81.0f;
#else
        const float2 across = own[k];
        const float cells = 27.0f;
#endif
        const float2 nine = joined(three_rows[i % 6], three_rows[(i + 3) % 6], across, 6.0f / cells);
        three_rows[i % 6] = across;
#if WINDOW_ROWS == 27
        const float2 all = joined(nine_rows[i], nine_rows[(i + 9) % 18], nine, 2.0f / cells);
        nine_rows[i] = nine;
#else
        const float2 all = nine;
#endif
        const int row = begin + i - (WINDOW_ROWS - 1);
        if (writes && row >= 0 && row < here) {
          to[(ulong)(top + row) * out_pitch] = all.y * (1.0f / (9.0f * (float)(WINDOW_ROWS * WINDOW_COLUMNS)));
        }
      }
    }
  }
}
