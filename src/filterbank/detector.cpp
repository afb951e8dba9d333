#include <algorithm>

#include <fmt/format.h>
#include <ridge/filterbank.hpp>

#include "filterbank/geometry.hpp"

namespace ridge::filterbank {
namespace {

// One time of one station into its sums, [product][channel]. Plain loops over real and imaginary parts, which compilers
// turn into vectors.
void add(Products products, const float* __restrict__ x, const float* __restrict__ y, std::size_t channels,
         double* __restrict__ sums) {
  const auto power = [](const float* value) {
    return double{value[0]} * double{value[0]} + double{value[1]} * double{value[1]};
  };
  if (products == Products::stokes) {
    double* __restrict__ q = sums + channels;
    double* __restrict__ u = sums + 2 * channels;
    double* __restrict__ v = sums + 3 * channels;
    for (std::size_t k = 0; k < channels; ++k) {
      const double xr = double{x[2 * k]}, xi = double{x[2 * k + 1]}, yr = double{y[2 * k]}, yi = double{y[2 * k + 1]};
      const double xx = xr * xr + xi * xi, yy = yr * yr + yi * yi;
      sums[k] += xx + yy;
      q[k] += xx - yy;
      u[k] += 2 * (xr * yr + xi * yi);
      v[k] -= 2 * (xi * yr - xr * yi);  // V = -2 Im(X Y*): right-handed positive with Y ahead of X
    }
    return;
  }
  for (std::size_t k = 0; k < channels; ++k) sums[k] += power(x + 2 * k);
  if (y == nullptr) return;
  double* const second = products == Products::powers ? sums + channels : sums;
  for (std::size_t k = 0; k < channels; ++k) second[k] += power(y + 2 * k);
}

}  // namespace

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
  sum_.assign(stations_ * products() * channels_, 0.0);  // neighbours are added when a row is written
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
      const auto* x = reinterpret_cast<const float*>(spectra.data() + t * each + s * channels_);
      const float* y = polarizations_ == 2 ? x + 2 * stations_ * channels_ : nullptr;
      add(detection_.products, x, y, channels_, sum_.data() + s * products() * channels_);
    }
    if (++held_ < detection_.times) continue;
    float* to = out.data() + written * size;
    for (std::size_t k = 0; k < sum_.size(); k += detection_.channels) {
      double sum = 0;
      for (std::size_t i = 0; i < detection_.channels; ++i) sum += sum_[k + i];
      *to++ = static_cast<float>(sum);
    }
    std::fill(sum_.begin(), sum_.end(), 0.0);
    held_ = 0;
    ++written;
  }
  return written;
}

}  // namespace ridge::filterbank
