// Chooses the grid, the kernel and the taps of dedispersion in the Fourier domain.
#include "search/fourier_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace ridge::search {
namespace {

constexpr double kBeta = 2.3 * kTaps;  // for a grid of twice the needed points
constexpr std::size_t kZeros = 32;     // after the rows: samples beyond both ends are taken as the mean
constexpr double kMostDelay = 1 << 20;

// The kernel at a distance of x grid points.
double kernel_at(double x) {
  const double z = 2 * x / kTaps;
  return std::abs(z) >= 1 ? 0 : std::exp(kBeta * (std::sqrt(1 - z * z) - 1));
}

// Its Fourier transform at `frequency` cycles per grid point, by the trapezoidal rule in x = kTaps / 2 sin(a).
double kernel_transform(double frequency) {
  constexpr int kPoints = 200;
  double sum = 0;
  for (int i = -kPoints; i <= kPoints; ++i) {
    const double a = std::numbers::pi / 2 * i / kPoints, x = kTaps / 2.0 * std::sin(a);
    sum += std::exp(kBeta * (std::cos(a) - 1)) * std::cos(a) * std::cos(2 * std::numbers::pi * frequency * x);
  }
  return sum * kTaps / 2.0 * std::numbers::pi / 2 / kPoints;
}

// The smallest even number of at least `least` that has no factor above 5.
std::size_t smooth_even(std::size_t least) {
  for (std::size_t n = (least + 1) / 2 * 2;; n += 2) {
    std::size_t rest = n;
    for (const std::size_t factor : {2, 3, 5}) {
      while (rest % factor == 0) rest /= factor;
    }
    if (rest == 1) return n;
  }
}

std::complex<double> turned(double turns) {
  return std::polar(1.0, 2 * std::numbers::pi * (turns - std::round(turns)));
}

}  // namespace

float row_mean(const std::uint8_t* row, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t t = 0; t < count; ++t) sum += row[t];
  return static_cast<float>(sum) / static_cast<float>(count);
}

std::size_t fourier_length(const Layout& layout) { return smooth_even(layout.row + kZeros); }

// Four points per unit of the largest u, delay / 2: two because s is 0 to 1 of 2, two for the kernel.
std::size_t fourier_grid(const Layout& layout) {
  return smooth_even(2 * static_cast<std::size_t>(std::ceil(layout.delay.back())) + 4 * kTaps);
}

std::string fourier_refusal(const Layout& layout) {
  if (layout.delay.back() < kMostDelay) return "";
  return fmt::format("needs delays below {:.0f} samples, got {:.0f}", kMostDelay, layout.delay.back());
}

double fourier_flops(const Layout& layout) {
  const auto n = static_cast<double>(fourier_length(layout)), m = static_cast<double>(fourier_grid(layout));
  const auto channels = static_cast<double>(layout.channels), trials = static_cast<double>(layout.trials);
  constexpr double kTap = 4 * kTaps;
  return (channels + trials) * 2.5 * n * std::log2(n) +
         n / 2 * (5 * m * std::log2(m) + channels * (kTap + 6) + trials * (kTap + 30));
}

FourierTables fourier_tables(const Layout& layout) {
  FourierTables tables{.length = fourier_length(layout), .grid = fourier_grid(layout)};
  const auto grid = static_cast<double>(tables.grid);
  tables.middle = std::lround(layout.delay.back() / 2);
  for (const double s : layout.slope) {
    const double at = s * grid / 2, first = std::floor(at) - (kTaps / 2 - 1);
    tables.cell.push_back(
        static_cast<std::uint32_t>((static_cast<std::int64_t>(first) + static_cast<std::int64_t>(tables.grid)) %
                                   static_cast<std::int64_t>(tables.grid)));
    const std::complex<double> of =
        turned(s * static_cast<double>(tables.middle) / 2) / kernel_transform((s - 0.5) / 2);
    for (std::size_t i = 0; i < kTaps; ++i)
      tables.weight.emplace_back(of * kernel_at(first + static_cast<double>(i) - at));
  }
  for (std::size_t j = 0; j < tables.grid; ++j) {
    const double point = static_cast<double>(j) - (2 * j > tables.grid ? grid : 0);
    const double within = std::min(std::abs(point) / grid, 0.3);  // points beyond a quarter of the grid are not read
    tables.factor.push_back(turned(-(point + static_cast<double>(tables.middle)) / 4) / kernel_transform(within));
  }
  for (std::size_t i = 0; i <= kKernelSteps; ++i) {
    for (std::size_t tap = 0; tap < kTaps; ++tap) {
      const double x = static_cast<double>(i) / kKernelSteps + (kTaps / 2 - 1) - static_cast<double>(tap);
      tables.kernel.push_back(static_cast<float>(kernel_at(x)));
    }
  }
  for (const double delay : layout.delay) {
    const double each = 2 * delay / static_cast<double>(tables.length);
    tables.step.push_back(static_cast<std::uint64_t>(std::llround(std::ldexp(each, kPositionBits))));
  }
  return tables;
}

}  // namespace ridge::search
