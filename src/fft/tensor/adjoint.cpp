// Adjoints of tensor problems: transforms of the same family with weights along the axes.
#include <algorithm>
#include <utility>

#include <ridge/fft/tensor.hpp>

#include "fft/layout.hpp"

namespace ridge::fft {
namespace {

using FactorList = std::vector<double>;

// Multiplies the list by factors; an empty list is all ones.
void multiply_list(FactorList& list, const FactorList& by) {
  if (list.empty()) list.assign(by.size(), 1.0);
  for (std::size_t i = 0; i < by.size(); ++i) list[i] *= by[i];
}

FactorList inverse_of(FactorList factors) {
  for (double& factor : factors) factor = 1 / factor;
  return factors;
}

// Ones but for the first and the last value.
FactorList with_ends(std::size_t n, double first, double last) {
  FactorList factors(n, 1.0);
  factors.front() *= first;
  factors.back() *= last;
  return factors;
}

// The transpose of a real-to-real transform of n points: store * transform(load * g), both lists possibly empty.
struct RealAdjoint {
  RealKind kind;
  FactorList load{}, store{};
};

RealAdjoint real_adjoint(RealKind kind, std::size_t n) {
  switch (kind) {
    case RealKind::dct1:  // D A D^-1 with D = diag(1, 2, ..., 2, 1); the factor 2 cancels
      return {kind, with_ends(n, 2, 2), with_ends(n, 0.5, 0.5)};
    case RealKind::dct2:
      return {RealKind::dct3, with_ends(n, 2, 1), {}};
    case RealKind::dct3:
      return {RealKind::dct2, {}, with_ends(n, 0.5, 1)};
    case RealKind::dst2:
      return {RealKind::dst3, with_ends(n, 1, 2), {}};
    case RealKind::dst3:
      return {RealKind::dst2, {}, with_ends(n, 1, 0.5)};
    case RealKind::halfcomplex:
    case RealKind::halfcomplex_inverse: {
      FactorList weights(n, 2.0);
      weights[0] = 1;
      if (n % 2 == 0) weights[n / 2] = 1;
      if (kind == RealKind::halfcomplex) return {RealKind::halfcomplex_inverse, inverse_of(weights), {}};
      return {RealKind::halfcomplex, {}, weights};
    }
    default:  // dct4, dst1, dst4 and the Hartley transform are symmetric
      return {kind};
  }
}

}  // namespace

TensorProblem adjoint(const TensorProblem& problem) {
  TensorProblem result = problem;
  std::swap(result.split_input, result.split_output);
  std::swap(result.load, result.store);
  for (Dimension& axis : result.axes) std::swap(axis.input, axis.output);
  for (Dimension& loop : result.loops) std::swap(loop.input, loop.output);
  if (problem.axes.empty()) return result;  // a copy
  const auto lists = [&](std::vector<FactorList>& factors) -> std::vector<FactorList>& {
    factors.resize(problem.axes.size());
    return factors;
  };
  const std::size_t n = problem.axes.back().length;
  // Without transforms there is nothing to multiply, and axes may be longer than the memory.
  const bool none = std::ranges::any_of(problem.loops, [](const Dimension& loop) { return loop.length == 0; });
  const bool halved = n > 2 && !none;
  switch (problem.kind) {
    case TensorKind::complex_forward:
      result.kind = TensorKind::complex_inverse;
      break;
    case TensorKind::complex_inverse:
      result.kind = TensorKind::complex_forward;
      break;
    case TensorKind::real_forward:
      result.kind = TensorKind::real_inverse;
      if (halved) multiply_list(lists(result.load).back(), inverse_of(half_spectrum_weights(n)));
      break;
    case TensorKind::real_inverse:
      result.kind = TensorKind::real_forward;
      if (halved) multiply_list(lists(result.store).back(), half_spectrum_weights(n));
      break;
    case TensorKind::real_to_real:
      for (std::size_t i = 0; i < problem.axes.size() && i < problem.real_kinds.size(); ++i) {
        if (problem.axes[i].length == 0) continue;  // refused when planned
        RealAdjoint one = real_adjoint(problem.real_kinds[i], none ? 1 : problem.axes[i].length);
        result.real_kinds[i] = one.kind;
        if (none) continue;
        if (!one.load.empty()) multiply_list(lists(result.load)[i], one.load);
        if (!one.store.empty()) multiply_list(lists(result.store)[i], one.store);
      }
      break;
  }
  return result;
}

}  // namespace ridge::fft
