// Reference implementation of every operator in double precision; every variant is compared with it.
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

// Result of one operator before rounding to the depth. With row_step > 1 only every row_step-th row and the last one
// (is_sampled) are guaranteed; the others are NaN or correct.
Plain reference(const Operation& operation, const Plain& in, const Plain& guide, Depth depth, Border border,
                double constant, std::size_t row_step = 1);
// Result of a chain; values of integer depths are rounded between the operators.
Plain reference(const OperatorProblem& problem, const Plain& in, const Plain& guide, std::size_t row_step = 1);
bool is_sampled(std::size_t row, std::size_t rows, std::size_t row_step);

}  // namespace ridge::image
