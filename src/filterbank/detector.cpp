#include <algorithm>

#include <fmt/format.h>
#include <ridge/filterbank.hpp>

#include "filterbank/geometry.hpp"

namespace ridge::filterbank {

Detector::Detector(const Problem& problem, const Detection& detection)
    : channels_(problem.channels),
      stations_(problem.stations),
      polarizations_(problem.polarizations),
      detection_(detection) {
  resolve(problem);
  if (problem.order != Order::time) {
    throw Error(ErrorKind::invalid_argument, "filterbank: power is made of spectra in order of time");
  }
  if (detection.times == 0 || detection.channels == 0 || channels_ % detection.channels != 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: power summed over {} times and {} of {} channels: both are at least 1, and "
                            "the channels divide evenly",
                            detection.times, detection.channels, channels_));
  }
  if (detection.products == Products::stokes && polarizations_ != 2) {
    throw Error(ErrorKind::invalid_argument, "filterbank: Stokes parameters need two polarizations");
  }
  sum_.assign(row_size(), 0.0);
}

std::size_t Detector::products() const {
  return detection_.products == Products::total ? 1 : detection_.products == Products::powers ? polarizations_ : 4;
}

std::size_t Detector::channels() const { return channels_ / detection_.channels; }
std::size_t Detector::row_size() const { return stations_ * products() * channels(); }
std::size_t Detector::due(std::size_t spectra) const { return (held_ + spectra) / detection_.times; }

std::size_t Detector::push(std::span<const std::complex<float>> spectra, std::span<float> out) {
  const std::size_t each = polarizations_ * stations_ * channels_, times = spectra.size() / each;
  const std::size_t rows = due(times), size = row_size();
  if (spectra.size() % each != 0 || out.size() < rows * size) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: power of {} values into room for {}; a time has {}, {} sums of {} are due",
                            spectra.size(), out.size(), each, rows, size));
  }
  std::size_t written = 0;
  for (std::size_t t = 0; t < times; ++t) {
    for (std::size_t s = 0; s < stations_; ++s) {
      const std::complex<float>* x = spectra.data() + t * each + s * channels_;
      const std::complex<float>* y = polarizations_ == 2 ? x + stations_ * channels_ : nullptr;
      double* sums = sum_.data() + s * products() * channels();
      for (std::size_t k = 0; k < channels_; ++k) {
        double* const to = sums + k / detection_.channels;
        const std::complex<double> a = x[k], b = y != nullptr ? std::complex<double>(y[k]) : 0.0;
        const double xx = std::norm(a), yy = std::norm(b);
        switch (detection_.products) {
          case Products::total:
            to[0] += xx + yy;
            break;
          case Products::powers:
            to[0] += xx;
            if (y != nullptr) to[channels()] += yy;
            break;
          case Products::stokes: {
            const std::complex<double> cross = a * std::conj(b);
            to[0] += xx + yy;
            to[channels()] += xx - yy;
            to[2 * channels()] += 2 * cross.real();
            to[3 * channels()] -= 2 * cross.imag();  // V = -2 Im(X Y*): right-handed positive with Y ahead of X
            break;
          }
        }
      }
    }
    if (++held_ < detection_.times) continue;
    std::transform(sum_.begin(), sum_.end(), out.begin() + static_cast<std::ptrdiff_t>(written * size),
                   [](double value) { return static_cast<float>(value); });
    std::fill(sum_.begin(), sum_.end(), 0.0);
    held_ = 0;
    ++written;
  }
  return written;
}

}  // namespace ridge::filterbank
