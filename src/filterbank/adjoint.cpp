// Adjoints of filter banks by overlap-add with the analysis prototype, and of correlators.
#include <ridge/filterbank/adjoint.hpp>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "fft/variant.hpp"
#include "filterbank/correlator.hpp"
#include "filterbank/geometry.hpp"

namespace ridge::filterbank {

using Complex = std::complex<float>;

class AdjointState {
 public:
  explicit AdjointState(const Problem& analysis)
      : problem_(complete(analysis)),
        geometry_(resolve(problem_)),
        line_(fft::default_line<float>(geometry_.channels)) {
    if (problem_.samples != Samples::float32 && problem_.samples != Samples::same) {
      throw Error(ErrorKind::invalid_argument,
                  "filterbank: the adjoint needs float32 samples; integers have no gradient");
    }
    if (problem_.delays.wanted)
      throw Error(ErrorKind::invalid_argument, "filterbank: a bank with delays has no adjoint: leave delays out");
  }

  // Calls visit(index of the sample in x, index of the weight, value of v) for every product of the bank. `g` may have
  // any number of whole spectra whose samples fit in x.
  template <class Visit>
  void each(std::span<const Complex> g, std::size_t x_size, const Visit& visit) const {
    const Geometry& geo = geometry_;
    const std::size_t spectra = checked_spectra(g.size(), x_size);
    std::vector<Complex> spectrum(geo.channels), values(geo.channels), scratch(line_->scratch() + 16);
    for (std::size_t t = 0; t < spectra; ++t) {
      for (std::size_t p = 0; p < geo.polarizations; ++p) {
        for (std::size_t s = 0; s < geo.stations; ++s) {
          for (std::size_t k = 0; k < geo.channels; ++k)
            spectrum[k] = g[geo.place(0, t, p, s, k)] * std::conj(bandpass(p, s, k));
          line_->run(fft::Direction::inverse, spectrum.data(), values.data(), scratch.data());
          visit_window(geo.newest(t), p, s, values, visit);
        }
      }
    }
  }

  const Problem& problem() const { return problem_; }

 private:
  Complex bandpass(std::size_t p, std::size_t s, std::size_t k) const {
    const auto& factors = problem_.bandpass;
    if (factors.empty()) return 1;
    return factors.size() == geometry_.channels ? factors[k]
                                                : factors[(p * geometry_.stations + s) * geometry_.channels + k];
  }
  std::size_t checked_spectra(std::size_t spectra, std::size_t samples) const {
    const Geometry& geo = geometry_;
    const std::size_t each = geo.spectrum_size(), frame = geo.stations * geo.block * geo.polarizations;
    const std::size_t times = spectra / each;
    if (spectra % each != 0 || times % geo.times != 0 || samples % frame != 0 ||
        samples / frame * geo.block < times * geo.hop) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("filterbank: the adjoint needs a multiple of {} spectrum values and of {} samples, at "
                              "least {} samples per spectrum and station; got {} values and {} samples",
                              each * geo.times, frame, geo.hop, spectra, samples));
    }
    return times;
  }
  template <class Visit>
  void visit_window(std::int64_t newest, std::size_t p, std::size_t s, const std::vector<Complex>& values,
                    const Visit& visit) const {
    const Geometry& geo = geometry_;
    for (std::size_t a = 0; a < problem_.weights.size() && static_cast<std::int64_t>(a) <= newest; ++a) {
      const auto n = static_cast<std::size_t>(newest - static_cast<std::int64_t>(a));
      const Complex value = values[n % geo.channels];
      visit(((n / geo.block * geo.stations + s) * geo.block + n % geo.block) * geo.polarizations + p, a,
            geo.centred && n % 2 != 0 ? -value : value);
    }
  }

  Problem problem_;
  Geometry geometry_;
  std::unique_ptr<fft::LineKernel<float>> line_;
};

Adjoint::Adjoint(const Problem& analysis) : state_(std::make_shared<const AdjointState>(analysis)) {}

void Adjoint::samples(std::span<const Complex> g, std::span<Complex> x) const {
  std::vector<std::complex<double>> sums(x.size());
  const std::vector<double>& weights = state_->problem().weights;
  state_->each(g, x.size(), [&](std::size_t at, std::size_t a, Complex value) {
    sums[at] += weights[a] * std::complex<double>(value);
  });
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = Complex(sums[i]);
}

std::vector<double> Adjoint::weights(std::span<const Complex> x, std::span<const Complex> g) const {
  std::vector<double> gradient(state_->problem().weights.size());
  state_->each(g, x.size(), [&](std::size_t at, std::size_t a, Complex value) {
    const std::complex<double> sample(x[at]), v(value);
    gradient[a] += sample.real() * v.real() + sample.imag() * v.imag();
  });
  return gradient;
}

Adjoint Plan::adjoint() const { return Adjoint(problem()); }

namespace {

// Only the sizes and checks of a correlator.
class CorrelatorSizes final : public CorrelatorState {
 public:
  using CorrelatorState::CorrelatorState;
  void push(std::span<const Complex>, Complex*) override {}
};

// Gradient of the spectra of one time and channel; `g` has the products of baseline 0 of the channel.
class CorrelatorPoint {
 public:
  CorrelatorPoint(const Geometry& geometry, std::size_t baseline_stride)
      : geometry_(geometry), stride_(baseline_stride), sums_(geometry.stations * geometry.polarizations) {}

  void run(std::size_t time, std::size_t channel, const Complex* spectra, const Complex* g, Complex* out) {
    std::fill(sums_.begin(), sums_.end(), std::complex<double>());
    const std::size_t polarizations = geometry_.polarizations;
    for (std::size_t j = 0, baseline = 0; j < geometry_.stations; ++j) {
      for (std::size_t i = 0; i <= j; ++i, ++baseline) {
        const Complex* weight = g + baseline * stride_;
        for (std::size_t p = 0; p < polarizations; ++p) {
          for (std::size_t q = 0; q < polarizations; ++q, ++weight) {
            const std::complex<double> w(*weight);
            sums_[i * polarizations + p] += w * std::complex<double>(spectra[place(time, q, j, channel)]);
            sums_[j * polarizations + q] += std::conj(w) * std::complex<double>(spectra[place(time, p, i, channel)]);
          }
        }
      }
    }
    for (std::size_t s = 0; s < sums_.size(); ++s)
      out[place(time, s % polarizations, s / polarizations, channel)] = Complex(sums_[s]);
  }

 private:
  std::size_t place(std::size_t time, std::size_t polarization, std::size_t station, std::size_t channel) const {
    return geometry_.place(0, time, polarization, station, channel);
  }
  const Geometry& geometry_;
  std::size_t stride_;
  std::vector<std::complex<double>> sums_;
};

}  // namespace

CorrelatorAdjoint::CorrelatorAdjoint(const Problem& problem, const Correlation& correlation)
    : state_(std::make_shared<CorrelatorSizes>(problem, correlation)) {
  if (correlation.arithmetic != Arithmetic::float32) {
    throw Error(ErrorKind::invalid_argument,
                "filterbank: the correlator's adjoint needs float32 arithmetic; rounded values have no gradient");
  }
}

void CorrelatorAdjoint::run(std::span<const Complex> spectra, std::span<const Complex> g,
                            std::span<Complex> out) const {
  const Geometry& geometry = state_->geometry();
  const Correlation& correlation = state_->correlation();
  const std::size_t each = correlation.times * geometry.spectrum_size(), integrations = spectra.size() / each;
  if (spectra.size() % each != 0 || out.size() != spectra.size() || g.size() != integrations * state_->size()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: the correlator's adjoint needs whole integrations of {} spectrum values, {} "
                            "visibilities for each, and as many values out as in; got {}, {} and {}",
                            each, state_->size(), spectra.size(), g.size(), out.size()));
  }
  const std::size_t products = state_->products(), baseline = state_->channels() * products;
  base::parallel(std::min(geometry.threads, geometry.channels), [&](std::size_t thread, std::size_t threads) {
    CorrelatorPoint point(geometry, baseline);
    const base::Share mine = base::share(geometry.channels, thread, threads);
    for (std::size_t t = 0; t < integrations * correlation.times; ++t) {
      const Complex* const integration = g.data() + t / correlation.times * state_->size();
      for (std::size_t k = mine.begin; k < mine.end; ++k)
        point.run(t, k, spectra.data(), integration + k / correlation.channels * products, out.data());
    }
  });
}

}  // namespace ridge::filterbank
