// A reference in one to three dimensions, and access to arrays through strides.
#pragma once
#include <complex>
#include <cstddef>
#include <limits>
#include <vector>

#include "fft/support.hpp"

namespace ridge::fft {

inline std::size_t product(const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t n : shape) count *= n;
  return count;
}

// In double for both types: enough for float, and slightly less exact than the lines under test for double.
inline std::vector<std::complex<double>> nd_dft(std::vector<std::complex<double>> x,
                                                const std::vector<std::size_t>& shape, bool inverse) {
  std::size_t inner = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::size_t n = shape[axis];
    for (std::size_t start = 0; start < x.size(); ++start) {
      if (start / inner % n != 0) continue;
      std::vector<std::complex<double>> line(n);
      for (std::size_t i = 0; i < n; ++i) line[i] = x[start + i * inner];
      const auto result = reference::dft(line, inverse);
      for (std::size_t i = 0; i < n; ++i) {
        x[start + i * inner] = {static_cast<double>(result[i].re), static_cast<double>(result[i].im)};
      }
    }
    inner *= n;
  }
  return x;
}

// The element offset of a packed index under strides.
inline std::size_t element(std::size_t index, const std::vector<std::size_t>& shape,
                           const std::vector<std::size_t>& strides) {
  std::size_t at = 0;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    at += index % shape[axis] * strides[axis];
    index /= shape[axis];
  }
  return at;
}

inline std::vector<std::size_t> packed(const std::vector<std::size_t>& shape) {
  std::vector<std::size_t> strides(shape.size());
  std::size_t step = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

template <class T>
std::vector<std::complex<double>> wide(const std::vector<std::complex<T>>& x) {
  return {x.begin(), x.end()};
}

// Relative difference of `a` and `b`; infinite if the sizes differ, NaN if any value is.
template <class A, class B>
double distance(const std::vector<A>& a, const std::vector<B>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += std::norm(std::complex<double>(a[i]) - std::complex<double>(b[i]));
    norm += std::norm(std::complex<double>(b[i]));
  }
  return std::sqrt(difference / norm);
}

}  // namespace ridge::fft
