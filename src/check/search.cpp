// Checks dedispersion: every sum against plain loops in double, with delays that the definition bounds.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <fmt/format.h>
#include <ridge/search.hpp>

#include "check/check.hpp"

namespace ridge::check {
namespace {

// Delay in samples from the definition, with the constant written out.
long double dispersed_by(const search::Band& band, double dm, std::size_t channel) {
  const long double top = band.first_mhz, f = top + static_cast<long double>(band.step_mhz) * channel;
  return 4148.808L * dm * (1 / (f * f) - 1 / (top * top)) / band.interval;
}

// Sum at one time with exact delays: channels are interpolated by the periodic sinc of `period` samples.
double sinc_sum(const search::Problem& problem, std::size_t row, std::size_t period,
                const std::vector<std::uint8_t>& in, double dm, std::size_t time) {
  const long double pi = std::numbers::pi_v<long double>, n = static_cast<long double>(period);
  long double sum = 0;
  for (std::size_t c = 0; c < problem.band.channels; ++c) {
    const std::uint8_t* from = in.data() + c * row;
    long double mean = 0;
    for (std::size_t t = 0; t < row; ++t) mean += from[t] / static_cast<long double>(row);
    const long double at = static_cast<long double>(time) + dispersed_by(problem.band, dm, c);
    sum += mean;
    for (std::size_t t = 0; t < row; ++t) {
      const long double x = at - static_cast<long double>(t);
      sum += (from[t] - mean) * (std::abs(x) < 1e-9L ? 1 : std::sin(pi * x) / std::tan(pi * x / n) / n);
    }
  }
  return static_cast<double>(sum);
}

// Some sums of a plan that interpolates: within 2e-4 of the noise.
Outcome check_sinc(const search::Problem& problem, const search::Plan& plan, const std::vector<std::uint8_t>& in,
                   const std::vector<float>& out) {
  const std::size_t trials = problem.dms.size();
  const double allowed = 2e-4 * 74 * std::sqrt(static_cast<double>(problem.band.channels));
  for (std::size_t i = 0; i < 6; ++i) {
    const std::size_t d = i * (trials - 1) / 5, t = (i * 7 % 6) * (problem.times - 1) / 5;
    const double wanted = sinc_sum(problem, plan.row(), plan.interpolates(), in, problem.dms[d], t);
    const double got = out[d * problem.times + t];
    if (!(std::abs(got - wanted) <= allowed + 1e-6 * wanted))
      return {.wrong = fmt::format("trial {}, time {}: {} instead of {}", d, t, got, wanted)};
  }
  return {};
}

}  // namespace

Outcome check_search(Draw& draw) {
  Random& random = draw.random;
  search::Problem problem;
  problem.threads = random.below(4);
  const double top = 300 + 1500 * random.uniform(), width = top * (0.02 + 0.5 * random.uniform());
  const double begin = random.chance(0.5) ? 0 : 200 * random.uniform(), step = std::exp(4 * random.uniform() - 3);
  const std::uint64_t data = random.bits();
  const std::size_t cells = std::clamp<std::size_t>(draw.points / 8, 64, 1U << 20);
  const std::size_t channels = random.length(std::min<std::size_t>(600, cells));
  const std::size_t trials = random.magnitude(std::min<std::size_t>(300, cells));
  problem.times = random.length(std::clamp<std::size_t>(cells / std::max(channels, trials), 1, 3000));
  problem.band = {.channels = channels,
                  .first_mhz = top,
                  .step_mhz = -width / static_cast<double>(channels),
                  .interval = 1e-3 * (1 + random.uniform())};
  // Few samples of delay, so that the input stays small.
  const double whole = static_cast<double>(dispersed_by(problem.band, 1, channels - 1));
  const double scale = whole > 0 ? std::min(1.0, 2000 / (whole * (begin + step * static_cast<double>(trials)))) : 1;
  for (std::size_t i = 0; i < trials; ++i) problem.dms.push_back(scale * (begin + step * static_cast<double>(i)));
  const auto candidates = search::candidates(draw.device, problem);
  std::vector<std::string> allowed;
  for (const planner::Candidate& one : candidates) {
    if (one.refusal.empty()) allowed.push_back(one.name());
  }
  if (allowed.empty()) return {.refused = candidates.front().refusal};
  const std::string variant = random.one_of(allowed);
  draw.problem =
      fmt::format("{} channels of {:.4g} MHz below {:.1f} MHz, {} trials from DM {:.2f}, {} times, {}", channels,
                  -problem.band.step_mhz, top, trials, problem.dms.front(), problem.times, variant);
  const search::Plan plan(draw.device, problem, {.effort = Effort::quick, .variant = variant});
  std::vector<std::uint8_t> in(channels * plan.row());
  fill_values(std::as_writable_bytes(std::span(in)), Values::bytes, data);
  std::vector<float> out(trials * problem.times, std::numeric_limits<float>::quiet_NaN());
  plan.run(in, out);
  draw.answered(std::as_writable_bytes(std::span(out)));
  if (plan.interpolates() > 0) return check_sinc(problem, plan, in, out);
  const double most = variant.starts_with("brute_force") ? 0.5 + 1e-6 : 3;
  for (std::size_t d = 0; d < trials; ++d) {
    const std::vector<std::int32_t> delays = plan.delays(d);
    for (std::size_t c = 0; c < channels; ++c) {
      const auto off = static_cast<double>(delays[c] - dispersed_by(problem.band, problem.dms[d], c));
      if (!(std::abs(off) <= most))
        return {.wrong = fmt::format("trial {}, channel {}: a delay of {} samples, {:.2f} off", d, c, delays[c], off)};
    }
    for (std::size_t t = 0; t < problem.times; ++t) {
      double sum = 0;
      for (std::size_t c = 0; c < channels; ++c) sum += in[c * plan.row() + t + static_cast<std::size_t>(delays[c])];
      if (out[d * problem.times + t] == static_cast<float>(sum)) continue;
      return {.wrong = fmt::format("trial {}, time {}: {} instead of {}", d, t, out[d * problem.times + t], sum)};
    }
  }
  return {};
}

}  // namespace ridge::check
