// Frames of random echoes against the same algorithm in double, with plain transforms: every pixel.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <ridge/sar.hpp>

#include "check/check.hpp"
#include "device/random.hpp"
#include "fft/reference.hpp"
#include "sar/tables.hpp"

namespace ridge::check {
namespace {

using fft::reference::Point;
using Value = std::complex<double>;

std::vector<Value> transformed(const std::vector<Value>& in, bool inverse) {
  std::vector<Point<double>> x(in.size()), y(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) x[i] = {in[i].real(), in[i].imag()};
  fft::reference::transform(x.data(), 1, x.size(), y.data(),
                            fft::reference::roots_of_unity<double>(in.size(), inverse ? 1 : -1), 1);
  std::vector<Value> out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = {y[i].re, y[i].im};
  return out;
}

// Range compression, corner turn, Doppler, migration with azimuth compression, back: [range][pulse].
std::vector<Value> focused(const sar::Problem& problem, const std::vector<sar::Complex>& echoes) {
  const std::size_t pulses = problem.pulses, samples = problem.samples;
  const sar::Tables tables = sar::make_tables(problem);
  std::vector<Value> plane(pulses * samples), straight(pulses * samples);
  for (std::size_t p = 0; p < pulses; ++p) {
    std::vector<Value> line(echoes.begin() + static_cast<std::ptrdiff_t>(p * samples),
                            echoes.begin() + static_cast<std::ptrdiff_t>((p + 1) * samples));
    line = transformed(line, false);
    for (std::size_t k = 0; k < samples; ++k) line[k] *= tables.compression[k];
    line = transformed(line, true);
    for (std::size_t r = 0; r < samples; ++r) plane[r * pulses + p] = line[r];
  }
  for (std::size_t r = 0; r < samples; ++r) {
    const auto row = plane.begin() + static_cast<std::ptrdiff_t>(r * pulses);
    const std::vector<Value> line = transformed({row, row + static_cast<std::ptrdiff_t>(pulses)}, false);
    std::copy(line.begin(), line.end(), row);
  }
  for (std::size_t r = 0; r < samples; ++r) {
    for (std::size_t f = 0; f < pulses; ++f) {
      const Value filter = tables.azimuth[r * pulses + f];
      if (filter == Value()) continue;
      // Where between two cells is decided in float everywhere: another place would be another answer.
      const float shift = (tables.first_range + static_cast<float>(r)) * tables.stretch[f];
      const float whole = std::floor(shift);
      const auto fraction = static_cast<std::size_t>((shift - whole) * sar::kFractions + 0.5F);
      Value sum = 0;
      for (int tap = 0; tap < sar::kTaps; ++tap) {
        const auto row =
            static_cast<std::ptrdiff_t>(r) + static_cast<std::ptrdiff_t>(whole) - (sar::kTaps / 2 - 1) + tap;
        if (row < 0 || row >= static_cast<std::ptrdiff_t>(samples)) continue;
        sum += static_cast<double>(tables.taps[fraction * sar::kTaps + static_cast<std::size_t>(tap)]) *
               plane[static_cast<std::size_t>(row) * pulses + f];
      }
      straight[r * pulses + f] = sum * filter;
    }
  }
  for (std::size_t r = 0; r < samples; ++r) {
    const auto row = straight.begin() + static_cast<std::ptrdiff_t>(r * pulses);
    const std::vector<Value> line = transformed({row, row + static_cast<std::ptrdiff_t>(pulses)}, true);
    std::copy(line.begin(), line.end(), row);
  }
  return straight;
}

}  // namespace

Outcome check_sar(Draw& draw) {
  Random& random = draw.random;
  sar::Problem problem;
  problem.window = random.one_of(std::vector{sar::Window::none, sar::Window::hamming, sar::Window::taylor});
  problem.threads = random.below(4);
  problem.doppler_share = 0.3 + 0.6 * random.uniform();
  const double chirp_share = 0.1 + 0.35 * random.uniform();
  const bool large = draw.points > (1U << 20);
  const std::uint64_t data = random.bits();
  const std::size_t side = large ? 1024 : std::clamp<std::size_t>(draw.points / 40, 40, 400);
  problem.samples = std::max<std::size_t>(32, random.length(side));
  problem.pulses = std::max<std::size_t>(32, random.length(side));
  problem.radar.pulse_s = chirp_share * static_cast<double>(problem.samples) / problem.radar.sample_rate_hz;
  Outcome outcome;
  draw.problem = fmt::format("{} pulses x {} samples, window {}, chirp of {:.2f} us, {:.2f} of the Doppler band",
                             problem.pulses, problem.samples, static_cast<int>(problem.window),
                             1e6 * problem.radar.pulse_s, problem.doppler_share);
  sar::check(problem);
  const sar::Plan focus(draw.device, problem);
  std::vector<sar::Complex> echoes(problem.pulses * problem.samples);
  fill_random(std::as_writable_bytes(std::span(echoes)), Numbers::float32, data);
  const float unwritten = std::numeric_limits<float>::quiet_NaN();
  std::vector<sar::Complex> image(echoes.size(), {unwritten, unwritten});
  focus.run(echoes, image);
  draw.answered(std::as_writable_bytes(std::span(image)));
  const std::vector<Value> expected = focused(problem, echoes);
  double square = 0;
  for (const Value& value : expected) square += std::norm(value);
  const double allowed = 2e-5 * std::sqrt(square / static_cast<double>(expected.size()));
  for (std::size_t i = 0; i < image.size(); ++i) {
    if (std::abs(Value(image[i]) - expected[i]) <= allowed) continue;
    outcome.wrong = fmt::format("range {}, pulse {}: {}{:+}i where {}{:+}i belongs, allowed {:.1e}", i / problem.pulses,
                                i % problem.pulses, image[i].real(), image[i].imag(), expected[i].real(),
                                expected[i].imag(), allowed);
    break;
  }
  return outcome;
}

}  // namespace ridge::check
