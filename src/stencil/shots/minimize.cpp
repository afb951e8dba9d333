// Limited-memory BFGS with bounds.
#include <ridge/stencil/minimize.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

#include <ridge/error.hpp>

namespace ridge::stencil {
namespace {

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

struct Pair {
  std::vector<double> step, change;
  double product = 0;
};

// The two-loop recursion: minus the approximate inverse Hessian times the gradient.
std::vector<double> direction_of(const std::vector<double>& gradient, const std::deque<Pair>& pairs) {
  std::vector<double> direction = gradient, weights(pairs.size());
  for (std::size_t k = pairs.size(); k-- > 0;) {
    weights[k] = inner(pairs[k].step, direction) / pairs[k].product;
    for (std::size_t i = 0; i < direction.size(); ++i) direction[i] -= weights[k] * pairs[k].change[i];
  }
  if (!pairs.empty()) {
    const double scale = pairs.back().product / inner(pairs.back().change, pairs.back().change);
    for (double& value : direction) value *= scale;
  }
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const double back = inner(pairs[k].change, direction) / pairs[k].product;
    for (std::size_t i = 0; i < direction.size(); ++i) direction[i] += (weights[k] - back) * pairs[k].step[i];
  }
  for (double& value : direction) value = -value;
  return direction;
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

}  // namespace

Minimum minimize(const Objective& objective, std::vector<double> x, const MinimizeOptions& options) {
  constexpr int kMostTrials = 12;
  for (double& value : x) value = std::clamp(value, options.low, options.high);
  std::vector<double> gradient(x.size()), fresh(x.size());
  Minimum result{.evaluations = 1};
  double value = objective(x, gradient);
  if (!std::isfinite(value)) throw Error(ErrorKind::invalid_argument, "minimize: the first value is not finite");
  result.values.push_back(value);
  std::deque<Pair> pairs;
  for (std::size_t iteration = 0; iteration < options.iterations; ++iteration) {
    std::vector<double> direction = direction_of(gradient, pairs);
    const double steepest = largest_of(direction);
    if (!(steepest > 0)) break;
    double length = 1;
    if (pairs.empty()) length = (options.first_step > 0 ? options.first_step : 0.01 * largest_of(x)) / steepest;
    bool found = false;
    for (int trial = 0; trial < kMostTrials && !found; ++trial, length /= 2) {
      std::vector<double> next(x.size());
      for (std::size_t i = 0; i < x.size(); ++i)
        next[i] = std::clamp(x[i] + length * direction[i], options.low, options.high);
      const double there = objective(next, fresh);
      ++result.evaluations;
      Pair pair{.step = std::vector<double>(x.size()), .change = std::vector<double>(x.size())};
      for (std::size_t i = 0; i < x.size(); ++i) {
        pair.step[i] = next[i] - x[i];
        pair.change[i] = fresh[i] - gradient[i];
      }
      // Armijo's condition; a NaN is not below anything.
      if (!(there <= value + 1e-4 * inner(gradient, pair.step)) || !(there < value)) continue;
      found = true;
      pair.product = inner(pair.step, pair.change);
      if (pair.product > 0) pairs.push_back(std::move(pair));
      if (pairs.size() > options.memory) pairs.pop_front();
      x = std::move(next);
      std::swap(gradient, fresh);
      value = there;
    }
    if (!found) {
      if (pairs.empty()) break;
      pairs.clear();  // start again along the gradient
      continue;
    }
    result.values.push_back(value);
  }
  result.x = std::move(x);
  return result;
}

}  // namespace ridge::stencil
