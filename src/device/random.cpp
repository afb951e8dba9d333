#include "device/random.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/threads.hpp"

namespace ridge {
namespace {

constexpr std::size_t kBlock = 65521 * 16;  // a prime times the widest element

// SplitMix64 of a counter: any part can be generated independently, so threads share the work.
std::uint64_t random_bits(std::uint64_t counter) {
  std::uint64_t z = counter * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// Converts eight random bytes: one double, two floats, or unchanged.
std::uint64_t random_word(std::uint64_t counter, Numbers numbers) {
  const std::uint64_t bits = random_bits(counter);
  std::uint64_t word = bits;
  if (numbers == Numbers::float64) {
    const double value = static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-63;
    std::memcpy(&word, &value, sizeof(word));
  } else if (numbers == Numbers::float32) {
    // 24 bits each: a float holds them exactly, so that 1 is never reached by rounding.
    const float pair[2] = {static_cast<float>(static_cast<std::int32_t>(bits) >> 8) * 0x1p-23F,
                           static_cast<float>(static_cast<std::int32_t>(bits >> 32) >> 8) * 0x1p-23F};
    std::memcpy(&word, pair, sizeof(word));
  }
  return word;
}

}  // namespace

void fill_random(std::span<std::byte> memory, Numbers numbers, std::uint64_t seed) {
  const std::uint64_t start = random_bits(seed);
  base::parallel(memory.size() < kBlock ? 1 : 0, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = base::share(memory.size(), thread, threads, 4096);
    for (std::size_t at = share.begin; at < share.end; at += 8) {
      const std::size_t left = share.end - at;
      // Four remaining bytes still hold a float; fewer are filled as bits.
      const std::uint64_t word = random_word(start + at / 8, left < 4 ? Numbers::bits : numbers);
      std::memcpy(memory.data() + at, &word, std::min<std::size_t>(left, 8));
    }
  });
}

void fill_random(Queue& queue, const Buffer& buffer, Numbers numbers, std::uint64_t seed) {
  if (buffer.size() == 0) return;
  std::vector<std::byte> block(std::min(buffer.size(), kBlock));
  fill_random(block, numbers, seed);
  queue.upload(block.data(), buffer, block.size());
  for (std::size_t filled = block.size(); filled < buffer.size(); filled += std::min(filled, buffer.size() - filled)) {
    queue.copy(buffer, buffer, std::min(filled, buffer.size() - filled), 0, filled);
  }
  queue.finish();  // `block` ends here
}

}  // namespace ridge
