// Shared by the filter bank's tests: noise in every sample type, runs of a whole stream, and the reference result.
#pragma once
#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <vector>

#include <ridge/filterbank.hpp>

#include "base/aligned.hpp"
#include "filterbank/geometry.hpp"
#include "filterbank/reference.hpp"

namespace ridge::filterbank::test {

using Spectra = std::vector<std::complex<float>>;
using Bytes = std::vector<std::byte>;

inline planner::Options only(const std::string& variant) {
  return {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = variant};
}

inline Plan plan_of(const Problem& problem, const std::string& variant = "fused") {
  return plan(host(), problem, only(variant));
}

// Every bit pattern for integers; floats between -1 and 1.
inline Bytes noise(const Problem& problem, std::size_t samples, unsigned seed = 1) {
  const Geometry g = resolve(problem);
  const std::size_t frames = (samples + g.block - 1) / g.block;
  Bytes bytes(frames * g.frame_bytes());
  std::mt19937 random(seed);
  if (problem.samples == Samples::float32) {
    std::uniform_real_distribution<float> values(-1, 1);
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
      const float value = values(random);
      std::memcpy(bytes.data() + i, &value, 4);
    }
  } else {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  }
  return bytes;
}

inline Spectra run(const Plan& plan, std::span<const std::byte> bytes) {
  // Aligned to a cache line, as non-temporal stores require.
  base::AlignedArray<std::complex<float>> out(Stream(plan).due(bytes.size()) * plan.spectrum_size());
  plan.run(bytes, out.span());
  return {out.begin(), out.end()};
}

// Delays in samples, [polarization][station], at one sample number.
struct DelayPoint {
  std::uint64_t sample;
  std::vector<double> delays;
};

// Delays that cross half samples, each station at another spectrum, with different polarizations.
inline std::vector<DelayPoint> moving_delays(const Problem& problem) {
  std::vector<DelayPoint> points;
  for (std::size_t i = 0; i < 3; ++i) {
    DelayPoint point{100 + 400 * i, {}};
    for (std::size_t j = 0; j < problem.polarizations * problem.stations; ++j) {
      const auto station = static_cast<double>(j % problem.stations), polarization = j >= problem.stations ? 1.0 : 0.0;
      point.delays.push_back(10.3 * station + 0.13 * polarization + (i == 1 ? 2.9 : 0.2) * (station + 0.5));
    }
    points.push_back(point);
  }
  return points;
}

inline Spectra run_in_pieces(const Plan& plan, std::span<const std::byte> bytes, const std::vector<DelayPoint>& points,
                             std::size_t piece) {
  Stream stream(plan);
  for (const auto& point : points) stream.set_delays(point.sample, point.delays);
  Spectra out;
  while (!bytes.empty()) {
    const auto now = bytes.first(std::min(piece, bytes.size()));
    const std::size_t before = out.size();
    out.resize(before + stream.due(now.size()) * plan.spectrum_size());
    stream.push(now, std::span(out).subspan(before));
    bytes = bytes.subspan(now.size());
  }
  return out;
}

inline double delay_at(const std::vector<DelayPoint>& points, double sample, std::size_t index) {
  if (points.empty()) return 0;
  if (sample <= static_cast<double>(points.front().sample)) return points.front().delays[index];
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto from = static_cast<double>(points[i - 1].sample), to = static_cast<double>(points[i].sample);
    if (sample > to) continue;
    return points[i - 1].delays[index] +
           (sample - from) / (to - from) * (points[i].delays[index] - points[i - 1].delays[index]);
  }
  return points.back().delays[index];
}

// The whole output by the definition, with delays, bandpass and order.
inline std::vector<std::complex<double>> expected(const Problem& problem, std::span<const std::byte> bytes,
                                                  const std::vector<DelayPoint>& points = {}) {
  const Geometry g = resolve(problem);
  const Problem whole_problem = complete(problem);  // designs the weights once
  const std::size_t spectra = g.spectra_in(bytes.size());
  std::vector<std::complex<double>> out(spectra * g.spectrum_size());
  for (std::size_t p = 0; p < g.polarizations; ++p) {
    for (std::size_t s = 0; s < g.stations; ++s) {
      const auto samples = station_samples(problem, bytes, s, p);
      for (std::size_t t = 0; t < spectra; ++t) {
        const double middle =
            static_cast<double>((t + 1) * g.hop) - 1 - (static_cast<double>(g.channels * g.taps) - 1) / 2;
        const std::int64_t whole = std::llround(delay_at(points, middle, s));
        const double tau = delay_at(points, middle, p * g.stations + s);
        const auto one = reference(whole_problem, samples, t, 1, -whole);
        for (std::size_t k = 0; k < g.channels; ++k) {
          std::complex<double> factor = 1;
          if (problem.bandpass.size() == g.channels) factor = problem.bandpass[k];
          if (problem.bandpass.size() == g.spectrum_size() && g.spectrum_size() != g.channels) {
            factor = problem.bandpass[(p * g.stations + s) * g.channels + k];
          }
          const auto number = static_cast<double>(g.signed_channel(k));
          const double cycles = problem.delays.frequency * tau +
                                number / static_cast<double>(g.channels) * (tau - static_cast<double>(whole));
          if (!points.empty()) factor *= std::polar(1.0, 2 * M_PI * (cycles - std::rint(cycles)));
          const std::size_t n = problem.output_times;
          const std::size_t at = problem.order == Order::time
                                     ? ((t * g.polarizations + p) * g.stations + s) * g.channels + k
                                     : (((t / n * g.channels + k) * g.stations + s) * g.polarizations + p) * n + t % n;
          out[at] = factor * one[k];
        }
      }
    }
  }
  return out;
}

// Relative L2 error; huge if the sizes differ.
template <class A, class B>
double error(const std::vector<A>& got, const std::vector<B>& wanted) {
  if (got.size() != wanted.size()) return 1e30;
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference += std::norm(std::complex<double>(got[i]) - std::complex<double>(wanted[i]));
    size += std::norm(std::complex<double>(wanted[i]));
  }
  return std::sqrt(difference / (size > 0 ? size : 1));
}

inline bool same_bits(const Spectra& a, const Spectra& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

// One polarization of floats: a tone at `frequency` channels.
inline Bytes tone(std::size_t channels, double frequency, std::size_t samples) {
  Bytes bytes(samples * 8);
  for (std::size_t n = 0; n < samples; ++n) {
    const double angle = 2 * M_PI * frequency * static_cast<double>(n) / static_cast<double>(channels);
    const float parts[2] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
    std::memcpy(bytes.data() + n * 8, parts, 8);
  }
  return bytes;
}

}  // namespace ridge::filterbank::test
