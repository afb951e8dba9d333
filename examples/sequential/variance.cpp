// Local variance by the two-pass, König, Welford, pairwise and three-wise methods.
#include "variance.hpp"

#include <vector>

namespace sequential {

void pad_reflected(const float* in, int rows, int columns, int window, float* out) {
  const int wide = columns + window - 1, before = window / 2;
  for (int r = 0; r < rows + window - 1; ++r)
    for (int c = 0; c < wide; ++c) {
      int y = r - before, x = c - before;
      while (rows > 1 && (y < 0 || y >= rows)) y = y < 0 ? -y : 2 * (rows - 1) - y;
      while (columns > 1 && (x < 0 || x >= columns)) x = x < 0 ? -x : 2 * (columns - 1) - x;
      if (rows == 1) y = 0;
      if (columns == 1) x = 0;
      out[r * wide + c] = in[y * columns + x];
    }
}

// Two-pass: the mean first, then the squared deviations.
void variance_two_pass(const float* in, int rows, int columns, int window, float* out) {
  const int wide = columns + window - 1;
  const float count = float(window * window);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      float sum = 0;
      for (int i = 0; i < window; ++i)
        for (int j = 0; j < window; ++j) sum += in[(r + i) * wide + c + j];
      const float mean = sum / count;
      float squares = 0;
      for (int i = 0; i < window; ++i)
        for (int j = 0; j < window; ++j) {
          const float d = in[(r + i) * wide + c + j] - mean;
          squares += d * d;
        }
      out[r * columns + c] = squares / count;
    }
}

// König: E[x^2] - E[x]^2.
void variance_koenig(const float* in, int rows, int columns, int window, float* out) {
  const int wide = columns + window - 1;
  const float count = float(window * window);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      float sum = 0, squares = 0;
      for (int i = 0; i < window; ++i)
        for (int j = 0; j < window; ++j) {
          const float x = in[(r + i) * wide + c + j];
          sum += x;
          squares += x * x;
        }
      out[r * columns + c] = squares / count - (sum / count) * (sum / count);
    }
}

// Welford: updates mean and squared deviations with each value.
void variance_online(const float* in, int rows, int columns, int window, float* out) {
  const int wide = columns + window - 1;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      float mean = 0, squares = 0;
      for (int i = 0; i < window; ++i)
        for (int j = 0; j < window; ++j) {
          const float x = in[(r + i) * wide + c + j], d = x - mean;
          mean += d / float(i * window + j + 1);
          squares += d * (x - mean);
        }
      out[r * columns + c] = squares / float(window * window);
    }
}

// Chan: joins two sets of n values, M = Ma + Mb + (Sa - Sb)^2 / 2n. Along the columns first, then along the rows, with
// strides 1, 2, 4, ...: each partial result is shared by all windows that contain it.
void variance_pairwise(const float* in, int rows, int columns, int window, float* out) {
  const int wide = columns + window - 1, tall = rows + window - 1;
  std::vector<float> sum(in, in + tall * wide), squares(tall * wide, 0.0f);
  float count = 1;
  for (int stride = 1; stride < window; stride *= 2) {
    for (int r = 0; r + stride < tall; ++r)
      for (int c = 0; c < wide; ++c) {
        const float a = sum[r * wide + c], b = sum[(r + stride) * wide + c];
        squares[r * wide + c] += squares[(r + stride) * wide + c] + (a - b) * (a - b) / (2 * count);
        sum[r * wide + c] = a + b;
      }
    count *= 2;
  }
  for (int stride = 1; stride < window; stride *= 2) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c + stride < wide; ++c) {
        const float a = sum[r * wide + c], b = sum[r * wide + c + stride];
        squares[r * wide + c] += squares[r * wide + c + stride] + (a - b) * (a - b) / (2 * count);
        sum[r * wide + c] = a + b;
      }
    count *= 2;
  }
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) out[r * columns + c] = squares[r * wide + c] / count;
}

// The same with three sets: M = sum of M + sum of the squares of the three differences / 3n.
void variance_three_wise(const float* in, int rows, int columns, int window, float* out) {
  const int wide = columns + window - 1, tall = rows + window - 1;
  std::vector<float> sum(in, in + tall * wide), squares(tall * wide, 0.0f);
  float count = 1;
  for (int stride = 1; stride < window; stride *= 3) {
    for (int r = 0; r + 2 * stride < tall; ++r)
      for (int c = 0; c < wide; ++c) {
        const int k = r * wide + c, k1 = k + stride * wide, k2 = k1 + stride * wide;
        const float a = sum[k], b = sum[k1], d = sum[k2];
        squares[k] +=
            squares[k1] + squares[k2] + ((a - b) * (a - b) + (b - d) * (b - d) + (a - d) * (a - d)) / (3 * count);
        sum[k] = a + b + d;
      }
    count *= 3;
  }
  for (int stride = 1; stride < window; stride *= 3) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c + 2 * stride < wide; ++c) {
        const int k = r * wide + c, k1 = k + stride, k2 = k1 + stride;
        const float a = sum[k], b = sum[k1], d = sum[k2];
        squares[k] +=
            squares[k1] + squares[k2] + ((a - b) * (a - b) + (b - d) * (b - d) + (a - d) * (a - d)) / (3 * count);
        sum[k] = a + b + d;
      }
    count *= 3;
  }
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) out[r * columns + c] = squares[r * wide + c] / count;
}

}  // namespace sequential
