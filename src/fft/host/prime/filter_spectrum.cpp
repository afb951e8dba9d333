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

using WidePoint = Point<DoubleDouble>;

WidePoint operator-(WidePoint a, WidePoint b) { return {a.re - b.re, a.im - b.im}; }
WidePoint turned(WidePoint a) { return {a.im, -a.re}; }  // by -i

// `roots` are those of the radix.
void small_transform(std::vector<WidePoint>& v, std::vector<WidePoint>& t, const std::vector<WidePoint>& roots) {
  const std::size_t radix = v.size();
  if (radix == 4) {
    const WidePoint a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = turned(v[1] - v[3]);
    v[0] = a + c, v[1] = b + d, v[2] = a - c, v[3] = b - d;
    return;
  }
  if (radix == 2) {
    const WidePoint a = v[0];
    v[0] = a + v[1], v[1] = a - v[1];
    return;
  }
  for (std::size_t f = 0; f < radix; ++f) {
    t[f] = v[0];
    for (std::size_t s = 1; s < radix; ++s) t[f] = f == 0 ? t[f] + v[s] : t[f] + v[s] * roots[f * s % radix];
  }
  v.swap(t);
}

std::vector<std::size_t> radices_of(std::size_t n) {
  std::vector<std::size_t> radices = prime_factors(n);
  if (radices.size() < 2) return radices;
  for (std::size_t i = 0; i + 1 < radices.size() && radices[i + 1] == 2; ++i) {
    radices[i] = 4;
    radices.erase(radices.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  return radices;
}

// Stockham's passes, the butterfly of the specification.
std::vector<WidePoint> wide_transform(std::vector<WidePoint> x) {
  const std::size_t n = x.size();
  const AnyRoots<double> roots(n);
  std::vector<WidePoint> y(n);
  std::size_t done = 1;
  for (const std::size_t radix : radices_of(n)) {
    const std::size_t block = n / done, stream = block / radix, far = n / radix;
    std::vector<WidePoint> v(radix), t(radix), w(radix), own(radix);
    for (std::size_t s = 0; s < radix; ++s) own[s] = roots.wide(s * far);
    for (std::size_t j = 0; j < done; ++j) {
      for (std::size_t s = 1; s < radix; ++s) w[s] = roots.wide(j * s * stream);
      for (std::size_t k = 0; k < stream; ++k) {
        v[0] = x[j * block + k];
        for (std::size_t s = 1; s < radix; ++s) {
          const WidePoint& from = x[j * block + s * stream + k];
          v[s] = j == 0 ? from : from * w[s];
        }
        small_transform(v, t, own);
        for (std::size_t f = 0; f < radix; ++f) y[j * stream + k + f * far] = v[f];
      }
    }
    x.swap(y);
    done *= radix;
  }
  return x;
}

// A length serves a thousand others, and its tables take a third of a short plan's time: the last few are kept.
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
std::vector<std::complex<T>> filter_spectrum(const std::vector<WidePoint>& filter) {
  const std::size_t n = filter.size();
  std::vector<std::complex<T>> spectrum(n);
  if (is_smooth(n) && (sizeof(T) < sizeof(double) || n > kLongestExactFilter)) {
    base::AlignedArray<std::complex<double>> rounded(n);
    for (std::size_t i = 0; i < n; ++i) {
      rounded[i] = {static_cast<double>(filter[i].re), static_cast<double>(filter[i].im)};
    }
    spectrum_in_double(rounded);
    for (std::size_t i = 0; i < n; ++i) spectrum[i] = std::complex<T>(rounded[i]);
    return spectrum;
  }
  const std::vector<WidePoint> wide = wide_transform(filter);
  for (std::size_t i = 0; i < n; ++i) {
    spectrum[i] = {static_cast<T>(static_cast<double>(wide[i].re)), static_cast<T>(static_cast<double>(wide[i].im))};
  }
  return spectrum;
}

template std::vector<std::complex<float>> filter_spectrum<float>(const std::vector<WidePoint>&);
template std::vector<std::complex<double>> filter_spectrum<double>(const std::vector<WidePoint>&);

}  // namespace ridge::fft::prime
