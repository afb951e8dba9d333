// Random data for trials, so that timed and compared data are neither zero nor constant.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include <ridge/device.hpp>

namespace ridge {

enum class Numbers {
  bits,     // any byte: integers, and data that are only moved
  float32,  // in [-1, 1)
  float64,
};

// The same bytes for the same seed on every machine. A remainder shorter than a number is filled as bits.
void fill_random(std::span<std::byte> memory, Numbers numbers, std::uint64_t seed = 1);

// The same bytes in memory of any device; large buffers by a kernel, enqueued.
void fill_random(Queue& queue, const Buffer& buffer, Numbers numbers, std::uint64_t seed = 1);

}  // namespace ridge
