// Variance of every pixel's window by any method, one pixel per work-item, one cell at a time: any window, depth and
// border. METHOD: 0 two-pass, 1 Koenig, 2 online, 3 trees of BASE, 4 exact. PIXEL: uchar, ushort or float.
#define CELLS (WINDOW_ROWS * WINDOW_COLUMNS)

FUNCTION PIXEL pixel_at(GLOBAL const PIXEL* in, ulong pitch, int rows, int columns, int r, int c) {
  const int y = bordered(r, rows), x = bordered(c, columns);
  return y < 0 || x < 0 ? (PIXEL)BEYOND : in[(ulong)y * pitch + (ulong)x];
}

#if METHOD == 3
// Joins two parts of `a` and `b` values, each with its sum and its squares about the mean (Chan's formula for any
// sizes).
FUNCTION void join(float a, float* sum, float* within, float b, float other_sum, float other_within) {
  const float apart = b * *sum - a * other_sum;
  *within += other_within + apart * apart / (a * b * (a + b));
  *sum += other_sum;
}
#endif

KERNEL WORK_GROUP(32, 8, 1) void variance(GLOBAL const PIXEL* RESTRICT image, ulong offset, ulong pitch,
                                          GLOBAL float* RESTRICT out, ulong out_offset, ulong out_pitch, int rows,
                                          int columns) {
  const int c = (int)GLOBAL_ID(0), r = (int)GLOBAL_ID(1);
  if (c >= columns || r >= rows) return;
  GLOBAL const PIXEL* in = image + offset;
  const int top = r - WINDOW_ROWS / 2, left = c - WINDOW_COLUMNS / 2;
#if METHOD == 0
  float sum = 0.0f, squares = 0.0f;
  for (int k = 0; k < CELLS; ++k) {
    sum += (float)pixel_at(in, pitch, rows, columns, top + k / WINDOW_COLUMNS, left + k % WINDOW_COLUMNS);
  }
  const float mean = sum / (float)CELLS;
  for (int k = 0; k < CELLS; ++k) {
    const float d = (float)pixel_at(in, pitch, rows, columns, top + k / WINDOW_COLUMNS, left + k % WINDOW_COLUMNS) - mean;
    squares = FMA(d, d, squares);
  }
  const float result = squares / (float)CELLS;
#elif METHOD == 1
  float sum = 0.0f, squares = 0.0f;
  for (int k = 0; k < CELLS; ++k) {
    const float x = (float)pixel_at(in, pitch, rows, columns, top + k / WINDOW_COLUMNS, left + k % WINDOW_COLUMNS);
    sum += x;
    squares = FMA(x, x, squares);
  }
  const float mean = sum / (float)CELLS;
  const float result = squares / (float)CELLS - mean * mean;
#elif METHOD == 2
  float mean = 0.0f, squares = 0.0f;
  for (int k = 0; k < CELLS; ++k) {
    const float x = (float)pixel_at(in, pitch, rows, columns, top + k / WINDOW_COLUMNS, left + k % WINDOW_COLUMNS);
    const float d = x - mean;
    mean += d / (float)(k + 1);
    squares = FMA(d, x - mean, squares);
  }
  const float result = squares / (float)CELLS;
#elif METHOD == 3
  // A counter in base BASE whose digits are complete parts: BASE parts of one size are joined to one of the next size.
  float sums[DIGITS * (BASE - 1)], within[DIGITS * (BASE - 1)];
  int digits[DIGITS];
  for (int i = 0; i < DIGITS; ++i) digits[i] = 0;
  for (int k = 0; k < CELLS; ++k) {
    float sum = (float)pixel_at(in, pitch, rows, columns, top + k / WINDOW_COLUMNS, left + k % WINDOW_COLUMNS);
    float m = 0.0f, size = 1.0f;
    int i = 0;
    for (; digits[i] == BASE - 1; ++i) {
      const int first = i * (BASE - 1);
#if BASE == 3
      const float a = sums[first] - sums[first + 1], b = sum - sums[first + 1];
      m += within[first] + within[first + 1] + (a * a + b * (b - a)) * (2.0f / 3.0f) / size;
      sum += sums[first] + sums[first + 1];
#else
      const float a = sums[first] - sum;
      m += within[first] + a * a * 0.5f / size;
      sum += sums[first];
#endif
      digits[i] = 0;
      size *= (float)BASE;
    }
    sums[i * (BASE - 1) + digits[i]] = sum;
    within[i * (BASE - 1) + digits[i]] = m;
    ++digits[i];
  }
  float all = 0.0f, m = 0.0f, count = 0.0f, size = 1.0f;
  for (int i = 0; i < DIGITS; ++i, size *= (float)BASE) {
    for (int k = 0; k < digits[i]; ++k) {
      const int at = i * (BASE - 1) + k;
      if (count == 0.0f) {
        all = sums[at];
        m = within[at];
      } else {
        join(count, &all, &m, size, sums[at], within[at]);
      }
      count += size;
    }
  }
  const float result = m / (float)CELLS;
#else
  // n M2 = n q - s^2 without overlong products: with s = n d + e, M2 = q - d (s + e) - e^2 / n.
  ulong sum = 0, squares = 0;
  for (int k = 0; k < CELLS; ++k) {
    const ulong x = pixel_at(in, pitch, rows, columns, top + k / WINDOW_COLUMNS, left + k % WINDOW_COLUMNS);
    sum += x;
    squares += x * x;
  }
  const ulong d = sum / (ulong)CELLS, e = sum % (ulong)CELLS;
  const float result = ((float)(squares - d * (sum + e)) - (float)(e * e) / (float)CELLS) / (float)CELLS;
#endif
  out[out_offset + (ulong)r * out_pitch + (ulong)c] = result > 0.0f || METHOD == 1 ? result : 0.0f;
}
