// Matrix product c = a b by three nested loops.    sequential_matrix_product [N [ROUNDS]]
#include <cstdlib>

#include "shown.hpp"

void matrix_product(const float* a, const float* b, float* c, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 64;
  if (n < 1) return 1;
  const auto a = sequential::numbers(std::size_t(n) * n, 1), b = sequential::numbers(std::size_t(n) * n, 2);
  std::vector<float> c(std::size_t(n) * n);
  sequential::show("matrix_product", argc > 2 ? std::atoi(argv[2]) : 1, c,
                   [&] { return sequential::seconds_of([&] { matrix_product(a.data(), b.data(), c.data(), n); }); });
  return 0;
}
