// Detector: power or Stokes parameters of spectra, summed over times and channels.
#include <algorithm>

#include <fmt/format.h>
#include <ridge/filterbank.hpp>

#include "base/threads.hpp"
#include "filterbank/geometry.hpp"

namespace ridge::filterbank {
namespace {

constexpr std::size_t kWorthThreads = std::size_t{1} << 16;  // per push; fewer use one thread

// Adds one time of `count` channels of a station to their sums. Products are `channels` sums apart. The loops over real
// and imaginary parts are plain, so that compilers vectorize them.
void add(Products products, const float* __restrict__ x, const float* __restrict__ y, std::size_t channels,
         std::size_t count, double* __restrict__ sums) {
  const auto power = [](const float* value) {
    return double{value[0]} * double{value[0]} + double{value[1]} * double{value[1]};
  };
  if (products == Products::stokes) {
    double* __restrict__ q = sums + channels;
    double* __restrict__ u = sums + 2 * channels;
    double* __restrict__ v = sums + 3 * channels;
    for (std::size_t k = 0; k < count; ++k) {
      const double xr = double{x[2 * k]}, xi = double{x[2 * k + 1]}, yr = double{y[2 * k]}, yi = double{y[2 * k + 1]};
      const double xx = xr * xr + xi * xi, yy = yr * yr + yi * yi;
      sums[k] += xx + yy;
      q[k] += xx - yy;
      u[k] += 2 * (xr * yr + xi * yi);
      v[k] -= 2 * (xi * yr - xr * yi);  // V = -2 Im(X Y*): right-handed positive with Y ahead of X
    }
    return;
  }
  if (products == Products::moments) {
    const std::size_t squares = y == nullptr ? channels : 2 * channels;
    for (const float* z : {x, y}) {
      if (z == nullptr) return;
      for (std::size_t k = 0; k < count; ++k) {
        const double one = power(z + 2 * k);
        sums[k] += one;
        sums[squares + k] += one * one;
      }
      sums += channels;
    }
    return;
  }
  for (std::size_t k = 0; k < count; ++k) sums[k] += power(x + 2 * k);
  if (y == nullptr) return;
  double* const second = products == Products::powers ? sums + channels : sums;
  for (std::size_t k = 0; k < count; ++k) second[k] += power(y + 2 * k);
}

}  // namespace

std::size_t product_count(Products products, std::size_t polarizations) {
  switch (products) {
    case Products::total:
      return 1;
    case Products::powers:
      return polarizations;
    case Products::moments:
      return 2 * polarizations;
    default:
      return 4;
  }
}

Detector::Detector(const Problem& problem, const Detection& detection)
    : channels_(problem.channels),
      stations_(problem.stations),
      polarizations_(problem.polarizations),
      threads_(resolve(problem).threads),
      detection_(detection) {
  if (problem.order != Order::time) {
    throw Error(ErrorKind::invalid_argument, "filterbank: power needs spectra in order of time (Order::time)");
  }
  if (detection.times == 0)
    throw Error(ErrorKind::invalid_argument, "filterbank: power needs sums of at least 1 time, got 0");
  check_summed(resolve(problem), detection.channels, "power");
  if (detection.products == Products::stokes && polarizations_ != 2) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: Stokes parameters need two polarizations, got {}", polarizations_));
  }
  sum_.assign(stations_ * products() * channels_, 0.0);  // adjacent channels are added when a row is written
}

std::size_t Detector::products() const { return product_count(detection_.products, polarizations_); }

std::size_t Detector::channels() const { return channels_ / detection_.channels; }
std::size_t Detector::row_size() const { return stations_ * products() * channels(); }
std::size_t Detector::due(std::size_t spectra) const { return (held_ + spectra) / detection_.times; }

std::size_t Detector::push(std::span<const std::complex<float>> spectra, std::span<float> out) {
  const std::size_t each = polarizations_ * stations_ * channels_, times = spectra.size() / each;
  const std::size_t rows = due(times), size = row_size();
  if (spectra.size() % each != 0 || out.size() < rows * size) {
    throw Error(ErrorKind::invalid_argument, fmt::format("filterbank: push() needs a multiple of {} values, got {}; "
                                                         "its {} sums of {} values need an output of {}, got {}",
                                                         each, spectra.size(), rows, size, rows * size, out.size()));
  }
  // A work unit is a range of channels of one station over all times, so that each sum belongs to one thread.
  const std::size_t threads = spectra.size() < kWorthThreads ? 1 : threads_;
  const std::size_t parts = std::min(channels(), (threads + stations_ - 1) / stations_);
  base::parallel(std::min(threads, stations_ * parts), [&](std::size_t thread, std::size_t all) {
    const base::Share mine = base::share(stations_ * parts, thread, all);
    for (std::size_t i = mine.begin; i < mine.end; ++i) {
      const base::Share sums = base::share(channels(), i % parts, parts);
      add_times(spectra, out, i / parts, sums.begin, sums.end);
    }
  });
  held_ = (held_ + times) % detection_.times;
  return rows;
}

void Detector::add_times(std::span<const std::complex<float>> spectra, std::span<float> out, std::size_t station,
                         std::size_t first_sum, std::size_t end_sum) {
  const std::size_t each = polarizations_ * stations_ * channels_, times = spectra.size() / each;
  const std::size_t first = first_sum * detection_.channels, count = (end_sum - first_sum) * detection_.channels;
  double* const sum = sum_.data() + station * products() * channels_ + first;
  float* to = out.data() + station * products() * channels();
  std::size_t held = held_;
  for (std::size_t t = 0; t < times; ++t) {
    const auto* x = reinterpret_cast<const float*>(spectra.data() + t * each + station * channels_ + first);
    const float* y = polarizations_ == 2 ? x + 2 * stations_ * channels_ : nullptr;
    add(detection_.products, x, y, channels_, count, sum);
    if (++held < detection_.times) continue;
    for (std::size_t product = 0; product < products(); ++product) {
      double* const from = sum + product * channels_;
      for (std::size_t k = first_sum; k < end_sum; ++k) {
        double total = 0;
        for (std::size_t i = 0; i < detection_.channels; ++i) total += from[(k - first_sum) * detection_.channels + i];
        to[product * channels() + k] = static_cast<float>(total);
      }
      std::fill_n(from, count, 0.0);
    }
    to += row_size();
    held = 0;
  }
}

}  // namespace ridge::filterbank
