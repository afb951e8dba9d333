// SimpleFlow on two synthetic frames, the second shifted by (2, 3): mean flow and largest error inside.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "simple_flow.hpp"

int main(int argc, char** argv) {
  const int rows = argc > 2 ? std::atoi(argv[1]) : 72, columns = argc > 2 ? std::atoi(argv[2]) : 96;
  if (rows < 1 || columns < 1) {
    std::fprintf(stderr, "sequential_flow_pair [ROWS COLUMNS]\n");
    return 1;
  }
  std::vector<float> first(rows * columns * 3), second(rows * columns * 3), u, v;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      for (int k = 0; k < 3; ++k) {
        const auto color = [&](double y, double x) {
          const double wave = std::sin(0.31 * y + 0.17 * x + k) + std::sin(0.11 * y - 0.37 * x + 2 * k) +
                              std::sin(0.05 * y + 0.23 * x) * std::sin(0.19 * y);
          return float(std::lrint(128 + 40 * wave));
        };
        first[(r * columns + c) * 3 + k] = color(r, c);
        second[(r * columns + c) * 3 + k] = color(r - 2, c - 3);
      }
  sequential::simple_flow(first, second, rows, columns, {}, u, v);
  double sum_u = 0, sum_v = 0, worst = 0;
  for (int i = 0; i < rows * columns; ++i) {
    sum_u += u[i];
    sum_v += v[i];
    const int r = i / columns, c = i % columns;
    const double error = std::hypot(u[i] - 2.0, v[i] - 3.0);
    if (r >= 24 && r < rows - 24 && c >= 24 && c < columns - 24 && !(error <= worst)) worst = error;
  }
  std::printf("mean flow %.3f down, %.3f right; inside, within %.4f of 2, 3\n", sum_u / (rows * columns),
              sum_v / (rows * columns), worst);
  return worst < 0.01 ? 0 : 1;
}
