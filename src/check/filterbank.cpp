// Checks filter banks of any shape and sample type, on streams pushed in random pieces, against the defining sum in
// double.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numbers>
#include <vector>

#include <fmt/format.h>
#include <ridge/filterbank.hpp>

#include "check/check.hpp"
#include "check/random.hpp"

namespace ridge::check {
namespace {

using filterbank::Order;

// Delays in samples of every (polarization, station) at one sample time.
struct DelayPoint {
  std::uint64_t sample = 0;
  std::vector<double> delays{};
};

struct BankCase {
  filterbank::Problem problem{};
  std::size_t spectra = 0;
  std::vector<DelayPoint> delays{};  // in order of time
  std::uint64_t data = 0, by_chance = 0, cuts = 0;
  bool has_nan = false;  // one sample of one station is NaN
};

std::size_t hop_of(const filterbank::Problem& problem) {
  return problem.channels * problem.oversampling.denominator / problem.oversampling.numerator;
}

// Draws up to four delay points over a stream of `samples` samples, some before its first spectrum and after its last:
// constant, rising and falling delays, equal for both polarizations of a station within 1.5 samples.
std::vector<DelayPoint> draw_delays(const filterbank::Problem& problem, std::size_t samples, Random& random) {
  std::vector<DelayPoint> points(random.between(1, 4));
  std::uint64_t sample = random.chance(0.5) ? 0 : random.below(samples + 1);
  for (DelayPoint& point : points) {
    point.sample = sample;
    sample += 1 + random.below(samples + 1);
    const double most = static_cast<double>(problem.delays.longest) + 0.49;
    for (std::size_t s = 0; s < problem.stations; ++s) point.delays.push_back((most + 0.49) * random.uniform() - 0.49);
    for (std::size_t s = 0; s < problem.stations && problem.polarizations == 2; ++s)
      point.delays.push_back(std::clamp(point.delays[s] + 3 * random.uniform() - 1.5, -0.49, most));
  }
  return points;
}

// The windowed sinc of include/ridge/filterbank/prototype.hpp, from its definition.
std::vector<double> prototype_of(const filterbank::Problem& problem) {
  using std::numbers::pi;
  if (!problem.weights.empty()) return problem.weights;
  const filterbank::Prototype& wanted = problem.prototype;
  std::vector<double> h(problem.channels * problem.taps);
  const auto length = static_cast<double>(h.size()), channels = static_cast<double>(problem.channels);
  double sum = 0;
  for (std::size_t n = 0; n < h.size(); ++n) {
    const double at = static_cast<double>(n) - (length - 1) / 2, x = 2 * at / length;
    const double turn = pi * wanted.width * at / channels;
    double weight = turn == 0 ? 1 : std::sin(turn) / turn;
    switch (wanted.window) {
      case filterbank::Window::hamming:
        weight *= 0.54 + 0.46 * std::cos(pi * x);
        break;
      case filterbank::Window::blackman:
        weight *= 0.42 + 0.5 * std::cos(pi * x) + 0.08 * std::cos(2 * pi * x);
        break;
      case filterbank::Window::gaussian: {
        const double sigma = wanted.shape == 0 ? 0.22 : wanted.shape;
        weight *= std::exp(-x * x / (2 * sigma * sigma));
        break;
      }
      default: {
        const double beta = wanted.shape == 0 ? 10.61 : wanted.shape;
        weight *= std::cyl_bessel_i(0.0, beta * std::sqrt(1 - x * x)) / std::cyl_bessel_i(0.0, beta);
        break;
      }
    }
    h[n] = weight;
    sum += weight;
  }
  for (double& weight : h) weight /= sum;
  return h;
}

BankCase draw_case(Draw& draw) {
  Random& random = draw.random;
  BankCase made;
  filterbank::Problem& problem = made.problem;
  problem.samples = random.one_of(std::vector{filterbank::Samples::int4, filterbank::Samples::int8,
                                              filterbank::Samples::int16, filterbank::Samples::float32});
  problem.polarizations = random.between(1, 2);
  problem.centred = random.chance(0.3);
  problem.order = random.chance(0.4) ? Order::channel : Order::time;
  problem.output_times = random.between(1, 20);
  const std::size_t ratio = random.below(5), bandpass = random.below(4), block = random.below(3);
  const bool known = random.chance(0.5), delayed = random.chance(0.2);
  made.has_nan = random.chance(0.3) && problem.samples == filterbank::Samples::float32;
  made.data = random.bits();
  made.by_chance = random.bits();
  made.cuts = random.bits();
  problem.threads = random.below(4);
  problem.taps = random.chance(0.5) ? random.one_of(std::vector<std::size_t>{4, 8, 16}) : random.between(1, 24);
  Random details(random.bits());

  problem.stations = random.magnitude(std::clamp<std::size_t>(draw.points / 64, 1, 70));
  const std::size_t most = std::clamp<std::size_t>(draw.points / problem.stations / problem.taps, 1, 4096);
  // Shapes that telescopes use have their own kernels.
  problem.channels = known ? std::size_t{1}
                                 << random.below(static_cast<std::size_t>(std::log2(static_cast<double>(most))) + 1)
                           : random.length(most);
  const std::size_t each = problem.channels * problem.stations * problem.polarizations;
  made.spectra = random.magnitude(std::clamp<std::size_t>(draw.points / each, 3, 300)) + 2;

  if (problem.channels % 2 != 0) problem.centred = false;
  if (ratio == 0 && problem.channels % 8 == 0) problem.oversampling = {8, 7};
  if (ratio == 1 && problem.channels % 4 == 0) problem.oversampling = {4, 3};
  if (ratio == 2 && problem.channels % 2 == 0) problem.oversampling = {2, 1};
  if (block == 1) problem.input_block = details.between(1, 3 * problem.channels);
  if (block == 2) problem.input_block = problem.channels * details.between(1, 4);
  if (bandpass == 1) problem.bandpass.resize(problem.channels);
  if (bandpass == 2) problem.bandpass.resize(each);
  for (auto& factor : problem.bandpass)
    factor = {static_cast<float>(details.uniform() + 0.5), static_cast<float>(details.uniform() - 0.5)};
  if (details.chance(0.5)) {
    problem.prototype.window = details.one_of(std::vector{filterbank::Window::kaiser, filterbank::Window::hamming,
                                                          filterbank::Window::blackman, filterbank::Window::gaussian});
    problem.prototype.width = 0.5 + details.uniform();
    if (problem.prototype.window == filterbank::Window::kaiser) problem.prototype.shape = 15 * details.uniform();
    if (problem.prototype.window == filterbank::Window::gaussian) problem.prototype.shape = 0.1 + details.uniform();
  }
  if (details.chance(0.3)) {
    problem.weights.resize(problem.channels * problem.taps);
    for (double& weight : problem.weights) weight = 2 * details.uniform() - 1;
  }
  if (delayed) {
    problem.delays = {.wanted = true, .frequency = 20 * details.uniform() - 10, .longest = details.between(0, 60)};
    made.delays = draw_delays(problem, made.spectra * hop_of(problem), details);
  }
  return made;
}

std::string in_words(const BankCase& made) {
  const filterbank::Problem& p = made.problem;
  std::string text = fmt::format("{} channels x {} taps, {} stations, {} polarizations, {}", p.channels, p.taps,
                                 p.stations, p.polarizations, to_string(p.samples));
  if (p.oversampling.numerator != 1)
    text += fmt::format(", {}/{}", p.oversampling.numerator, p.oversampling.denominator);
  if (p.input_block != 0) text += fmt::format(", blocks of {}", p.input_block);
  if (p.centred) text += ", centred";
  if (!p.bandpass.empty()) text += fmt::format(", bandpass of {}", p.bandpass.size());
  if (!p.weights.empty()) text += ", random weights";
  if (p.order == Order::channel) text += fmt::format(", channels first, {} times", p.output_times);
  if (p.delays.wanted) text += fmt::format(", delays up to {} at {} points", p.delays.longest, made.delays.size());
  if (made.has_nan) text += ", a NaN sample";
  return text + fmt::format(", {} spectra", made.spectra);
}

std::size_t sample_bytes(filterbank::Samples samples) {
  switch (samples) {
    case filterbank::Samples::int4:
      return 1;
    case filterbank::Samples::int8:
      return 2;
    case filterbank::Samples::int16:
      return 4;
    default:
      return 8;
  }
}

class BankReference {
 public:
  BankReference(const BankCase& made, const std::vector<std::byte>& bytes)
      : made_(made), p_(made.problem), weights_(prototype_of(p_)), hop_(hop_of(p_)), bytes_(bytes) {
    block_ = p_.input_block == 0 ? p_.channels : p_.input_block;
    samples_ = bytes_.size() / sample_bytes(p_.samples) / p_.stations / p_.polarizations;
  }
  std::size_t taps() const { return weights_.size(); }

  // Linear interpolation between the points, at the middle of the spectrum's window.
  double delay(std::size_t t, std::size_t p, std::size_t s) const {
    if (!p_.delays.wanted) return 0;
    const double middle = static_cast<double>((t + 1) * hop_) - 1 - (static_cast<double>(weights_.size()) - 1) / 2;
    const std::size_t index = p * p_.stations + s;
    const std::vector<DelayPoint>& points = made_.delays;
    if (middle <= static_cast<double>(points.front().sample)) return points.front().delays[index];
    for (std::size_t i = 1; i < points.size(); ++i) {
      const auto from = static_cast<double>(points[i - 1].sample), to = static_cast<double>(points[i].sample);
      if (middle > to) continue;
      return points[i - 1].delays[index] +
             (middle - from) / (to - from) * (points[i].delays[index] - points[i - 1].delays[index]);
    }
    return points.back().delays[index];
  }

  std::size_t place(std::size_t t, std::size_t p, std::size_t s, std::size_t k) const {
    if (p_.order == Order::time) return ((t * p_.polarizations + p) * p_.stations + s) * p_.channels + k;
    const std::size_t times = p_.output_times;
    return (((t / times * p_.channels + k) * p_.stations + s) * p_.polarizations + p) * times + t % times;
  }

  std::complex<double> sample(std::size_t n, std::size_t s, std::size_t p) const {
    const std::size_t index = ((n / block_ * p_.stations + s) * block_ + n % block_) * p_.polarizations + p;
    const std::byte* at = bytes_.data() + index * sample_bytes(p_.samples);
    const auto pair = [at]<class N>(N) {
      N parts[2];
      std::memcpy(parts, at, sizeof(parts));
      return std::complex<double>(static_cast<double>(parts[0]), static_cast<double>(parts[1]));
    };
    switch (p_.samples) {
      case filterbank::Samples::int4: {
        const int both = std::to_integer<int>(*at);
        const auto nibble = [](int value) { return static_cast<double>(value >= 8 ? value - 16 : value); };
        return {nibble(both & 15), nibble(both >> 4)};
      }
      case filterbank::Samples::int8:
        return pair(std::int8_t{});
      case filterbank::Samples::int16:
        return pair(std::int16_t{});
      default:
        return pair(float{});
    }
  }

  // X[t][k] by the header's formula.
  std::complex<double> value(std::size_t t, std::size_t p, std::size_t s, std::size_t k) const {
    const auto channels = static_cast<std::int64_t>(p_.channels);
    const std::int64_t newest = static_cast<std::int64_t>((t + 1) * hop_) - 1;
    const double tau = delay(t, p, s);
    const auto whole = static_cast<std::int64_t>(std::llround(delay(t, 0, s)));
    const std::int64_t frequency = static_cast<std::int64_t>(k) - (p_.centred ? channels / 2 : 0);
    std::complex<double> sum = 0;
    for (std::size_t age = 0; age < weights_.size(); ++age) {
      const std::int64_t n = newest - static_cast<std::int64_t>(age), from = n + whole;
      if (from < 0 || from >= static_cast<std::int64_t>(samples_)) continue;
      const std::int64_t turns = ((frequency * n) % channels + channels) % channels;
      sum += weights_[age] * sample(static_cast<std::size_t>(from), s, p) *
             std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(turns) / static_cast<double>(channels));
    }
    if (p_.delays.wanted) {
      const std::int64_t from_zero = ((frequency % channels) + channels) % channels;
      const std::int64_t negative = from_zero >= (channels + 1) / 2 ? from_zero - channels : from_zero;
      const double turns = p_.delays.frequency * tau + static_cast<double>(negative) *
                                                           (tau - static_cast<double>(whole)) /
                                                           static_cast<double>(channels);
      sum *= std::polar(1.0, 2 * std::numbers::pi * (turns - std::floor(turns)));
    }
    if (p_.bandpass.size() == p_.channels) {
      sum *= std::complex<double>(p_.bandpass[k]);
    } else if (!p_.bandpass.empty()) {
      sum *= std::complex<double>(p_.bandpass[(p * p_.stations + s) * p_.channels + k]);
    }
    return sum;
  }

 private:
  const BankCase& made_;
  const filterbank::Problem& p_;
  std::vector<double> weights_;
  std::size_t hop_, block_ = 1, samples_ = 0;
  const std::vector<std::byte>& bytes_;
};

// Random samples; the stream may end at any byte.
std::vector<std::byte> draw_bytes(const BankCase& made, Random& random) {
  const filterbank::Problem& p = made.problem;
  const std::size_t block = p.input_block == 0 ? p.channels : p.input_block;
  const std::size_t samples = (made.spectra * hop_of(p) + p.delays.longest) / block * block + block;
  std::vector<std::byte> bytes(samples * p.stations * p.polarizations * sample_bytes(p.samples));
  p.samples == filterbank::Samples::float32 ? fill_floats(bytes, Random(made.data))
                                            : fill_bits(bytes, Random(made.data));
  if (made.has_nan) {
    const float number =
        random.chance(0.5) ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
    std::memcpy(bytes.data() + random.below(bytes.size() / 4) * 4, &number, 4);
  }
  return bytes;
}

// Pushes the stream in pieces of random size; each row has `row` values of `Out`. Describes wrong counts; empty if
// none.
template <class Stream, class Out>
std::string push_in_pieces(Stream& stream, const std::vector<std::byte>& bytes, std::size_t row, std::vector<Out>& got,
                           Random& random) {
  std::size_t written = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t piece = std::min(bytes.size() - at, 1 + random.below(random.chance(0.5) ? bytes.size() : 1000));
    const std::span<Out> room = std::span(got).subspan(written * row);
    const std::size_t due = stream.due(piece);
    if (due * row > room.size())
      return fmt::format("a push of {} bytes has {} rows due, more than the whole stream", piece, due);
    written += stream.push(std::span<const std::byte>(bytes).subspan(at, piece), room);
    at += piece;
  }
  return written * row == got.size()
             ? ""
             : fmt::format("{} rows when pushed in pieces, {} in one push", written, got.size() / row);
}

bool is_number(const std::complex<double>& value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); }

Outcome spectra(Draw& draw, const BankCase& made) {
  Outcome outcome;
  const planner::Options options = some_variant(filterbank::candidates(draw.device, made.problem), made.by_chance);
  const filterbank::Plan plan = filterbank::plan(draw.device, made.problem, options);
  draw.problem += ", " + plan.variant();
  const filterbank::Problem& p = made.problem;
  Random random(made.cuts);
  const std::vector<std::byte> bytes = draw_bytes(made, random);
  filterbank::Stream stream(plan);
  for (const DelayPoint& point : made.delays) stream.set_delays(point.sample, point.delays);
  const float unwritten = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::complex<float>> got(stream.due(bytes.size()) * plan.spectrum_size(), {unwritten, unwritten});
  outcome.wrong = push_in_pieces(stream, bytes, plan.spectrum_size(), got, random);
  if (!outcome.wrong.empty() || got.empty()) return outcome;
  draw.answered(std::as_writable_bytes(std::span(got)));

  const BankReference reference(made, bytes);
  struct Place {
    std::size_t t, p, s, k;
  };
  std::vector<Place> places;
  const auto each = static_cast<double>(reference.taps());
  if (static_cast<double>(got.size()) * each < 3e6) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::size_t k = i % p.channels, s = i / p.channels % p.stations;
      const std::size_t pol = i / p.channels / p.stations % p.polarizations;
      places.push_back({i / plan.spectrum_size(), pol, s, k});
    }
  } else {
    const auto count = static_cast<std::size_t>(std::clamp(3e6 / each, 20.0, 5000.0));
    for (std::size_t i = 0; i < count; ++i)
      places.push_back({random.below(got.size() / plan.spectrum_size()), random.below(p.polarizations),
                        random.below(p.stations), random.below(p.channels)});
  }
  std::vector<std::complex<double>> expected;
  double square = 0;
  std::size_t numbers = 0;
  for (const Place& at : places) {
    expected.push_back(reference.value(at.t, at.p, at.s, at.k));
    if (!is_number(expected.back())) continue;
    square += std::norm(expected.back());
    ++numbers;
  }
  const double allowed = 1e-5 * std::sqrt(square / static_cast<double>(std::max<std::size_t>(numbers, 1)));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& at = places[i];
    const std::complex<double> value(got[reference.place(at.t, at.p, at.s, at.k)]);
    const bool number = is_number(expected[i]);
    if (number == is_number(value) && (!number || std::abs(value - expected[i]) <= allowed)) continue;
    outcome.wrong = fmt::format(
        "spectrum {}, polarization {}, station {}, channel {}: {}{:+}i instead of {}{:+}i, allowed {:.1e}", at.t, at.p,
        at.s, at.k, value.real(), value.imag(), expected[i].real(), expected[i].imag(), allowed);
    return outcome;
  }
  return outcome;
}

// The bank followed by a detector, which devices fuse into one kernel.
Outcome power(Draw& draw, BankCase made) {
  Outcome outcome;
  made.problem.delays = {};
  made.delays.clear();
  made.problem.order = Order::time;
  made.has_nan = false;
  Random random(made.cuts);
  filterbank::Detection wanted;
  const std::size_t products = random.below(made.problem.polarizations == 2 ? 4 : 3);
  wanted.products = products == 0   ? filterbank::Products::total
                    : products == 1 ? filterbank::Products::powers
                    : products == 2 ? filterbank::Products::moments
                                    : filterbank::Products::stokes;
  wanted.times = 1 + random.below(std::min<std::size_t>(made.spectra, 9));
  for (const std::size_t sum : {2, 3, 4, 8, 16}) {
    // A sum must not join channels of both edges of the band.
    const std::size_t bank = made.problem.channels;
    const bool apart = made.problem.centred || sum == bank || (bank + 1) / 2 % sum == 0;
    if (bank % sum == 0 && random.chance(0.3) && apart) wanted.channels = sum;
  }
  draw.problem = fmt::format("{}, power {} of {} times, {} channels", in_words(made), static_cast<int>(wanted.products),
                             wanted.times, wanted.channels);
  const planner::Options quick{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};
  filterbank::PowerStream stream(draw.device, made.problem, wanted, quick);
  draw.problem += ", " + stream.variant();
  const filterbank::Problem& p = made.problem;
  const std::vector<std::byte> bytes = draw_bytes(made, random);
  std::vector<float> got(stream.due(bytes.size()) * stream.row_size(), std::numeric_limits<float>::quiet_NaN());
  outcome.wrong = push_in_pieces(stream, bytes, stream.row_size(), got, random);
  if (!outcome.wrong.empty() || got.empty()) return outcome;
  draw.answered(std::as_writable_bytes(std::span(got)));

  const BankReference reference(made, bytes);
  const std::size_t channels = p.channels / wanted.channels, count = stream.row_size() / channels / p.stations;
  const double each = static_cast<double>(reference.taps() * wanted.times * wanted.channels * p.polarizations);
  const bool all = static_cast<double>(got.size()) * each < 3e6;
  const std::size_t places = all ? got.size() : static_cast<std::size_t>(std::clamp(3e6 / each, 10.0, 2000.0));
  double mean = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    // The mean is over powers only: rows of squared powers are skipped.
    if (wanted.products == filterbank::Products::moments && i / channels % count >= p.polarizations) continue;
    mean += std::abs(static_cast<double>(got[i]));
  }
  mean *= static_cast<double>(count) / static_cast<double>(got.size());
  for (std::size_t n = 0; n < places; ++n) {
    const std::size_t index = all ? n : random.below(got.size());
    const std::size_t k = index % channels, product = index / channels % count;
    const std::size_t s = index / channels / count % p.stations, row = index / stream.row_size();
    double sum = 0, size = 0, squares = 0;
    for (std::size_t t = row * wanted.times; t < (row + 1) * wanted.times; ++t) {
      for (std::size_t c = k * wanted.channels; c < (k + 1) * wanted.channels; ++c) {
        const std::complex<double> x = reference.value(t, 0, s, c);
        const std::complex<double> y = p.polarizations == 2 ? reference.value(t, 1, s, c) : 0.0;
        const std::complex<double> cross = x * std::conj(y);
        const double stokes[] = {std::norm(x) + std::norm(y), std::norm(x) - std::norm(y), 2 * cross.real(),
                                 -2 * cross.imag()};
        size += std::norm(x) + std::norm(y);
        const double own = product % p.polarizations == 0 ? std::norm(x) : std::norm(y);
        const bool square = wanted.products == filterbank::Products::moments && product >= p.polarizations;
        if (square) squares += own * own;
        sum += square ? own * own
               : wanted.products == filterbank::Products::powers || wanted.products == filterbank::Products::moments
                   ? own
                   : stokes[product];
      }
    }
    // A channel's rounding errors come from the strongest channels, so the bound uses its own power and the mean of
    // all.
    const double value = got[index];
    const double allowed = squares > 0 ? 1e-4 * squares + 1e-4 * std::sqrt(squares) * mean + 1e-9 * mean * mean
                                       : 3e-5 * std::sqrt(size * mean) + 1e-9 * mean;
    // Squares of weak powers are below the range of float.
    if (std::abs(value - sum) <= allowed + std::numeric_limits<float>::min()) continue;
    outcome.wrong = fmt::format("row {}, station {}, product {}, channel {}: {} instead of {}, allowed {:.1e}", row, s,
                                product, k, value, sum, allowed);
    break;
  }
  return outcome;
}

}  // namespace

Outcome check_filterbank(Draw& draw) {
  if (draw.random.chance(0.2)) return check_correlator(draw);
  const bool detected = draw.random.chance(0.2);
  const BankCase made = draw_case(draw);
  draw.problem = in_words(made);
  return detected ? power(draw, made) : spectra(draw, made);
}

}  // namespace ridge::check
