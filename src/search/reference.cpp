#include "search/reference.hpp"

#include <cmath>
#include <numbers>

#include "search/fourier_plan.hpp"

namespace ridge::search {

double reference_sum(const Layout& layout, std::span<const std::int32_t> delays, const std::uint8_t* in,
                     std::size_t time) {
  double sum = 0;
  for (std::size_t c = 0; c < layout.channels; ++c) {
    sum += in[c * layout.row + time + static_cast<std::size_t>(delays[c])];
  }
  return sum;
}

double interpolated_sum(const Layout& layout, std::size_t period, const std::uint8_t* in, std::size_t trial,
                        std::size_t time) {
  const auto n = static_cast<double>(period);
  double sum = 0;
  for (std::size_t c = 0; c < layout.channels; ++c) {
    const double mean = row_mean(in + c * layout.row, layout.row);
    sum += mean;
    const double at = static_cast<double>(time) + layout.delay[trial] * layout.slope[c];
    const double whole = std::round(at), part = at - whole, sine = std::sin(std::numbers::pi * part) / n;
    for (std::size_t t = 0; t < layout.row; ++t) {
      const double x = whole - static_cast<double>(t), value = in[c * layout.row + t] - mean;
      const double sign = std::fmod(x, 2) == 0 ? 1 : -1;
      if (std::abs(part) < 1e-12) {
        sum += x == 0 ? value : 0;
      } else {
        sum += value * sign * sine / std::tan(std::numbers::pi * (x + part) / n);
      }
    }
  }
  return sum;
}

}  // namespace ridge::search
