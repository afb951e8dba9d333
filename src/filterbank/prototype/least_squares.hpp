// Small dense least squares with ridge regularization, by Householder reflections. The normal equations would square
// the condition number.
#pragma once
#include <cstddef>
#include <vector>

namespace ridge::filterbank {

class LeastSquares {
 public:
  LeastSquares(std::size_t rows, std::size_t columns)
      : rows_(rows), columns_(columns), matrix_((rows + columns) * columns), right_(rows + columns) {}
  double& at(std::size_t row, std::size_t column) { return matrix_[row * columns_ + column]; }
  double& right(std::size_t row) { return right_[row]; }

  // Returns the x that minimizes |A x - b|^2 + (ridge * largest entry)^2 |x|^2. Overwrites the matrix.
  std::vector<double> solve(double ridge);

 private:
  std::size_t rows_, columns_;
  std::vector<double> matrix_, right_;
};

}  // namespace ridge::filterbank
