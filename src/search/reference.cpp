#include "search/reference.hpp"

#include <cmath>
#include <mutex>
#include <numbers>

#include "base/threads.hpp"
#include "search/fourier_plan.hpp"

namespace ridge::search {
namespace {

constexpr std::size_t kLanes = 8;  // independent sums, so that the loop is vectorized

}  // namespace

double reference_sum(const Layout& layout, std::span<const std::int32_t> delays, const std::uint8_t* in,
                     std::size_t time) {
  double sum = 0;
  for (std::size_t c = 0; c < layout.channels; ++c) {
    sum += in[c * layout.row + time + static_cast<std::size_t>(delays[c])];
  }
  return sum;
}

std::vector<double> interpolated_sums(const Layout& layout, std::size_t period, const std::uint8_t* in,
                                      std::span<const SeriesPlace> places) {
  const double turn = std::numbers::pi / static_cast<double>(period);
  // cot(a - t turn) from tables of t: one division per sample instead of a tangent.
  const std::size_t padded = (layout.row + kLanes - 1) / kLanes * kLanes;
  std::vector<double> cosine(padded), sine(padded);
  for (std::size_t t = 0; t < padded; ++t) {
    cosine[t] = std::cos(turn * static_cast<double>(t)), sine[t] = std::sin(turn * static_cast<double>(t));
  }
  std::vector<double> sums(places.size(), 0);
  std::mutex mutex;
  base::parallel(layout.threads, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = base::share(layout.channels, thread, threads);
    std::vector<double> mine(places.size(), 0), values(padded, 0.0);
    for (std::size_t c = share.begin; c < share.end; ++c) {
      const double mean = row_mean(in + c * layout.row, layout.row);
      for (std::size_t t = 0; t < layout.row; ++t) values[t] = in[c * layout.row + t] - mean;
      for (std::size_t i = 0; i < places.size(); ++i) {
        const double at = static_cast<double>(places[i].time) + layout.delay[places[i].trial] * layout.slope[c];
        const double whole = std::round(at), part = at - whole;
        mine[i] += mean;
        if (std::abs(part) < 1e-7) {
          mine[i] += values[static_cast<std::size_t>(whole)];
          continue;
        }
        const double c0 = std::cos(turn * at), s0 = std::sin(turn * at);
        double lanes[kLanes] = {};
        for (std::size_t t = 0; t < padded; t += kLanes) {
          for (std::size_t k = 0; k < kLanes; ++k) {
            lanes[k] +=
                values[t + k] * (c0 * cosine[t + k] + s0 * sine[t + k]) / (s0 * cosine[t + k] - c0 * sine[t + k]);
          }
        }
        double sum = 0;
        for (std::size_t k = 0; k < kLanes; ++k) sum += k % 2 == 0 ? lanes[k] : -lanes[k];
        const double sign = std::fmod(whole, 2) == 0 ? 1 : -1;
        mine[i] += sign * sum * std::sin(std::numbers::pi * part) / static_cast<double>(period);
      }
    }
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += mine[i];
  });
  return sums;
}

}  // namespace ridge::search
