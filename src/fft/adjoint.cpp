// Adjoints of transforms: the opposite direction with conjugated factors and the weights of half spectra.
#include <utility>

#include <ridge/error.hpp>
#include <ridge/fft.hpp>

#include "fft/layout.hpp"

namespace ridge::fft {
namespace {

std::vector<std::complex<double>> conjugated(std::vector<std::complex<double>> factors) {
  for (std::complex<double>& factor : factors) factor = std::conj(factor);
  return factors;
}

// Multiplies a window over the whole spectrum by factors along its last axis; an empty window is all ones.
void multiply_rows(std::vector<double>& window, const std::vector<double>& factors, std::size_t rows) {
  if (window.empty()) window.assign(rows * factors.size(), 1.0);
  for (std::size_t i = 0; i < window.size(); ++i) window[i] *= factors[i % factors.size()];
}

}  // namespace

Problem adjoint(const Problem& problem) {
  if (problem.load_forward.samples != Samples::same) {
    throw Error(ErrorKind::invalid_argument,
                "fft: integer samples are rounded, so this transform has no adjoint: set load_forward.samples to "
                "Samples::same");
  }
  Problem result = problem;
  std::swap(result.scale_forward, result.scale_inverse);
  result.load_inverse = {.window = problem.store_forward.window,
                         .multiply = conjugated(problem.store_forward.multiply)};
  result.store_inverse = {.window = problem.load_forward.window, .multiply = conjugated(problem.load_forward.multiply)};
  result.load_forward = {.window = problem.store_inverse.window,
                         .multiply = conjugated(problem.store_inverse.multiply)};
  result.store_forward = {.window = problem.load_inverse.window, .multiply = conjugated(problem.load_inverse.multiply)};
  if (problem.directions != Directions::both) {
    result.directions = problem.directions == Directions::forward ? Directions::inverse : Directions::forward;
  }
  if (problem.kind == Kind::complex || problem.shape.empty() || problem.shape.back() < 3) return result;
  const Layout layout = resolve(problem);
  const AxisRange& last = layout.wanted[layout.axes - 1];
  const std::size_t rows = layout.spectrum.points() / last.count;
  std::vector<double> weights = half_spectrum_weights(problem.shape.back());
  weights = {weights.begin() + static_cast<std::ptrdiff_t>(last.first),
             weights.begin() + static_cast<std::ptrdiff_t>(last.first + last.count)};
  if (problem.directions != Directions::forward) multiply_rows(result.store_forward.window, weights, rows);
  for (double& weight : weights) weight = 1 / weight;
  if (problem.directions != Directions::inverse) multiply_rows(result.load_inverse.window, weights, rows);
  return result;
}

template <class T>
Plan<T> Plan<T>::adjoint(const planner::Options& options) const {
  return Plan(device(), fft::adjoint(problem()), options);
}
template Plan<float> Plan<float>::adjoint(const planner::Options&) const;
template Plan<double> Plan<double>::adjoint(const planner::Options&) const;

}  // namespace ridge::fft
