// Compile-time selection network that moves the median of an odd number of values to the middle position.
#pragma once
#include <array>
#include <cstddef>

namespace ridge::image {

// Moves the smaller value to `low` and the larger to `high`. A side that is not kept is not read later.
struct Exchange {
  std::size_t low = 0, high = 0;
  bool keeps_low = true, keeps_high = true;
};
struct MedianNetwork {
  std::array<Exchange, 192> exchanges{};
  std::size_t count = 0;
  constexpr const Exchange* begin() const { return exchanges.data(); }
  constexpr const Exchange* end() const { return exchanges.data() + count; }
};

// Batcher's odd-even merge sort of up to 25 values, without the exchanges that do not affect the middle position.
constexpr MedianNetwork median_network(std::size_t values) {
  MedianNetwork all;
  for (std::size_t p = 1; p < values; p *= 2) {
    for (std::size_t k = p; k >= 1; k /= 2) {
      for (std::size_t j = k % p; j + k < values; j += 2 * k) {
        for (std::size_t i = 0; i < k && i + j + k < values; ++i) {
          if ((i + j) / (2 * p) == (i + j + k) / (2 * p)) all.exchanges[all.count++] = {i + j, i + j + k};
        }
      }
    }
  }
  std::array<bool, 32> wanted{};
  wanted[values / 2] = true;
  MedianNetwork backwards, needed;
  for (std::size_t n = all.count; n-- > 0;) {
    Exchange each = all.exchanges[n];
    each.keeps_low = wanted[each.low];
    each.keeps_high = wanted[each.high];
    if (!each.keeps_low && !each.keeps_high) continue;
    wanted[each.low] = wanted[each.high] = true;
    backwards.exchanges[backwards.count++] = each;
  }
  for (std::size_t n = backwards.count; n-- > 0;) needed.exchanges[needed.count++] = backwards.exchanges[n];
  return needed;
}

}  // namespace ridge::image
