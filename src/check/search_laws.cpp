// Checks dedispersion by identities: linearity, constant channels, series shifted in time, single values at their
// delays; and beams by theirs: the parallelogram law of their power, single stations.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <ridge/search.hpp>
#include <ridge/search/beams.hpp>

#include "check/check.hpp"
#include "check/laws.hpp"

namespace ridge::check {
namespace {

using Voltage = std::complex<float>;

search::Problem draw_sweep(Draw& draw) {
  Random& random = draw.random;
  search::Problem problem;
  problem.threads = random.below(4);
  const double top = 300 + 1500 * random.uniform(), width = top * (0.02 + 0.5 * random.uniform());
  const double begin = random.chance(0.5) ? 0 : 200 * random.uniform(), step = std::exp(4 * random.uniform() - 3);
  const std::size_t cells = std::clamp<std::size_t>(draw.points / 8, 64, std::size_t{1} << 26);
  const std::size_t channels = random.length(std::min<std::size_t>(4096, cells / 8));
  const std::size_t trials = random.magnitude(std::min<std::size_t>(2000, cells / 8));
  problem.times =
      std::max<std::size_t>(4, random.length(std::min<std::size_t>(cells / std::max(channels, trials), 1U << 20)));
  problem.band = {.channels = channels,
                  .first_mhz = top,
                  .step_mhz = -width / static_cast<double>(channels),
                  .interval = 1e-3 * (1 + random.uniform())};
  // Few samples of delay, so that the input stays small.
  const double bottom = top - width * static_cast<double>(channels - 1) / static_cast<double>(channels);
  const double whole = 4148.808 * (1 / (bottom * bottom) - 1 / (top * top)) / problem.band.interval;
  const double scale = whole > 0 ? std::min(1.0, 2000 / (whole * (begin + step * static_cast<double>(trials)))) : 1;
  for (std::size_t i = 0; i < trials; ++i) problem.dms.push_back(scale * (begin + step * static_cast<double>(i)));
  return problem;
}

class SearchLaws {
 public:
  SearchLaws(Draw& draw, const search::Problem& problem, const std::string& variant)
      : draw_(draw),
        problem_(problem),
        plan_(draw.device, problem, {.effort = Effort::quick, .use_wisdom = false, .variant = variant}),
        whole_(plan_.interpolates() == 0),
        // Whole delays: brute force rounds to the nearest sample, trees are off by up to three.
        reach_(variant.starts_with("brute_force") ? 0.5 + 1e-6 : 3),
        // Sums of whole numbers are exact; interpolated ones have a share of the noise of 8-bit values.
        allowed_(whole_ ? 0 : 2e-4 * 74 * std::sqrt(static_cast<double>(problem.band.channels))) {}

  std::string check() {
    const std::vector<std::uint8_t> x = noise();
    const std::vector<float> X = summed(x);
    std::string wrong = linearity(x, X);
    if (wrong.empty()) wrong = constant();
    if (wrong.empty() && whole_) wrong = shift(x, X);
    if (wrong.empty()) wrong = impulse();
    return wrong;
  }

 private:
  // Values below 128, so that two of them are one byte.
  std::vector<std::uint8_t> noise() {
    std::vector<std::uint8_t> values(problem_.band.channels * plan_.row());
    fill_values(std::as_writable_bytes(std::span(values)), Values::bytes, draw_.random.bits());
    for (std::uint8_t& value : values) value /= 2;
    return values;
  }
  std::vector<float> summed(const std::vector<std::uint8_t>& in) const {
    std::vector<float> out(problem_.dms.size() * problem_.times, std::numeric_limits<float>::quiet_NaN());
    plan_.run(in, out);
    draw_.answered(std::as_writable_bytes(std::span(out)));
    return out;
  }
  std::string at(const char* law, std::size_t i, double got, double right) const {
    return fmt::format("{}: trial {}, time {}: {} instead of {}, allowed {:.1e}", law, i / problem_.times,
                       i % problem_.times, got, right, allowed_);
  }
  bool differs(double got, double right) const {
    return !(std::abs(got - right) <= allowed_ + 1e-6 * (whole_ ? 0 : right));
  }

  std::string linearity(const std::vector<std::uint8_t>& x, const std::vector<float>& X) {
    const std::vector<std::uint8_t> y = noise();
    std::vector<std::uint8_t> sum(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] = static_cast<std::uint8_t>(x[i] + y[i]);
    const std::vector<float> Y = summed(y), Z = summed(sum);
    for (std::size_t i = 0; i < Z.size(); ++i) {
      const double right = double{X[i]} + double{Y[i]};
      if (differs(double{Z[i]}, right)) return at("linearity", i, double{Z[i]}, right);
    }
    return {};
  }

  std::string constant() {
    const auto level = static_cast<std::uint8_t>(1 + draw_.random.below(255));
    const std::vector<float> out = summed(std::vector<std::uint8_t>(problem_.band.channels * plan_.row(), level));
    const double right = level * static_cast<double>(problem_.band.channels);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (differs(double{out[i]}, right)) return at("constant", i, double{out[i]}, right);
    }
    return {};
  }

  // Samples that arrive earlier give earlier sums.
  std::string shift(const std::vector<std::uint8_t>& x, const std::vector<float>& X) {
    const std::size_t row = plan_.row(), times = problem_.times, by = draw_.random.below(times);
    std::vector<std::uint8_t> early(x.size());
    for (std::size_t c = 0; c < problem_.band.channels; ++c)
      std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(c * row + by), row - by,
                  early.begin() + static_cast<std::ptrdiff_t>(c * row));
    const std::vector<float> out = summed(early);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i % times + by < times && differs(double{out[i]}, double{X[i + by]}))
        return at("shift", i, double{out[i]}, double{X[i + by]});
    }
    return {};
  }

  // A single value in one channel is in every trial's series once, at the delay of its channel.
  std::string impulse() {
    const search::Band& band = problem_.band;
    const std::size_t channel = draw_.random.below(band.channels), times = problem_.times;
    const std::size_t time = draw_.random.below(plan_.row());
    constexpr std::uint8_t kValue = 200;
    std::vector<std::uint8_t> in(band.channels * plan_.row());
    in[channel * plan_.row() + time] = kValue;
    const std::vector<float> out = summed(in);
    const double f = band.first_mhz + band.step_mhz * static_cast<double>(channel);
    const double slope = 4148.808 * (1 / (f * f) - 1 / (band.first_mhz * band.first_mhz)) / band.interval;
    for (std::size_t d = 0; d < problem_.dms.size(); ++d) {
      const double expected = static_cast<double>(time) - slope * problem_.dms[d];
      const std::span<const float> series(out.data() + d * times, times);
      std::string wrong = whole_ ? impulse_once(series, expected, kValue) : impulse_between(series, expected, kValue);
      if (!wrong.empty()) return fmt::format("impulse: trial {}: {}", d, wrong);
    }
    return {};
  }

  std::string impulse_once(std::span<const float> series, double expected, double height) const {
    std::size_t there = 0;
    for (std::size_t t = 0; t < series.size(); ++t) {
      if (series[t] == 0) continue;
      ++there;
      if (series[t] != height || !(std::abs(static_cast<double>(t) - expected) <= reach_))
        return fmt::format("{} at time {} of {} at {:.2f}", series[t], t, height, expected);
    }
    const bool inside = expected >= reach_ && expected <= static_cast<double>(series.size() - 1) - reach_;
    if (there == 1 || (there == 0 && !inside)) return {};
    return fmt::format("{} values of {} at {:.2f}", there, height, expected);
  }

  // The periodic sinc at the nearest time; the channel's mean, which extends it, is a small part.
  std::string impulse_between(std::span<const float> series, double expected, double height) const {
    const double nearest = std::round(expected), x = nearest - expected;
    if (nearest < 0 || nearest >= static_cast<double>(series.size())) return {};
    const double pi = std::numbers::pi, n = static_cast<double>(plan_.interpolates());
    const double right = height * (std::abs(x) < 1e-9 ? 1 : std::sin(pi * x) / std::tan(pi * x / n) / n);
    const double allowed = allowed_ + 4 * height / static_cast<double>(plan_.row());
    const auto got = double{series[static_cast<std::size_t>(nearest)]};
    if (std::abs(got - right) <= allowed) return {};
    return fmt::format("{} instead of {} at time {}, allowed {:.1e}", got, right, nearest, allowed);
  }

  Draw& draw_;
  const search::Problem& problem_;
  search::Plan plan_;
  bool whole_;
  double reach_, allowed_;
};

Outcome sweep_laws(Draw& draw) {
  const search::Problem problem = draw_sweep(draw);
  std::vector<std::string> allowed;
  const auto candidates = search::candidates(draw.device, problem);
  for (const planner::Candidate& one : candidates) {
    if (one.refusal.empty()) allowed.push_back(one.name());
  }
  if (allowed.empty()) return {.refused = candidates.front().refusal};
  const std::string variant = draw.random.one_of(allowed);
  draw.problem = fmt::format("{} channels of {:.4g} MHz below {:.1f} MHz, {} trials from DM {:.2f}, {} times, {}",
                             problem.band.channels, -problem.band.step_mhz, problem.band.first_mhz, problem.dms.size(),
                             problem.dms.front(), problem.times, variant);
  return {.wrong = SearchLaws(draw, problem, variant).check()};
}

class BeamLaws {
 public:
  BeamLaws(Draw& draw, const search::BeamProblem& problem)
      : draw_(draw), problem_(problem), former_(draw.device, problem), weights_(values(weight_count())) {
    former_.set_weights(weights_);
  }

  std::string check() {
    std::string wrong = parallelogram();
    if (wrong.empty()) wrong = impulse();
    return wrong;
  }

 private:
  std::size_t weight_count() const { return problem_.channels * problem_.beams * problem_.stations; }
  std::vector<Voltage> values(std::size_t count) {
    std::vector<Voltage> values(count);
    fill_values(std::as_writable_bytes(std::span(values)), Values::float32, draw_.random.bits());
    return values;
  }
  std::vector<float> power(const std::vector<Voltage>& in) const {
    std::vector<float> out(problem_.channels * former_.rows() * former_.bins(),
                           std::numeric_limits<float>::quiet_NaN());
    former_.power(in, out);
    draw_.answered(std::as_writable_bytes(std::span(out)));
    return out;
  }

  // |x + y|^2 + |x - y|^2 = 2 |x|^2 + 2 |y|^2, for every sum of powers.
  std::string parallelogram() {
    const std::size_t count = problem_.channels * problem_.times * problem_.stations;
    const std::vector<Voltage> x = values(count), y = values(count);
    std::vector<Voltage> sum(count), difference(count);
    for (std::size_t i = 0; i < count; ++i) sum[i] = x[i] + y[i], difference[i] = x[i] - y[i];
    const std::vector<float> X = power(x), Y = power(y), S = power(sum), D = power(difference);
    double most = 0;
    for (std::size_t i = 0; i < X.size(); ++i) most = std::max(most, 2 * (double{X[i]} + double{Y[i]}));
    for (std::size_t i = 0; i < X.size(); ++i) {
      const double got = double{S[i]} + double{D[i]}, right = 2 * (double{X[i]} + double{Y[i]});
      if (!(std::abs(got - right) <= kGate * most))
        return fmt::format("parallelogram: power {}: {} instead of {}, allowed {:.1e}", i, got, right, kGate * most);
    }
    return {};
  }

  // A constant voltage of one station: every beam's power is that of its weight.
  std::string impulse() {
    const std::size_t station = draw_.random.below(problem_.stations), rows = former_.rows(), bins = former_.bins();
    std::vector<Voltage> in(problem_.channels * problem_.times * problem_.stations);
    for (std::size_t i = station; i < in.size(); i += problem_.stations) in[i] = {0.5F, -0.25F};
    const std::vector<float> out = power(in);
    const double each = 0.3125 * static_cast<double>(problem_.integrate);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t beam = i / bins % rows, channel = i / bins / rows;
      const double right = beam == problem_.beams
                               ? each
                               : each * std::norm(std::complex<double>(
                                            weights_[(channel * problem_.beams + beam) * problem_.stations + station]));
      if (!(std::abs(double{out[i]} - right) <= kGate * each))
        return fmt::format("impulse: station {}, channel {}, beam {}: power {} instead of {}, allowed {:.1e}", station,
                           channel, beam, out[i], right, kGate * each);
    }
    return {};
  }

  static constexpr double kGate = 1e-5;
  Draw& draw_;
  search::BeamProblem problem_;
  search::Beamformer former_;
  std::vector<Voltage> weights_;
};

Outcome beam_laws(Draw& draw) {
  Random& random = draw.random;
  search::BeamProblem problem;
  problem.incoherent = random.chance(0.5);
  problem.threads = random.below(4);
  const std::size_t most = std::clamp<std::size_t>(draw.points, 64, std::size_t{1} << 22);
  problem.stations = random.between(1, std::min<std::size_t>(64, most / 16));
  problem.channels = random.between(1, 4);
  problem.times = std::max<std::size_t>(2, random.length(most / problem.stations / problem.channels));
  problem.beams = random.between(1, 32);
  problem.integrate = random.between(1, std::min<std::size_t>(problem.times, 64));
  draw.problem = fmt::format("{} beams{} of {} stations, {} channels, {} times, {} per power", problem.beams,
                             problem.incoherent ? " and the incoherent one" : "", problem.stations, problem.channels,
                             problem.times, problem.integrate);
  return {.wrong = BeamLaws(draw, problem).check()};
}

}  // namespace

Outcome search_laws(Draw& draw) { return draw.random.chance(0.7) ? sweep_laws(draw) : beam_laws(draw); }

}  // namespace ridge::check
