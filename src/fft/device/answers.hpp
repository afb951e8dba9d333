// Answers that are judged where they are: what is compared of half a gigabyte is a few megabytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <ridge/device.hpp>

#include "plan/comparison.hpp"

namespace ridge::fft::on_device {

// Smaller ones come to the host as they are.
inline constexpr std::size_t kLargeAnswer = std::size_t{1} << 23;

enum class NumberFormat { float32, float64, float16, bfloat16 };

// Numbers of the array that are none: infinities are.
std::uint64_t count_no_numbers(Queue& queue, const Buffer& answer, NumberFormat format);

// Runs of values of one or two numbers: from each start on `points` of them, `step` elements apart, one run after the
// other.
struct Runs {
  std::vector<std::uint64_t> starts = {};
  std::uint64_t points = 1, step = 1;
  std::size_t numbers = 2;  // of a value
};
std::vector<std::byte> gathered_runs(Queue& queue, const Buffer& answer, NumberFormat format, const Runs& runs);

// As planner::compare, of `bytes` of both arrays; float32 or float64.
planner::Comparison compare_arrays(Queue& queue, const Buffer& answer, const Buffer& expected, std::size_t bytes,
                                   bool float64, double allowed);

}  // namespace ridge::fft::on_device
