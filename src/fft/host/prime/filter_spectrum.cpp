// Transforms filters in double or in pairs of doubles, and stores their spectra.
#include "fft/host/prime/filter_spectrum.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <mutex>

#include "base/aligned.hpp"
#include "fft/host/mixed/mixed.hpp"
#include "fft/host/power2/power2.hpp"
#include "fft/host/prime/numbers.hpp"
#include "fft/roots.hpp"

namespace ridge::fft::prime {
namespace {

// The last few kernels are kept: one length serves many others, and its tables take a third of a short plan's time.
std::shared_ptr<const LineKernel<double>> kept_kernel(std::size_t n) {
  constexpr std::size_t kLongestKept = std::size_t{1} << 13, kKept = 4;
  static std::mutex mutex;
  static std::array<std::shared_ptr<const LineKernel<double>>, kKept> kept;
  static std::size_t next = 0;
  {
    const std::lock_guard lock(mutex);
    for (const auto& one : kept) {
      if (one != nullptr && one->length() == n) return one;
    }
  }
  std::shared_ptr<const LineKernel<double>> made = std::has_single_bit(n) && n <= kMaxPower2
                                                       ? default_power2<double>(n)
                                                       : make_mixed<double>(n, mixed_radices<double>(n).front());
  if (n <= kLongestKept) {
    const std::lock_guard lock(mutex);
    kept[next++ % kKept] = made;
  }
  return made;
}

}  // namespace

void spectrum_in_double(base::AlignedArray<std::complex<double>>& values) {
  spectrum_by(*kept_kernel(values.size()), values);
}

template <class T>
std::vector<std::complex<T>> filter_spectrum(WidePoints& filter, std::size_t n, DoubleDouble scale) {
  std::vector<std::complex<T>> spectrum(n);
  if (is_smooth(n) && (sizeof(T) < sizeof(double) || n > kLongestExactFilter)) {
    base::AlignedArray<std::complex<double>> rounded(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Point<DoubleDouble> x = filter.get(i);
      rounded[i] = {static_cast<double>(x.re * scale), static_cast<double>(x.im * scale)};
    }
    spectrum_in_double(rounded);
    for (std::size_t i = 0; i < n; ++i) spectrum[i] = std::complex<T>(rounded[i]);
    return spectrum;
  }
  WidePoints spare(wide_room(n));
  wide_transform(filter, spare, n, scale);
  for (std::size_t i = 0; i < n; ++i) {
    const Point<DoubleDouble> x = filter.get(i);
    spectrum[i] = {static_cast<T>(static_cast<double>(x.re)), static_cast<T>(static_cast<double>(x.im))};
  }
  return spectrum;
}

template std::vector<std::complex<float>> filter_spectrum<float>(WidePoints&, std::size_t, DoubleDouble);
template std::vector<std::complex<double>> filter_spectrum<double>(WidePoints&, std::size_t, DoubleDouble);

}  // namespace ridge::fft::prime
