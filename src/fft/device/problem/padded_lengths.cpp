#include "fft/device/problem/padded_lengths.hpp"

#include <algorithm>
#include <bit>

namespace ridge::fft::on_device {

// Padded lengths worth trying: the shortest with small factors, and powers of two.
std::vector<std::size_t> padded_lengths(std::size_t n) {
  std::vector<std::size_t> lengths;
  const std::size_t least = 2 * n - 1, power = std::bit_ceil(least);
  // Multiples of 64 (or 8) give every stage enough work-items on neighbouring points.
  const std::size_t grain = least >= 4096 ? 64 : 8;
  for (std::size_t m = (least + grain - 1) / grain * grain; m <= power; m += grain) {
    std::size_t rest = m;
    for (const std::size_t p : {2, 3, 5, 7}) {
      while (rest % p == 0) rest /= p;
    }
    if (rest == 1) lengths.push_back(m);
    if (lengths.size() == 3) break;
  }
  if (std::find(lengths.begin(), lengths.end(), power) == lengths.end()) lengths.push_back(power);
  return lengths;
}

}  // namespace ridge::fft::on_device
