// Local variance of a synthetic scan by five methods, with the error of each against two passes in double precision.
#include "variance.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  const int rows = argc > 2 ? std::atoi(argv[1]) : 60, columns = argc > 2 ? std::atoi(argv[2]) : 80;
  if (rows < 1 || columns < 1) {
    std::fprintf(stderr, "sequential_variance_scan [ROWS COLUMNS]\n");
    return 1;
  }
  std::vector<float> scan(rows * columns);
  unsigned state = 1;
  for (float& value : scan) {
    state = state * 1664525u + 1013904223u;
    value = float(96 + (state >> 24) % 64);
  }
  struct Method {
    const char* name;
    int window;
    void (*run)(const float*, int, int, int, float*);
  };
  const Method methods[] = {{"two-pass", 27, sequential::variance_two_pass},
                            {"koenig", 27, sequential::variance_koenig},
                            {"online", 27, sequential::variance_online},
                            {"pairwise", 32, sequential::variance_pairwise},
                            {"three-wise", 27, sequential::variance_three_wise}};
  double worst_of_all = 0;
  for (const Method& method : methods) {
    const int n = method.window, wide = columns + n - 1;
    std::vector<float> padded((rows + n - 1) * wide), out(rows * columns);
    sequential::pad_reflected(scan.data(), rows, columns, n, padded.data());
    method.run(padded.data(), rows, columns, n, out.data());
    double worst = 0;
    for (int r = 0; r < rows; r += 7)
      for (int c = 0; c < columns; c += 5) {
        double sum = 0, squares = 0;
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) sum += padded[(r + i) * wide + c + j];
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) squares += std::pow(padded[(r + i) * wide + c + j] - sum / (n * n), 2);
        const double error = std::fabs(out[r * columns + c] / (squares / (n * n)) - 1);
        if (!(error <= worst)) worst = error;
      }
    std::printf("%-10s %dx%d: worst relative error %.1e\n", method.name, n, n, worst);
    if (!(worst <= worst_of_all)) worst_of_all = worst;
  }
  return worst_of_all < 1e-3 ? 0 : 1;
}
