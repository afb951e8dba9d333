// Fills host and device memory with the same random data, by random.cl on devices.
#include "device/random.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/threads.hpp"
#include "device/kernel_text.hpp"

namespace ridge {
namespace {

constexpr std::size_t kShortest = std::size_t{1} << 20;      // bytes that are worth several threads
constexpr std::size_t kMostUploaded = std::size_t{1} << 24;  // bytes per upload

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

// Words from number `start` on.
void fill_from(std::span<std::byte> memory, Numbers numbers, std::uint64_t start) {
  base::parallel(memory.size() < kShortest ? 1 : 0, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = base::share(memory.size(), thread, threads, 4096);
    for (std::size_t at = share.begin; at < share.end; at += 8) {
      const std::size_t left = share.end - at;
      // Four remaining bytes still hold a float; fewer are filled as bits.
      const std::uint64_t word = random_word(start + at / 8, left < 4 ? Numbers::bits : numbers);
      std::memcpy(memory.data() + at, &word, std::min<std::size_t>(left, 8));
    }
  });
}

}  // namespace

void fill_random(std::span<std::byte> memory, Numbers numbers, std::uint64_t seed) {
  fill_from(memory, numbers, random_bits(seed));
}

void fill_random(Queue& queue, const Buffer& buffer, Numbers numbers, std::uint64_t seed) {
  const Device device = queue.device();
  // Shorter buffers are filled before a kernel is compiled.
  const bool by_kernel =
      !device.is_host() && buffer.size() > kMostUploaded && (numbers != Numbers::float64 || device.limits().float64);
  std::size_t filled = 0;
  if (by_kernel) {
    const std::uint64_t words = buffer.size() / 8, start = random_bits(seed);
    const Kernel kernel = device
                              .compile({.name = "random numbers",
                                        .text = detail::kernel_text("device/random"),
                                        .defines = {{"NUMBERS", std::to_string(static_cast<int>(numbers))}}})
                              .kernel("fill_random");
    queue.launch(kernel, {.groups = {(words + 255) / 256}, .items = {256}}, {buffer, words, start});
    filled = 8 * words;
  }
  std::vector<std::byte> block(std::min(buffer.size() - filled, kMostUploaded));
  for (; filled < buffer.size(); filled += block.size()) {
    block.resize(std::min(buffer.size() - filled, kMostUploaded));
    fill_from(block, numbers, random_bits(seed) + filled / 8);
    queue.upload(block.data(), buffer, block.size(), filled);
    queue.finish();  // before the block changes or ends
  }
}

}  // namespace ridge
