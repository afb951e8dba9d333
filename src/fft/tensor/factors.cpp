// Multiplies arrays by factors along axes, with any strides.
#include "fft/tensor/factors.hpp"

#include <algorithm>
#include <complex>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::fft {
namespace {

bool has_factors(const std::vector<std::vector<double>>& factors) {
  return std::any_of(factors.begin(), factors.end(), [](const auto& along) { return !along.empty(); });
}

// Lengths of the axes on one side: the halved axis of a spectrum has n/2+1 points.
std::vector<Dimension> axes_of_side(const TensorProblem& problem, TensorSide side) {
  std::vector<Dimension> axes = problem.axes;
  const TensorKind halved = side == TensorSide::input ? TensorKind::real_inverse : TensorKind::real_forward;
  if (problem.kind == halved && !axes.empty()) axes.back().length = axes.back().length / 2 + 1;
  return axes;
}

void check_lists(const TensorProblem& problem, const std::vector<std::vector<double>>& factors, TensorSide side,
                 const char* what) {
  if (factors.empty()) return;
  const std::vector<Dimension> axes = axes_of_side(problem, side);
  if (factors.size() != axes.size()) {
    throw Error(ErrorKind::invalid_argument, fmt::format("fft: {} needs one list of factors per axis ({}), got {}",
                                                         what, axes.size(), factors.size()));
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!factors[i].empty() && factors[i].size() != axes[i].length) {
      throw Error(ErrorKind::invalid_argument, fmt::format("fft: {} needs {} factors along axis {}, got {}", what,
                                                           axes[i].length, i, factors[i].size()));
    }
  }
  if (problem.split_input || problem.split_output) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("fft: {} needs interleaved complex arrays, got a split one", what));
  }
}

}  // namespace

TensorProblem without_factors(const TensorProblem& problem) {
  check_lists(problem, problem.load, TensorSide::input, "load");
  check_lists(problem, problem.store, TensorSide::output, "store");
  TensorProblem inner = problem;
  inner.load.clear();
  inner.store.clear();
  if (!has_factors(problem.load)) return inner;
  inner.in_place = false;
  std::ptrdiff_t stride = 1;
  const std::vector<Dimension> axes = axes_of_side(problem, TensorSide::input);
  for (std::size_t i = axes.size(); i-- > 0;) {
    inner.axes[i].input = stride;
    stride *= static_cast<std::ptrdiff_t>(axes[i].length);
  }
  for (std::size_t i = inner.loops.size(); i-- > 0;) {
    inner.loops[i].input = stride;
    stride *= static_cast<std::ptrdiff_t>(inner.loops[i].length);
  }
  return inner;
}

template <class T>
FactorPass<T>::FactorPass(const TensorProblem& problem, const TensorProblem& inner, TensorSide side) {
  const bool input = side == TensorSide::input;
  const std::vector<std::vector<double>>& factors = input ? problem.load : problem.store;
  any_ = has_factors(factors) && count(problem.loops) != 0;
  if (!any_) return;
  complex_ = problem.kind != TensorKind::real_to_real &&
             problem.kind != (input ? TensorKind::real_forward : TensorKind::real_inverse);
  const auto add = [&](const Dimension& given, const Dimension& planned, std::size_t length) {
    levels_.push_back({length, input ? given.input : given.output, input ? planned.input : planned.output});
  };
  for (std::size_t i = 0; i < problem.loops.size(); ++i) add(problem.loops[i], inner.loops[i], problem.loops[i].length);
  const std::vector<Dimension> axes = axes_of_side(problem, side);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    add(problem.axes[i], inner.axes[i], axes[i].length);
    levels_.back().factors.assign(factors[i].begin(), factors[i].end());
  }
}

template <class T>
std::size_t FactorPass<T>::room() const {
  std::size_t elements = 1;
  for (const Level& level : levels_) elements *= level.length;
  return complex_ ? elements : (elements + 1) / 2;
}

template <class T>
template <class Element>
void FactorPass<T>::multiply(const Element* from, Element* to, std::size_t level, T factor) const {
  const Level& here = levels_[level];
  for (std::size_t i = 0; i < here.length; ++i, from += here.from, to += here.to) {
    const T product = here.factors.empty() ? factor : factor * here.factors[i];
    if (level + 1 < levels_.size()) {
      multiply(from, to, level + 1, product);
    } else {
      *to = product * *from;
    }
  }
}

template <class T>
void FactorPass<T>::run(const void* from, void* to) const {
  if (complex_) {
    multiply(static_cast<const std::complex<T>*>(from), static_cast<std::complex<T>*>(to), 0, T(1));
  } else {
    multiply(static_cast<const T*>(from), static_cast<T*>(to), 0, T(1));
  }
}

template class FactorPass<float>;
template class FactorPass<double>;

}  // namespace ridge::fft
