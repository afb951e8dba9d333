// Checks convolutions and correlations of any two lengths against their defining sums in wider precision.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "check/check.hpp"

namespace ridge::check {
namespace {

template <class Element>
struct RealOf {
  using Type = Element;
};
template <class T>
struct RealOf<std::complex<T>> {
  using Type = T;
};

enum class Operation { convolve, correlate, filter };

template <class Element>
std::vector<Element> draw_values(std::size_t count, std::uint64_t seed) {
  using T = typename RealOf<Element>::Type;
  std::vector<Element> values(count);
  fill_values(std::as_writable_bytes(std::span(values)), sizeof(T) == 4 ? Values::float32 : Values::float64, seed);
  return values;
}

// One value of the result by the header's formula. long double is wider than double on every supported machine.
template <class Element>
std::complex<long double> value_of(Operation kind, fft::ConvolutionKind extent, const std::vector<Element>& a,
                                   const std::vector<Element>& b, std::size_t n) {
  using Value = std::complex<long double>;
  const auto as = static_cast<std::ptrdiff_t>(a.size()), bs = static_cast<std::ptrdiff_t>(b.size());
  const std::ptrdiff_t around = std::max(as, bs);
  const auto at = [&](const std::vector<Element>& values, std::ptrdiff_t i) {
    if (extent == fft::ConvolutionKind::circular) i = (i % around + around) % around;
    const bool there = i >= 0 && i < static_cast<std::ptrdiff_t>(values.size());
    return there ? Value(std::complex<typename RealOf<Element>::Type>(values[static_cast<std::size_t>(i)])) : Value();
  };
  const auto place = static_cast<std::ptrdiff_t>(n);
  Value sum = 0;
  if (kind != Operation::correlate) {
    for (std::ptrdiff_t m = 0; m < as; ++m) sum += at(a, m) * at(b, place - m);
  } else if (extent == fft::ConvolutionKind::circular) {
    for (std::ptrdiff_t m = 0; m < bs; ++m) sum += at(a, m + place) * std::conj(at(b, m));
  } else {
    for (std::ptrdiff_t m = 0; m < as; ++m) sum += at(a, m) * std::conj(at(b, m - (place - (bs - 1))));
  }
  return sum;
}

template <class Element>
Outcome check_element(Draw& draw) {
  using T = typename RealOf<Element>::Type;
  Random& random = draw.random;
  Outcome outcome;
  const Operation kind = random.one_of(std::vector{Operation::convolve, Operation::correlate, Operation::filter});
  const auto extent =
      kind != Operation::filter && random.chance(0.5) ? fft::ConvolutionKind::circular : fft::ConvolutionKind::linear;
  const std::uint64_t data = random.bits();
  fft::ConvolutionOptions options;
  options.threads = random.below(4);
  const std::size_t most = std::min<std::size_t>(draw.points, 1 << 16);
  const std::vector<Element> a = draw_values<Element>(random.length(most), data);
  const std::vector<Element> b = draw_values<Element>(random.length(most), data + 1);
  const char* names[] = {"convolution", "correlation", "filter"};
  draw.problem =
      fmt::format("{} {} of {} and {} values{}", sizeof(T) == 4 ? "f32" : "f64", names[static_cast<int>(kind)],
                  a.size(), b.size(), extent == fft::ConvolutionKind::circular ? ", circular" : "");
  if (!std::is_same_v<Element, T>) draw.problem += ", complex";

  std::vector<Element> got;
  if (kind == Operation::convolve) {
    got = fft::convolve<Element>(draw.device, a, b, extent);
  } else if (kind == Operation::correlate) {
    got = fft::correlate<Element>(draw.device, a, b, extent);
  } else {
    got.assign(a.size() + b.size() - 1, Element(std::numeric_limits<T>::quiet_NaN()));
    fft::Convolution<Element>(draw.device, b, options).run(a, got);
  }
  draw.answered(std::as_writable_bytes(std::span(got)));
  const std::size_t expected_size =
      extent == fft::ConvolutionKind::circular ? std::max(a.size(), b.size()) : a.size() + b.size() - 1;
  if (got.size() != expected_size) {
    outcome.wrong = fmt::format("{} values instead of {}", got.size(), expected_size);
    return outcome;
  }
  // Compares every value if that is cheap, otherwise a sample.
  std::vector<std::size_t> places;
  const bool all = a.size() * got.size() < 2'000'000;
  for (std::size_t i = 0; i < (all ? got.size() : 40); ++i) places.push_back(all ? i : random.below(got.size()));
  // An FFT distributes rounding errors over the whole result, so they are compared with the size of the largest
  // possible sums.
  const double size = std::sqrt(static_cast<double>(std::min(a.size(), b.size())));
  const double points = std::log2(static_cast<double>(a.size() + b.size()));
  const double allowed = 6 * std::numeric_limits<T>::epsilon() * size * std::sqrt(std::max(1.0, points));
  for (const std::size_t i : places) {
    const auto expected = std::complex<double>(value_of(kind, extent, a, b, i));
    const auto value = std::complex<double>(std::complex<T>(got[i]));
    if (std::abs(value - expected) <= allowed) continue;
    outcome.wrong = fmt::format("value {}: {}{:+}i instead of {}{:+}i, allowed {:.1e}", i, value.real(), value.imag(),
                                expected.real(), expected.imag(), allowed);
    break;
  }
  return outcome;
}

}  // namespace

Outcome check_convolution(Draw& draw) {
  const bool complex = draw.random.chance(0.5), wide = draw.random.chance(0.4) && draw.device.limits().float64;
  if (wide) return complex ? check_element<std::complex<double>>(draw) : check_element<double>(draw);
  return complex ? check_element<std::complex<float>>(draw) : check_element<float>(draw);
}

}  // namespace ridge::check
