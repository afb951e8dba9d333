// Householder QR solution of a regularized least-squares problem.
#include "filterbank/prototype/least_squares.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::filterbank {

std::vector<double> LeastSquares::solve(double ridge) {
  double largest = 0;
  for (const double value : matrix_) largest = std::max(largest, std::abs(value));
  for (std::size_t j = 0; j < columns_; ++j) at(rows_ + j, j) = ridge * largest;
  const std::size_t rows = rows_ + columns_;
  std::vector<double> reflector(rows);
  for (std::size_t k = 0; k < columns_; ++k) {
    double norm = 0;
    for (std::size_t i = k; i < rows; ++i) norm += at(i, k) * at(i, k);
    norm = std::sqrt(norm);
    if (norm == 0) continue;
    const double pivot = at(k, k) >= 0 ? -norm : norm;
    double length = 0;
    for (std::size_t i = k; i < rows; ++i) {
      reflector[i] = at(i, k) - (i == k ? pivot : 0);
      length += reflector[i] * reflector[i];
    }
    const auto reflect = [&](auto&& value) {
      double product = 0;
      for (std::size_t i = k; i < rows; ++i) product += reflector[i] * value(i);
      const double factor = 2 * product / length;
      for (std::size_t i = k; i < rows; ++i) value(i) -= factor * reflector[i];
    };
    for (std::size_t j = k; j < columns_; ++j) {
      reflect([&](std::size_t i) -> double& { return at(i, j); });
    }
    reflect([&](std::size_t i) -> double& { return right_[i]; });
  }
  std::vector<double> solution(columns_);
  for (std::size_t k = columns_; k-- > 0;) {
    double value = right_[k];
    for (std::size_t j = k + 1; j < columns_; ++j) value -= at(k, j) * solution[j];
    solution[k] = at(k, k) == 0 ? 0 : value / at(k, k);
  }
  return solution;
}

}  // namespace ridge::filterbank
