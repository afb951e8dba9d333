// Covariance matrix of the columns of a table.    sequential_covariance [ROWS [COLUMNS [ROUNDS]]]
#include <cstdlib>

#include "shown.hpp"

void covariance(const float* table, int rows, int columns, float* out) {
  std::vector<float> mean(columns);
  for (int i = 0; i < columns; ++i) {
    float sum = 0;
    for (int k = 0; k < rows; ++k) sum += table[k * columns + i];
    mean[i] = sum / float(rows);
  }
  for (int i = 0; i < columns; ++i)
    for (int j = 0; j < columns; ++j) {
      float sum = 0;
      for (int k = 0; k < rows; ++k) sum += (table[k * columns + i] - mean[i]) * (table[k * columns + j] - mean[j]);
      out[i * columns + j] = sum / float(rows - 1);
    }
}

int main(int argc, char** argv) {
  const int rows = argc > 1 ? std::atoi(argv[1]) : 64, columns = argc > 2 ? std::atoi(argv[2]) : 48;
  if (rows < 2 || columns < 1) return 1;
  const auto table = sequential::numbers(std::size_t(rows) * columns, 1);
  std::vector<float> out(std::size_t(columns) * columns);
  sequential::show("covariance", argc > 3 ? std::atoi(argv[3]) : 1, out, [&] {
    return sequential::seconds_of([&] { covariance(table.data(), rows, columns, out.data()); });
  });
  return 0;
}
