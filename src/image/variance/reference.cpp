// Two-pass variance of every window, in double.
#include "image/variance/reference.hpp"

#include "image/variance/host/tile_kernels.hpp"

namespace ridge::image {
namespace {

double sample_at(const Image& in, std::size_t row, std::size_t column) {
  switch (in.depth()) {
    case Depth::u8:
      return in.row<std::uint8_t>(row)[column];
    case Depth::u16:
      return in.row<std::uint16_t>(row)[column];
    default:
      return double{in.row<float>(row)[column]};
  }
}

}  // namespace

double reference_variance(const VarianceProblem& problem, const Image& in, std::size_t row, std::size_t column) {
  const auto cell = [&](std::size_t i, std::size_t j) {
    const auto y = border_index(
        problem.border, static_cast<std::ptrdiff_t>(row + i) - static_cast<std::ptrdiff_t>(problem.window_rows / 2),
        static_cast<std::ptrdiff_t>(problem.rows));
    const auto x =
        border_index(problem.border,
                     static_cast<std::ptrdiff_t>(column + j) - static_cast<std::ptrdiff_t>(problem.window_columns / 2),
                     static_cast<std::ptrdiff_t>(problem.columns));
    return y < 0 || x < 0 ? problem.constant : sample_at(in, static_cast<std::size_t>(y), static_cast<std::size_t>(x));
  };
  const double count = static_cast<double>(problem.window_rows * problem.window_columns);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < problem.window_rows; ++i) {
    for (std::size_t j = 0; j < problem.window_columns; ++j) sum += cell(i, j);
  }
  const double mean = sum / count;
  for (std::size_t i = 0; i < problem.window_rows; ++i) {
    for (std::size_t j = 0; j < problem.window_columns; ++j) squares += (cell(i, j) - mean) * (cell(i, j) - mean);
  }
  return squares / count;
}

// Computes the joins of a window of any length.

std::vector<Join> joins_of(int window, int base) {
  std::vector<Join> joins;
  int have = 0, left = window;
  for (int cells = 1;; cells *= base) {
    // The digits of the window's length in the base, the smallest first.
    for (int digit = left % base; digit > 0; --digit) {
      joins.push_back({have == 0 ? Join::Kind::take : Join::Kind::append, cells, have});
      have += cells;
    }
    left /= base;
    if (left == 0) return joins;
    joins.push_back({Join::Kind::grow, cells, 0});
  }
}

}  // namespace ridge::image
