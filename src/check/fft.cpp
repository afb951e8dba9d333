// Transforms of any shape, kind, stride, batch and operator, in both directions.
#include <algorithm>
#include <optional>

#include "check/check.hpp"
#include "check/fft_direction.hpp"
#include "check/variants.hpp"

namespace ridge::check {
namespace {

template <class T>
Outcome check_samples(Draw& draw) {
  // Tables of a long double transform take their time.
  if (sizeof(T) == 8) draw.points = std::min<std::size_t>(draw.points, std::size_t{1} << 18);
  const FftCase made = draw_fft<T>(draw);
  Outcome outcome;
  draw.problem = fft_in_words<T>(made);
  const fft::Layout layout = fft::resolve(made.problem);
  planner::Options options{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};
  if (made.problem.shape.size() == 1)
    options = some_variant(fft::candidates<T>(draw.device, made.problem.shape[0]), made.by_chance);
  std::optional<fft::Plan<T>> plan;
  try {
    plan.emplace(draw.device, made.problem, options);
  } catch (const Error& error) {
    // The list is that of a packed batch: a variant in it need not be one for this problem.
    if (options.variant.empty() || error.kind() != ErrorKind::invalid_argument) throw;
    options.variant.clear();
    plan.emplace(draw.device, made.problem, options);
  }
  draw.problem += ", " + chosen_by(plan->decisions());
  outcome.wrong = FftDirection<T>(made, layout, true).check(*plan, draw);
  if (!outcome.wrong.empty()) {
    outcome.wrong = "forward: " + outcome.wrong;
  } else if (!layout.samples.aliases) {
    outcome.wrong = FftDirection<T>(made, layout, false).check(*plan, draw);
    if (!outcome.wrong.empty()) outcome.wrong = "inverse: " + outcome.wrong;
  }
  return outcome;
}

}  // namespace

Outcome check_fft(Draw& draw) {
  if (draw.random.chance(0.1)) return check_convolution(draw);
  const bool wide = draw.random.chance(0.4) && draw.device.limits().float64;
  return wide ? check_samples<double>(draw) : check_samples<float>(draw);
}

}  // namespace ridge::check
