// Jacobi iteration for heat conduction on a plate.    sequential_jacobi [N [STEPS [ROUNDS]]]
#include <cstdlib>

#include "shown.hpp"

void jacobi(float* a, float* b, int n, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        b[i * n + j] =
            0.2f * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i + 1) * n + j] + a[(i - 1) * n + j]);
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        a[i * n + j] =
            0.2f * (b[i * n + j] + b[i * n + j - 1] + b[i * n + j + 1] + b[(i + 1) * n + j] + b[(i - 1) * n + j]);
  }
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 64, steps = argc > 2 ? std::atoi(argv[2]) : 3;
  if (n < 1) return 1;
  const auto start = sequential::numbers(std::size_t(n) * n, 1);
  std::vector<float> a(start), b(start);
  sequential::show("jacobi", argc > 3 ? std::atoi(argv[3]) : 1, a, [&] {
    a = start;
    b = start;
    return sequential::seconds_of([&] { jacobi(a.data(), b.data(), n, steps); });
  });
  return 0;
}
