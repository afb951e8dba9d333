// Migration correction by interpolation with 16 taps on the host, one thread per block of range rows.
#include <algorithm>
#include <cmath>

#include "base/threads.hpp"
#include "sar/variant.hpp"

namespace ridge::sar {
namespace {

struct Place {
  std::ptrdiff_t row;  // of the first tap; may be negative at the border
  const float* taps;
};

class HostTaps final : public Migration {
 public:
  HostTaps(const Problem& problem, const Tables& tables) : problem_(problem), tables_(tables) {}
  void run(const Complex* in, Complex* out) const override;

 private:
  const Problem& problem_;
  const Tables& tables_;
};

void HostTaps::run(const Complex* in, Complex* out) const {
  const auto ranges = static_cast<std::ptrdiff_t>(problem_.samples);
  const std::size_t pulses = problem_.pulses;
  base::parallel(problem_.threads, [&](std::size_t thread, std::size_t threads) {
    const auto [begin, end] = base::share(problem_.samples, thread, threads);
    for (std::size_t r = begin; r < end; ++r) {
      const Complex* filter = tables_.azimuth.data() + r * pulses;
      const float range = tables_.first_range + static_cast<float>(r);
      for (std::size_t f = 0; f < pulses; ++f) {
        Complex* to = out + r * pulses + f;
        if (filter[f] == Complex()) {
          *to = {};
          continue;
        }
        const float shift = range * tables_.stretch[f];
        const float whole = std::floor(shift);
        const auto fraction = static_cast<std::size_t>((shift - whole) * kFractions + 0.5F);
        const Place place{static_cast<std::ptrdiff_t>(r) + static_cast<std::ptrdiff_t>(whole) - (kTaps / 2 - 1),
                          tables_.taps.data() + fraction * kTaps};
        const std::ptrdiff_t first = std::max<std::ptrdiff_t>(0, -place.row);
        const std::ptrdiff_t last = std::min<std::ptrdiff_t>(kTaps, ranges - place.row);
        float real = 0, imaginary = 0;
        for (std::ptrdiff_t tap = first; tap < last; ++tap) {
          const Complex value = in[static_cast<std::size_t>(place.row + tap) * pulses + f];
          real = std::fma(place.taps[tap], value.real(), real);
          imaginary = std::fma(place.taps[tap], value.imag(), imaginary);
        }
        *to = {real * filter[f].real() - imaginary * filter[f].imag(),
               real * filter[f].imag() + imaginary * filter[f].real()};
      }
    }
  });
}

}  // namespace

void list_host_taps(const Device&, const Problem& problem, const Tables& tables, std::vector<Entry>& entries) {
  entries.push_back({.candidate = planner::Candidate{.variant = "taps",
                                                     .parameters = {{"taps", std::to_string(kTaps)}},
                                                     .refusal = {},
                                                     .cost = migration_cost(problem, migration_flops(problem), 0.02)},
                     .build = [&] { return std::make_shared<const HostTaps>(problem, tables); }});
}

}  // namespace ridge::sar
