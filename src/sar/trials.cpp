// Times and checks variants of the migration step while planning.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "device/random.hpp"
#include "device/timing.hpp"
#include "sar/geometry.hpp"
#include "sar/variant.hpp"

namespace ridge::sar {
namespace {

constexpr base::Repeat kTrial{.seconds = 0.1, .at_least = 3, .at_most = 100, .round = 0};
// The 16 taps interpolate frequencies up to this fraction of the sample rate within kAllowed.
constexpr double kWidest = 0.34, kAllowed = 4e-3;

std::size_t points_of(const Problem& problem) { return problem.pulses * problem.samples; }

void run_anywhere(const Device& device, const Migration& variant, const std::vector<Complex>& in,
                  std::vector<Complex>& out) {
  if (device.is_host()) return variant.run(in.data(), out.data());
  Queue queue = device.queue();
  const Buffer from = device.buffer(in.size() * sizeof(Complex)), to = device.buffer(out.size() * sizeof(Complex));
  queue.upload(std::span<const Complex>(in), from);
  variant.enqueue(queue, from, to);
  queue.download(to, out.data(), out.size() * sizeof(Complex));
  queue.finish();
}

}  // namespace

void Migration::run(const Complex*, Complex*) const {
  throw Error(ErrorKind::internal, "sar: a device's migration step needs device buffers, got host memory");
}
void Migration::enqueue(Queue&, const Buffer&, const Buffer&) const {
  throw Error(ErrorKind::internal, "sar: the host's migration step needs host memory, got device buffers");
}

double migration_flops(const Problem& problem) {
  return doppler_band(problem) / problem.radar.pulse_rate_hz * static_cast<double>(points_of(problem)) *
         (4 * kTaps + 6);
}

planner::Cost migration_cost(const Problem& problem, double flops, double efficiency) {
  return {.flops = flops,
          .bytes = 3.0 * static_cast<double>(points_of(problem) * sizeof(Complex)),
          .launches = 1,
          .efficiency = efficiency,
          .float64 = false,
          .threads = problem.threads};
}

double MigrationTrials::seconds(const Migration& variant) {
  const std::size_t bytes = points_of(problem_) * sizeof(Complex);
  if (device_.is_host()) {
    std::vector<Complex> in(points_of(problem_)), out(in.size());
    fill_random(std::as_writable_bytes(std::span(in)), Numbers::float32);
    return base::best_seconds([&] { variant.run(in.data(), out.data()); }, kTrial);
  }
  Queue queue = device_.queue();
  const Buffer in = device_.buffer(bytes, {.name = "sar trial"}), out = device_.buffer(bytes, {.name = "sar trial"});
  fill_random(queue, in, Numbers::float32);
  return best_device_seconds(queue, {[&] { variant.enqueue(queue, in, out); }}, kTrial).front();
}

// Every Doppler bin holds two tones of whole periods per line, one near the edge of the band. A fifth of the points is
// compared, in every row and every bin.
planner::Comparison MigrationTrials::compare(const Migration& variant) {
  const auto n = static_cast<double>(problem_.samples);
  const std::size_t pulses = problem_.pulses;
  const double band = std::min(kWidest, problem_.radar.bandwidth_hz / problem_.radar.sample_rate_hz / 2);
  const double low = std::round(-0.31 * band * n), high = std::floor(band * n);
  const auto tones = [&](double row) {
    return std::polar(1.0, 2 * kPi * low * row / n) + std::polar(0.7, 2 * kPi * high * row / n);
  };
  std::vector<std::complex<double>> phases(pulses);
  for (std::size_t f = 0; f < pulses; ++f) phases[f] = std::polar(1.0, 0.37 * static_cast<double>(f));
  const float unwritten = std::numeric_limits<float>::quiet_NaN();
  std::vector<Complex> in(points_of(problem_)), got(in.size(), {unwritten, unwritten});
  for (std::size_t r = 0; r < problem_.samples; ++r) {
    const std::complex<double> here = tones(static_cast<double>(r));
    for (std::size_t f = 0; f < pulses; ++f) in[r * pulses + f] = Complex(here * phases[f]);
  }
  run_anywhere(device_, variant, in, got);
  std::vector<Complex> wanted = got;
  double squares = 0, compared = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t f = i % pulses;
    const auto row = static_cast<double>(i / pulses);
    const double place = row + (double{tables_.first_range} + row) * double{tables_.stretch[f]};
    // Near an end of the line a variant may repeat the line or read zeros.
    const bool inside = place >= kTaps && place < n - kTaps;
    if (tables_.azimuth[i] == Complex()) {
      wanted[i] = {};
    } else if (inside && (i / pulses + f) % 5 == 0) {
      wanted[i] = Complex(tones(place) * phases[f] * std::complex<double>(tables_.azimuth[i]));
      squares += double{std::norm(wanted[i])};
      ++compared;
    }
  }
  // The bound refers to the compared tones. compare() divides by the mean of all values, which zeros outside the
  // Doppler band and beyond the ends of the lines reduce.
  double all = 0;
  for (const Complex& value : wanted) all += double{std::norm(value)};
  const double share = compared > 0 && all > 0 ? squares / compared / (all / static_cast<double>(wanted.size())) : 1;
  const auto numbers = [](const std::vector<Complex>& v) {
    return std::span(reinterpret_cast<const float*>(v.data()), 2 * v.size());
  };
  return planner::compare(numbers(got), numbers(wanted),
                          (kAllowed + 4 * kPi * band * variant.residual()) * std::sqrt(std::max(1.0, share)),
                          [pulses](std::size_t number) {
                            return fmt::format("range {}, Doppler bin {}", number / 2 / pulses, number / 2 % pulses);
                          });
}

}  // namespace ridge::sar
