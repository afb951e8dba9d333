// Separable filter: along the rows, then along the columns.    sequential_separable [N [RADIUS [ROUNDS]]]
#include <cstdlib>

#include "shown.hpp"

void separable(const float* in, const float* weights, int rows, int columns, int radius, float* out) {
  std::vector<float> across(rows * columns);
  for (int r = 0; r < rows; ++r)
    for (int c = radius; c < columns - radius; ++c) {
      float sum = 0;
      for (int k = -radius; k <= radius; ++k) sum += weights[k + radius] * in[r * columns + c + k];
      across[r * columns + c] = sum;
    }
  for (int r = radius; r < rows - radius; ++r)
    for (int c = radius; c < columns - radius; ++c) {
      float sum = 0;
      for (int k = -radius; k <= radius; ++k) sum += weights[k + radius] * across[(r + k) * columns + c];
      out[r * columns + c] = sum;
    }
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 64, radius = argc > 2 ? std::atoi(argv[2]) : 4;
  if (n < 1 || radius < 0) return 1;
  const auto in = sequential::numbers(std::size_t(n) * n, 1), weights = sequential::numbers(2 * radius + 1, 2);
  std::vector<float> out(std::size_t(n) * n);
  sequential::show("separable", argc > 3 ? std::atoi(argv[3]) : 1, out, [&] {
    return sequential::seconds_of([&] { separable(in.data(), weights.data(), n, n, radius, out.data()); });
  });
  return 0;
}
