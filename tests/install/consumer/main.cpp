// Transposes a small matrix with an installed ridge and checks the result.
#include <complex>
#include <cstdio>
#include <vector>

#include <ridge/transpose.hpp>

int main() try {
  const std::size_t rows = 37, columns = 53;
  std::vector<std::complex<float>> in(rows * columns), out(rows * columns);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = {float(i), -float(i)};

  ridge::planner::Options options;
  options.effort = ridge::Effort::quick;
  const auto turn =
      ridge::transpose::plan<std::complex<float>>(ridge::host(), {.rows = rows, .columns = columns}, options);
  turn.run(in, out);

  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      if (out[column * rows + row] != in[row * columns + column]) {
        std::fprintf(stderr, "wrong at row %zu, column %zu\n", row, column);
        return 1;
      }
    }
  }
  std::puts("turned");
  return 0;
} catch (const ridge::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
