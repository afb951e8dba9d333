// Sums blocks of points with a table of roots per wanted value, so that a term costs one complex product.
#include "fft/direct_values.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include "base/threads.hpp"
#include "fft/roots.hpp"

namespace ridge::fft {
namespace {

constexpr std::size_t kDirectBlock = 256, kDirectLanes = 8;

struct SplitPoints {
  std::array<double, kDirectBlock> re{}, im{};
};

// Sum of products, in several partial sums that the compiler can keep in vectors.
std::complex<double> sum_of_products(const SplitPoints& a, const SplitPoints& b) {
  std::array<double, kDirectLanes> re{}, im{};
  for (std::size_t i = 0; i < kDirectBlock; i += kDirectLanes) {
    for (std::size_t lane = 0; lane < kDirectLanes; ++lane) {
      re[lane] += a.re[i + lane] * b.re[i + lane] - a.im[i + lane] * b.im[i + lane];
      im[lane] += a.re[i + lane] * b.im[i + lane] + a.im[i + lane] * b.re[i + lane];
    }
  }
  std::complex<double> sum;
  for (std::size_t lane = 0; lane < kDirectLanes; ++lane) sum += std::complex<double>(re[lane], im[lane]);
  return sum;
}

}  // namespace

std::vector<std::complex<double>> direct_values(std::span<const std::complex<double>> points, Direction direction,
                                                std::span<const std::uint64_t> wanted) {
  const std::size_t n = points.size();
  const AnyRoots<double> roots(n);
  const auto root = [&](std::uint64_t exponent) {
    const std::complex<double> value = roots.at(exponent % n);
    return direction == Direction::forward ? value : std::conj(value);
  };
  std::vector<SplitPoints> steps(wanted.size());  // roots k i of a block's points
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    for (std::size_t i = 0; i < kDirectBlock; ++i) {
      const std::complex<double> value = root(wanted[w] * i);
      steps[w].re[i] = value.real();
      steps[w].im[i] = value.imag();
    }
  }
  std::vector<Point<DoubleDouble>> sums(wanted.size());
  std::mutex mutex;
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = base::share((n + kDirectBlock - 1) / kDirectBlock, thread, threads);
    std::vector<Point<DoubleDouble>> own(wanted.size());
    SplitPoints block;
    for (std::size_t b = share.begin; b < share.end; ++b) {
      const std::size_t first = b * kDirectBlock;
      for (std::size_t i = 0; i < kDirectBlock; ++i) {
        const std::complex<double> value = first + i < n ? points[first + i] : std::complex<double>();
        block.re[i] = value.real();
        block.im[i] = value.imag();
      }
      for (std::size_t w = 0; w < wanted.size(); ++w) {
        const std::complex<double> part = root(wanted[w] * first) * sum_of_products(block, steps[w]);
        own[w] = own[w] + Point<DoubleDouble>{DoubleDouble(part.real()), DoubleDouble(part.imag())};
      }
    }
    const std::lock_guard lock(mutex);
    for (std::size_t w = 0; w < wanted.size(); ++w) sums[w] = sums[w] + own[w];
  });
  std::vector<std::complex<double>> values;
  for (const Point<DoubleDouble>& sum : sums)
    values.emplace_back(static_cast<double>(sum.re), static_cast<double>(sum.im));
  return values;
}

}  // namespace ridge::fft
