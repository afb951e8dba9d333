// Leakage and reconstruction error of a filter bank, measured through the bank.
#include "filterbank/prototype/measure.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "base/svg.hpp"
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

// SVG plot of a prototype filter's frequency response.

namespace {

namespace svg = base::svg;

constexpr double kWidth = 860, kHeight = 460, kLeft = 64, kRight = kWidth - 20, kTop = 84, kBottom = kHeight - 44;

std::string polyline(const std::vector<std::pair<double, double>>& points, const svg::Axis& x, const svg::Axis& y,
                     double shift, const std::string& style) {
  std::string path;
  for (const auto& [offset, level] : points) {
    const double at = offset + shift;
    if (at < x.low || at > x.high) continue;
    path += fmt::format("{:.1f},{:.1f} ", x.at(at), y.at(std::max(level, y.low)));
  }
  return fmt::format("<polyline class=\"line {}\" points=\"{}\"/>\n", style, path);
}

}  // namespace

std::string response_svg(std::span<const double> prototype, std::size_t channels, const Quality& quality,
                         double channels_shown) {
  const std::size_t taps = prototype.size() / channels;
  const double floor_db = std::floor((quality.leakage_db - 25) / 20) * 20;
  const svg::Axis x{svg::Spacing::linear, -channels_shown, channels_shown, kLeft, kRight};
  const svg::Axis y{svg::Spacing::linear, floor_db, 10, kBottom, kTop};
  std::string out =
      svg::open(kWidth, kHeight, fmt::format("Response of a channel, {} channels x {} taps", channels, taps), true);
  out += fmt::format("<text class=\"title\" x=\"{}\" y=\"26\">Response of a channel: {} channels, {} taps</text>\n",
                     kLeft, channels, taps);
  out += fmt::format(
      "<text x=\"{}\" y=\"46\">leakage<tspan dx=\"5\"{}>{:.1f} dB</tspan> beyond {:g} channels, edge<tspan "
      "dx=\"5\"{}>{:.2f} dB</tspan>, ripple<tspan dx=\"5\"{}>{:.3f} dB</tspan> within a quarter</text>\n",
      kLeft, svg::data("leakage_db", quality.leakage_db), quality.leakage_db, quality.beyond,
      svg::data("edge_db", quality.edge_db), quality.edge_db, svg::data("ripple_db", quality.ripple_db),
      quality.ripple_db);
  for (const double tick : y.ticks(8)) {
    out += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kLeft, kRight,
                       y.at(tick), y.at(tick));
    out += fmt::format("<text class=\"small\" text-anchor=\"end\" x=\"{}\" y=\"{:.1f}\">{:g} dB</text>\n", kLeft - 6,
                       y.at(tick) + 4, tick);
  }
  for (const double tick : x.ticks(8)) {
    out += fmt::format("<text class=\"small\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{}\">{:g}</text>\n", x.at(tick),
                       kBottom + 18, tick);
  }
  out += fmt::format(
      "<text class=\"small\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{}\">channels from the centre</text>\n",
      (kLeft + kRight) / 2, kBottom + 36);
  for (const double edge : {-0.5, 0.5}) {
    out += fmt::format("<line class=\"lead\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\"/>\n", x.at(edge),
                       x.at(edge), kTop, kBottom);
  }
  out += fmt::format("<line class=\"peak2\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kLeft, kRight,
                     y.at(quality.leakage_db), y.at(quality.leakage_db));

  // Fine enough for the side lobes, which are 1 / taps channels wide. Adjacent channels have the same curve, shifted.
  std::vector<std::pair<double, double>> curve;
  const double step = std::max(1.0 / (8 * static_cast<double>(taps)), 2 * channels_shown / 4000);
  for (double offset = 0; offset <= channels_shown + 1; offset += step) {
    curve.emplace_back(offset, response_db(prototype, channels, offset));
  }
  std::vector<std::pair<double, double>> whole;
  for (auto one = curve.rbegin(); one != curve.rend(); ++one) whole.emplace_back(-one->first, one->second);
  whole.insert(whole.end(), curve.begin() + 1, curve.end());
  out += polyline(whole, x, y, -1, "s1 dash1");
  out += polyline(whole, x, y, 1, "s1 dash1");
  out += polyline(whole, x, y, 0, "s0");
  svg::legend({{"line s0", "this channel"}, {"line s1 dash1", "its neighbours"}, {"peak2", "worst leakage"}}, kLeft, 56,
              kRight - kLeft, out);
  return out + "</svg>\n";
}

}  // namespace ridge::filterbank
