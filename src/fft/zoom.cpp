// Chirp-z transform by Bluestein's identity n k = (n^2 + k^2 - (k - n)^2) / 2: the samples times a chirp are convolved
// with the conjugate chirp and multiplied by the chirp again. Chirps are computed in double, with the phase reduced to
// one cycle before it is rounded.
#include <ridge/fft/zoom.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "base/aligned.hpp"
#include "base/complex_product.hpp"
#include "base/threads.hpp"
#include "fft/host/prime/numbers.hpp"
#include "plan/arguments.hpp"

namespace ridge::fft {
namespace {

// exp(-2 pi i x y) for whole y below 2^53.
std::complex<double> cycles(double x, double y) {
  const double product = x * y, error = std::fma(x, y, -product);
  const double phase = (product - std::nearbyint(product)) + error;
  return std::polar(1.0, -2 * std::numbers::pi * phase);
}

// exp(-pi i step m^2)
std::complex<double> chirp(double step, std::size_t m) {
  const auto whole = static_cast<double>(m);
  return cycles(step / 2, whole * whole);
}

void check_zoom(const ZoomProblem& problem) {
  constexpr std::size_t kMost = std::size_t{1} << 26;  // squares stay below 2^53
  const auto refuse = [](const std::string& why) { throw Error(ErrorKind::invalid_argument, "fft: zoom " + why); };
  for (const std::size_t count : {problem.samples, problem.values, problem.batch}) {
    if (count < 1 || count > kMost) {
      refuse(fmt::format("needs 1 to 2^26 samples, values and signals, got {}, {} and {}", problem.samples,
                         problem.values, problem.batch));
    }
  }
  if (!std::isfinite(problem.from) || !std::isfinite(problem.step) || !(problem.radius > 0) ||
      !std::isfinite(problem.radius)) {
    refuse(fmt::format("needs a finite arc with a radius above 0, got from {}, step {}, radius {}", problem.from,
                       problem.step, problem.radius));
  }
}

}  // namespace

template <class T>
struct ZoomState {
  using Complex = std::complex<T>;
  ZoomProblem problem{};
  std::size_t length = 1, threads = 1;
  std::vector<Complex> before{}, filter{}, after{};
  std::shared_ptr<const Plan<T>> transform{};
};

template <class T>
Zoom<T>::Zoom(const ZoomProblem& problem, const planner::Options& options) {
  check_zoom(problem);
  auto state = std::make_shared<ZoomState<T>>();
  const std::size_t samples = problem.samples, values = problem.values;
  state->problem = problem;
  state->threads = std::min(problem.threads == 0 ? base::hardware_threads() : problem.threads, base::kMostThreads);
  state->length = prime::smooth_length(samples + values - 1);
  state->transform = std::make_shared<const Plan<T>>(
      host(), Problem{.shape = {state->length}, .in_place = true, .threads = 1}, options);
  for (std::size_t n = 0; n < samples; ++n) {
    const auto at = static_cast<double>(n);
    state->before.emplace_back(cycles(problem.from, at) * chirp(problem.step, n) * std::pow(problem.radius, -at));
  }
  const double scale = 1 / static_cast<double>(state->length);
  state->filter.assign(state->length, Complex{});
  for (std::size_t m = 0; m < values; ++m) state->filter[m] = Complex(scale * std::conj(chirp(problem.step, m)));
  for (std::size_t m = 1; m < samples; ++m) {
    state->filter[state->length - m] = Complex(scale * std::conj(chirp(problem.step, m)));
  }
  state->transform->forward(std::span(state->filter));
  for (std::size_t k = 0; k < values; ++k) state->after.emplace_back(chirp(problem.step, k));
  state_ = std::move(state);
}

template <class T>
void Zoom<T>::run(std::span<const Complex> in, std::span<Complex> out) const {
  const ZoomState<T>& state = *state_;
  const auto& [samples, values, from, step, radius, batch, threads] = state.problem;
  const std::size_t in_bytes = batch * samples * sizeof(Complex), out_bytes = batch * values * sizeof(Complex);
  planner::check_length("fft", "input", in.size_bytes(), in_bytes);
  planner::check_length("fft", "output", out.size_bytes(), out_bytes);
  planner::check_apart("fft", in.data(), in_bytes, out.data(), out_bytes, false);
  const std::size_t signals = batch, points = samples, results = values;
  base::parallel(std::min(state.threads, signals), [&](std::size_t thread, std::size_t count) {
    base::AlignedArray<Complex> line(state.length);
    const base::Share share = base::share(signals, thread, count);
    for (std::size_t i = share.begin; i < share.end; ++i) {
      for (std::size_t n = 0; n < points; ++n) line[n] = base::product(in[i * points + n], state.before[n]);
      std::fill(line.begin() + static_cast<std::ptrdiff_t>(points), line.end(), Complex{});
      state.transform->forward(line.span());
      for (std::size_t n = 0; n < state.length; ++n) line[n] = base::product(line[n], state.filter[n]);
      state.transform->inverse(line.span());
      for (std::size_t k = 0; k < results; ++k) out[i * results + k] = base::product(line[k], state.after[k]);
    }
  });
}

template <class T>
const ZoomProblem& Zoom<T>::problem() const {
  return state_->problem;
}

template class Zoom<float>;
template class Zoom<double>;

}  // namespace ridge::fft
