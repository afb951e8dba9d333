// Checks correlators and detectors that follow a filter bank, on random spectra pushed in random pieces, against plain
// sums in double.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <ridge/filterbank.hpp>

#include "check/check.hpp"
#include "check/random.hpp"

namespace ridge::check {
namespace {

using filterbank::Order;
using Value = std::complex<double>;

struct Spectra {
  filterbank::Problem problem;
  std::vector<std::complex<float>> values;

  std::size_t size() const { return problem.polarizations * problem.stations * problem.channels; }
  Value at(std::size_t t, std::size_t p, std::size_t s, std::size_t k) const {
    const auto& b = problem;
    std::size_t place = ((t * b.polarizations + p) * b.stations + s) * b.channels + k;
    if (b.order == Order::channel) {
      const std::size_t times = b.output_times;
      place = (((t / times * b.channels + k) * b.stations + s) * b.polarizations + p) * times + t % times;
    }
    return Value(values[place]);
  }
};

// Draws a number of channels per sum. No sum contains both edges of the band, which meet at channel (n + 1) / 2.
std::size_t channels_to_sum(Random& random, std::size_t n) {
  std::vector<std::size_t> divisors;
  for (std::size_t d = 1; d <= n; ++d) {
    if (n % d == 0 && ((n + 1) / 2 % d == 0 || d == n)) divisors.push_back(d);
  }
  return random.one_of(divisors);
}

Spectra draw_spectra(Draw& draw, bool channel_order, std::size_t& times) {
  Random& random = draw.random;
  Spectra spectra;
  filterbank::Problem& problem = spectra.problem;
  problem.polarizations = random.between(1, 2);
  problem.order = channel_order ? Order::channel : Order::time;
  problem.output_times = random.between(1, 16);
  const std::uint64_t data = random.bits();
  problem.stations = random.magnitude(std::clamp<std::size_t>(draw.points / 16, 1, 70));
  problem.channels = random.length(std::clamp<std::size_t>(draw.points / problem.stations / 4, 1, 512));
  times = random.magnitude(std::clamp<std::size_t>(draw.points / spectra.size(), 2, 400)) + 1;
  if (channel_order) times = (times + problem.output_times - 1) / problem.output_times * problem.output_times;
  spectra.values.resize(times * spectra.size());
  fill_floats(std::as_writable_bytes(std::span(spectra.values)), Random(data));
  return spectra;
}

template <class Worker, class Out>
std::string push_in_pieces(Worker& worker, const Spectra& spectra, std::size_t times, std::size_t row,
                           std::vector<Out>& out, std::uint64_t cuts) {
  Random random(cuts);
  const std::size_t grain = spectra.problem.order == Order::channel ? spectra.problem.output_times : 1;
  std::size_t written = 0;
  for (std::size_t at = 0; at < times;) {
    const std::size_t piece = std::min(times - at, (1 + random.below(times)) / grain * grain + (grain > 1 ? grain : 0));
    const std::size_t step = std::max<std::size_t>(piece, 1);
    const auto part =
        std::span<const std::complex<float>>(spectra.values).subspan(at * spectra.size(), step * spectra.size());
    const auto room = std::span<Out>(out).subspan(written * row);
    if (worker.due(step) * row > room.size()) return fmt::format("{} spectra have {} rows due", step, worker.due(step));
    written += worker.push(part, room);
    at += step;
  }
  return written * row == out.size() ? "" : fmt::format("{} rows instead of {}", written, out.size() / row);
}

Outcome correlator(Draw& draw) {
  Outcome outcome;
  std::size_t times = 0;
  const bool channel_order = draw.random.chance(0.6);
  const std::uint64_t cuts = draw.random.bits();
  const Spectra spectra = draw_spectra(draw, channel_order, times);
  const filterbank::Problem& b = spectra.problem;
  filterbank::Correlation wanted{.times = draw.random.magnitude(times),
                                 .channels = channels_to_sum(draw.random, b.channels)};
  // Input may be rounded to int8 or float16 first; the allowed error follows from the rounding step.
  double step = 0;
  if (draw.random.chance(0.4)) {
    const bool bytes = draw.random.chance(0.5);
    wanted.arithmetic = bytes ? filterbank::Arithmetic::int8 : filterbank::Arithmetic::float16;
    wanted.scale = bytes ? 100.0f : 1.0f;
    step = bytes ? 0.5 / 100 : 0x1p-11;
  }
  // In channel-first order, an integration covers whole blocks of times.
  if (channel_order) wanted.times = (wanted.times + b.output_times - 1) / b.output_times * b.output_times;
  draw.problem = fmt::format("correlator{} of {} stations, {} polarizations, {} channels by {}, {} times by {}, {}",
                             wanted.arithmetic == filterbank::Arithmetic::int8      ? " (int8)"
                             : wanted.arithmetic == filterbank::Arithmetic::float16 ? " (float16)"
                                                                                    : "",
                             b.stations, b.polarizations, b.channels, wanted.channels, times, wanted.times,
                             channel_order ? fmt::format("channels first, {} times", b.output_times) : "time first");
  filterbank::Correlator worker =
      draw.device.is_host() ? filterbank::Correlator(b, wanted) : filterbank::Correlator(draw.device, b, wanted);
  const float unwritten = std::numeric_limits<float>::quiet_NaN();
  const std::size_t integrations = times / wanted.times;
  std::vector<std::complex<float>> got(integrations * worker.size(), {unwritten, unwritten});
  outcome.wrong = push_in_pieces(worker, spectra, times, worker.size(), got, cuts);
  if (!outcome.wrong.empty()) return outcome;
  draw.answered(std::as_writable_bytes(std::span(got)));
  const std::size_t pols = b.polarizations, channels = b.channels / wanted.channels;
  const auto summed = static_cast<double>(wanted.times * wanted.channels);
  // Values are within 1: a product is off by at most two steps per part, most of which cancel in a long sum.
  const double allowed = 4e-6 * std::sqrt(summed) + 1e-6 + 4 * step * std::min(summed, 6 * std::sqrt(summed));
  Random random(cuts + 1);
  const bool all = got.size() * wanted.times * wanted.channels < 2'000'000;
  for (std::size_t n = 0; n < (all ? got.size() : std::min<std::size_t>(got.size(), 500)); ++n) {
    const std::size_t index = all ? n : random.below(got.size());
    const std::size_t q = index % pols, p = index / pols % pols, k = index / pols / pols % channels;
    const std::size_t baseline = index / pols / pols / channels % worker.baselines();
    const std::size_t integration = index / worker.size();
    std::size_t j = 0;
    while ((j + 1) * (j + 2) / 2 <= baseline) ++j;
    const std::size_t i = baseline - j * (j + 1) / 2;
    Value sum = 0;
    for (std::size_t t = integration * wanted.times; t < (integration + 1) * wanted.times; ++t) {
      for (std::size_t c = k * wanted.channels; c < (k + 1) * wanted.channels; ++c)
        sum += spectra.at(t, p, i, c) * std::conj(spectra.at(t, q, j, c));
    }
    if (std::abs(Value(got[index]) - sum) <= allowed) continue;
    outcome.wrong = fmt::format(
        "integration {}, stations {} and {}, channel {}, polarizations {} and {}: {}{:+}i instead of "
        "{}{:+}i, allowed {:.1e}",
        integration, i, j, k, p, q, got[index].real(), got[index].imag(), sum.real(), sum.imag(), allowed);
    break;
  }
  return outcome;
}

Outcome detector(Draw& draw) {
  Outcome outcome;
  std::size_t times = 0;
  const std::uint64_t cuts = draw.random.bits();
  const std::size_t products = draw.random.below(4);
  const Spectra spectra = draw_spectra(draw, false, times);
  const filterbank::Problem& b = spectra.problem;
  filterbank::Detection wanted;
  wanted.products = products == 2 && b.polarizations == 2 ? filterbank::Products::stokes
                    : products == 1                       ? filterbank::Products::powers
                    : products == 3                       ? filterbank::Products::moments
                                                          : filterbank::Products::total;
  wanted.times = draw.random.magnitude(times);
  wanted.channels = channels_to_sum(draw.random, b.channels);
  draw.problem = fmt::format("detector {} of {} stations, {} polarizations, {} channels by {}, {} times by {}",
                             static_cast<int>(wanted.products), b.stations, b.polarizations, b.channels,
                             wanted.channels, times, wanted.times);
  filterbank::Detector worker(b, wanted);
  std::vector<float> got(times / wanted.times * worker.row_size(), std::numeric_limits<float>::quiet_NaN());
  outcome.wrong = push_in_pieces(worker, spectra, times, worker.row_size(), got, cuts);
  if (!outcome.wrong.empty()) return outcome;
  draw.answered(std::as_writable_bytes(std::span(got)));
  const std::size_t channels = worker.channels(), count = worker.products();
  for (std::size_t index = 0; index < got.size(); ++index) {
    const std::size_t k = index % channels, product = index / channels % count;
    const std::size_t s = index / channels / count % b.stations, row = index / worker.row_size();
    double sum = 0, size = 0;
    for (std::size_t t = row * wanted.times; t < (row + 1) * wanted.times; ++t) {
      for (std::size_t c = k * wanted.channels; c < (k + 1) * wanted.channels; ++c) {
        const Value x = spectra.at(t, 0, s, c), y = b.polarizations == 2 ? spectra.at(t, 1, s, c) : Value();
        const Value cross = x * std::conj(y);
        const double stokes[] = {std::norm(x) + std::norm(y), std::norm(x) - std::norm(y), 2 * cross.real(),
                                 -2 * cross.imag()};
        const double own = product % b.polarizations == 0 ? std::norm(x) : std::norm(y);
        const bool square = wanted.products == filterbank::Products::moments && product >= b.polarizations;
        size += square ? own * own : std::norm(x) + std::norm(y);
        switch (wanted.products) {
          case filterbank::Products::total:
            sum += stokes[0];
            break;
          case filterbank::Products::powers:
            sum += own;
            break;
          case filterbank::Products::moments:
            sum += square ? own * own : own;
            break;
          default:
            sum += stokes[product];
        }
      }
    }
    const double value = got[index];
    if (std::abs(value - sum) <= 1e-5 * size) continue;
    outcome.wrong =
        fmt::format("row {}, station {}, product {}, channel {}: {} instead of {}", row, s, product, k, value, sum);
    break;
  }
  return outcome;
}

}  // namespace

Outcome check_correlator(Draw& draw) { return draw.random.chance(0.7) ? correlator(draw) : detector(draw); }

}  // namespace ridge::check
