// The inverse filter bank: y[n] = sum over m of f[n - newest(m)] v_m[n mod channels], v_m the unnormalized inverse FFT
// of spectrum m. The analysis gives v_m[r] = channels * sum of h[newest(m) - n] x[n] over n = r mod channels, so y = x
// where for each residue of u = n - newest(m) modulo the hop and every s
//   channels * sum over u of f[u] h[-u - s * channels] = (s == 0).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <ridge/fft.hpp>
#include <ridge/filterbank.hpp>

#include "fft/variant.hpp"
#include "filterbank/geometry.hpp"
#include "filterbank/prototype/least_squares.hpp"

namespace ridge::filterbank {
namespace {

// The lags u = first .. first + length - 1 of f, centred on the middle of the time-reversed h.
struct Lags {
  std::int64_t first;
  std::size_t length;
};

Lags lags_of(std::size_t prototype, double length) {
  const auto wanted = static_cast<std::size_t>(std::llround(length * static_cast<double>(prototype)));
  const std::size_t longer = wanted + (wanted % 2 == prototype % 2 ? 0 : 1);  // so that both have the same centre
  return {-static_cast<std::int64_t>(prototype - 1) -
              (static_cast<std::int64_t>(longer) - static_cast<std::int64_t>(prototype)) / 2,
          longer};
}

}  // namespace

std::vector<double> dual(std::span<const double> h, std::size_t channels, std::size_t hop, double length) {
  if (hop == 0 || hop > channels || h.empty() || h.size() % channels != 0 || !(length >= 1) || !(length <= 16)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: dual() needs a multiple of the channels as values, a hop of 1 to the channels "
                            "and a length of 1 to 16; got {} values, {} channels, hop {}, length {}",
                            h.size(), channels, hop, length));
  }
  const Lags lags = lags_of(h.size(), length);
  const auto c = static_cast<std::int64_t>(channels), size = static_cast<std::int64_t>(h.size());
  const std::int64_t last = lags.first + static_cast<std::int64_t>(lags.length) - 1;
  // All s for which -u - s * channels can lie within h.
  const std::int64_t lowest = -(last + size - 1) / c - 1, highest = -lags.first / c + 1;
  const auto equations = static_cast<std::size_t>(highest - lowest + 1);
  std::vector<double> f(lags.length);
  for (std::size_t start = 0; start < std::min(hop, lags.length); ++start) {
    const std::size_t unknowns = (lags.length - start + hop - 1) / hop;
    LeastSquares system(equations, unknowns);
    for (std::size_t row = 0; row < equations; ++row) {
      const std::int64_t s = lowest + static_cast<std::int64_t>(row);
      for (std::size_t j = 0; j < unknowns; ++j) {
        const std::int64_t at = -(lags.first + static_cast<std::int64_t>(start + j * hop)) - s * c;
        system.at(row, j) = at >= 0 && at < size ? static_cast<double>(channels) * h[static_cast<std::size_t>(at)] : 0;
      }
      system.right(row) = s == 0 ? 1 : 0;
    }
    const std::vector<double> solution = system.solve(1e-9);
    for (std::size_t j = 0; j < unknowns; ++j) f[start + j * hop] = solution[j];
  }
  return f;
}

class SynthesisState {
 public:
  SynthesisState(const Problem& analysis, double length)
      : problem_(complete(analysis)),
        geometry_(resolve(problem_)),
        line_(fft::default_line<float>(geometry_.channels)),
        scratch_(line_->scratch() + geometry_.channels + 16) {
    if (!problem_.bandpass.empty()) {
      throw Error(ErrorKind::invalid_argument, "filterbank: synthesis does not support a bandpass: leave it empty");
    }
    if (problem_.order != Order::time || problem_.delays.wanted) {
      throw Error(ErrorKind::invalid_argument,
                  "filterbank: synthesis needs spectra in order of time (Order::time) and no delays");
    }
    const std::vector<double> f = dual(problem_.weights, geometry_.channels, geometry_.hop, length);
    // Padded to whole hops, so that every spectrum contributes to the same number of steps.
    steps_ = (f.size() + geometry_.hop - 1) / geometry_.hop;
    filter_.assign(steps_ * geometry_.hop, 0.0f);
    std::transform(f.begin(), f.end(), filter_.begin(), [](double value) { return static_cast<float>(value); });
    delay_ = static_cast<std::size_t>(-lags_of(problem_.weights.size(), length).first);
    sums_.assign(geometry_.stations * geometry_.polarizations * steps_ * geometry_.hop, 0.0f);
  }

  const Geometry& geometry() const { return geometry_; }
  std::size_t delay() const { return delay_; }

  // Consumes the spectra of one time and produces one step of samples.
  void step(const std::complex<float>* spectra, std::complex<float>* out) {
    const Geometry& g = geometry_;
    for (std::size_t p = 0; p < g.polarizations; ++p) {
      for (std::size_t s = 0; s < g.stations; ++s) {
        std::complex<float>* sums = sums_.data() + (s * g.polarizations + p) * filter_.size();
        overlap_add(spectra + (p * g.stations + s) * g.channels, sums);
        for (std::size_t i = 0; i < g.hop; ++i) out[(s * g.hop + i) * g.polarizations + p] = sums[i];
        std::copy(sums + g.hop, sums + filter_.size(), sums);
        std::fill(sums + filter_.size() - g.hop, sums + filter_.size(), 0.0f);
      }
    }
    ++count_;
  }

 private:
  // sums[i] belongs to the sample with number (newest of this spectrum) - delay_ + i, and takes the value of v at that
  // number modulo the channels.
  void overlap_add(const std::complex<float>* spectrum, std::complex<float>* sums) {
    const std::size_t channels = geometry_.channels;
    std::complex<float>* values = scratch_.data();
    line_->run(fft::Direction::inverse, spectrum, values, scratch_.data() + (channels + 15) / 16 * 16);
    const auto newest = static_cast<std::int64_t>((count_ + 1) * geometry_.hop) - 1;
    const std::int64_t first = newest - static_cast<std::int64_t>(delay_);
    const auto c = static_cast<std::int64_t>(channels);
    auto at = static_cast<std::size_t>(((first % c) + c) % c);
    std::int64_t number = first;
    for (std::size_t i = 0; i < filter_.size(); ++i, ++number) {
      const float sign = geometry_.centred && number % 2 != 0 ? -1.0f : 1.0f;
      sums[i] += sign * filter_[i] * values[at];
      at = at + 1 == channels ? 0 : at + 1;
    }
  }

  Problem problem_;
  Geometry geometry_;
  std::unique_ptr<fft::LineKernel<float>> line_;
  std::vector<std::complex<float>> scratch_, sums_;
  std::vector<float> filter_;
  std::size_t steps_ = 0, delay_ = 0;
  std::uint64_t count_ = 0;
};

Synthesis::Synthesis(const Problem& analysis, double length)
    : state_(std::make_unique<SynthesisState>(analysis, length)) {}
Synthesis::~Synthesis() = default;
Synthesis::Synthesis(Synthesis&&) noexcept = default;
Synthesis& Synthesis::operator=(Synthesis&&) noexcept = default;

std::size_t Synthesis::hop() const { return state_->geometry().hop; }

// The first output sample is the one delay_ before the newest sample of spectrum 0, which is hop - 1.
std::size_t Synthesis::delay() const { return state_->delay() - (hop() - 1); }

std::size_t Synthesis::step_size() const {
  const Geometry& g = state_->geometry();
  return g.stations * g.hop * g.polarizations;
}

std::size_t Synthesis::push(std::span<const std::complex<float>> in, std::span<std::complex<float>> out) {
  const std::size_t each = state_->geometry().spectrum_size(), steps = in.size() / each;
  if (in.size() % each != 0 || out.size() < steps * step_size()) {
    throw Error(ErrorKind::invalid_argument, fmt::format("filterbank: push() needs a multiple of {} values, got {}, "
                                                         "and an output of {} samples for each, got {} in all",
                                                         each, in.size(), step_size(), out.size()));
  }
  for (std::size_t i = 0; i < steps; ++i) state_->step(in.data() + i * each, out.data() + i * step_size());
  return steps;
}

}  // namespace ridge::filterbank
