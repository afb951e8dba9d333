// Leakage and reconstruction error of a filter bank, measured through the bank.
#include "filterbank/measure.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "base/worst.hpp"

namespace ridge::filterbank {
namespace {

Problem float_problem(std::span<const double> prototype, std::size_t channels, Ratio ratio) {
  return {.channels = channels,
          .taps = prototype.size() / channels,
          .polarizations = 1,
          .samples = Samples::float32,
          .oversampling = ratio,
          .weights = {prototype.begin(), prototype.end()}};
}

std::vector<std::complex<float>> spectra_of(const Plan& plan, std::span<const std::complex<float>> samples) {
  Stream stream(plan);
  std::vector<std::complex<float>> spectra(stream.due(samples.size_bytes()) * plan.spectrum_size());
  stream.push(samples, spectra);
  return spectra;
}

}  // namespace

double leakage_of_tone_db(const Device& device, std::span<const double> prototype, std::size_t channels, double off,
                          double beyond) {
  const Problem problem = float_problem(prototype, channels, {1, 1});
  const double frequency = static_cast<double>(channels / 3) + off;  // a channel away from 0 and from half the band
  std::vector<std::complex<float>> samples(channels * (problem.taps + 3));
  for (std::size_t n = 0; n < samples.size(); ++n) {
    const double cycles = frequency * static_cast<double>(n) / static_cast<double>(channels);
    samples[n] =
        static_cast<std::complex<float>>(std::polar(1.0, 2 * std::numbers::pi * (cycles - std::floor(cycles))));
  }
  const auto spectra = spectra_of(plan(device, problem, {.effort = Effort::quick}), samples);
  const std::complex<float>* last = spectra.data() + spectra.size() - channels;
  double loudest = 1e-30, leak = 1e-30;
  for (std::size_t k = 0; k < channels; ++k) {
    const double level = std::abs(std::complex<double>(last[k]));
    loudest = base::worse(loudest, level);
    const double away = std::abs(std::remainder(static_cast<double>(k) - frequency, static_cast<double>(channels)));
    if (away > beyond) leak = base::worse(leak, level);
  }
  return 20 * std::log10(leak / loudest);
}

double reconstruction_db(const Device& device, std::span<const double> prototype, std::size_t channels, Ratio ratio,
                         double length) {
  const Problem problem = float_problem(prototype, channels, ratio);
  const Plan bank = plan(device, problem, {.effort = Effort::quick});
  Synthesis synthesis(problem, length);
  const auto reach = static_cast<std::size_t>(length * static_cast<double>(prototype.size())) + prototype.size();
  std::vector<std::complex<float>> samples((3 * reach / bank.hop() + 1) * bank.hop());
  std::uint32_t noise = 12345;
  const auto next = [&] {
    noise = noise * 1664525 + 1013904223;
    return static_cast<float>(noise >> 8) / 8388608.0f - 1.0f;
  };
  for (auto& sample : samples) {
    const float re = next();
    sample = {re, next()};
  }
  const auto spectra = spectra_of(bank, samples);
  std::vector<std::complex<float>> out(spectra.size() / bank.spectrum_size() * synthesis.step_size());
  synthesis.push(spectra, out);
  double difference = 0, size = 0;
  // Excludes the transients at both ends of the stream.
  for (std::size_t n = reach; n + synthesis.delay() < out.size(); ++n) {
    difference += std::norm(std::complex<double>(out[n + synthesis.delay()]) - std::complex<double>(samples[n]));
    size += std::norm(std::complex<double>(samples[n]));
  }
  return 10 * std::log10(std::max(difference, 1e-300) / std::max(size, 1e-300));
}

std::vector<Ratio> oversampling_ratios(std::size_t channels) {
  std::vector<Ratio> ratios;
  for (std::size_t numerator = 2; numerator <= std::min<std::size_t>(channels, 64); ++numerator) {
    for (std::size_t denominator = (numerator + 3) / 4; 8 * denominator <= 7 * numerator; ++denominator) {
      if (std::gcd(numerator, denominator) != 1 || channels * denominator % numerator != 0) continue;
      ratios.push_back({numerator, denominator});
    }
  }
  std::sort(ratios.begin(), ratios.end(),
            [](const Ratio& a, const Ratio& b) { return a.numerator * b.denominator < b.numerator * a.denominator; });
  return ratios;
}

}  // namespace ridge::filterbank
