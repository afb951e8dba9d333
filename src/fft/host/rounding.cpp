// Compares a line kernel with a transform in wider precision.
#include "fft/host/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/aligned.hpp"
#include "fft/reference.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {
namespace {

// The reference takes n times the largest prime factor.
constexpr std::size_t kMostSteps = std::size_t{1} << 24;

std::size_t largest_factor(std::size_t n) {
  std::size_t largest = 1;
  while (n > 1) {
    largest = reference::smallest_factor(n);
    n /= largest;
  }
  return largest;
}

}  // namespace

template <class T>
std::vector<std::complex<double>> wide_line(Direction direction, const std::vector<std::complex<T>>& in) {
  const std::size_t n = in.size();
  std::vector<std::complex<double>> values;
  if (n * largest_factor(n) <= kMostSteps) {
    for (const auto& point : reference::dft(in, direction == Direction::inverse)) {
      values.emplace_back(static_cast<double>(point.re), static_cast<double>(point.im));
    }
    return values;
  }
  const auto kernel = default_line<double>(n);
  base::AlignedArray<std::complex<double>> from(n), to(n), scratch(kernel->scratch() + 1);
  std::copy(in.begin(), in.end(), from.begin());
  kernel->run(direction, from.data(), to.data(), scratch.data());
  return {to.begin(), to.end()};
}

double largest_rounding(std::size_t points, bool float64) {
  constexpr double kGate = 0.6, kConvolution = 2, kLargestOfMany = 8;
  const double epsilon = float64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  return kLargestOfMany * kConvolution * kGate * epsilon *
         std::sqrt(std::max(1.0, std::log2(static_cast<double>(points))));
}

template std::vector<std::complex<double>> wide_line<float>(Direction, const std::vector<std::complex<float>>&);
template std::vector<std::complex<double>> wide_line<double>(Direction, const std::vector<std::complex<double>>&);

}  // namespace ridge::fft
