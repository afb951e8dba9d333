// Every operator as plain loops in double: what every variant is compared with.
#pragma once
#include <vector>

#include <ridge/image/operators.hpp>

namespace ridge::image {

struct Plain {
  std::size_t rows = 0, columns = 0, channels = 1;
  std::vector<double> values = {};
  double& at(std::size_t r, std::size_t c, std::size_t k) { return values[(r * columns + c) * channels + k]; }
  double at(std::size_t r, std::size_t c, std::size_t k) const { return values[(r * columns + c) * channels + k]; }
};
Plain plain_of(const Image& image);

// Not rounded: what a pixel should be before its depth makes a whole number of it. Of large images some rows are
// enough: every row_step-th and the last (is_sampled); the others are then no numbers, or right.
Plain reference(const Operation& operation, const Plain& in, const Plain& guide, Depth depth, Border border,
                double constant, std::size_t row_step = 1);
// A chain, rounded between its operators where the depth is whole.
Plain reference(const OperatorProblem& problem, const Plain& in, const Plain& guide, std::size_t row_step = 1);
bool is_sampled(std::size_t row, std::size_t rows, std::size_t row_step);

}  // namespace ridge::image
