// Minimization of a function whose gradient is known: limited-memory BFGS with bounds.
#pragma once
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace ridge::stencil {

// Returns the value at x and writes the gradient.
using Objective = std::function<double(const std::vector<double>& x, std::vector<double>& gradient)>;

struct MinimizeOptions {
  std::size_t iterations = 20;
  std::size_t memory = 8;  // pairs of steps and gradient changes
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  double first_step = 0;  // largest change of a number in the first step; 0: a hundredth of the largest number
};

struct Minimum {
  std::vector<double> x{};
  std::vector<double> values{};  // of the objective, at the start and after each iteration
  std::size_t evaluations = 0;
};

// Each iteration takes a step along the quasi-Newton direction that is short enough to decrease the value. Ends early
// if there is none. Error{invalid_argument} if the first value is not finite.
Minimum minimize(const Objective& objective, std::vector<double> x, const MinimizeOptions& options = {});

}  // namespace ridge::stencil
