// Checks results of device transforms on the device: of half a gigabyte, only a few megabytes are copied to the host.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <ridge/device.hpp>

#include "fft/variant.hpp"
#include "plan/comparison.hpp"

namespace ridge::fft::on_device {

// Smaller results are copied to the host as a whole.
inline constexpr std::size_t kLargeAnswer = std::size_t{1} << 23;

enum class NumberFormat { float32, float64, float16, bfloat16 };

// Number of NaN values in the array; infinities do not count.
std::uint64_t count_nan(Queue& queue, const Buffer& answer, NumberFormat format);

// Runs of values of one or two numbers each: from each start, `points` values that are `step` elements apart,
// concatenated.
struct Runs {
  std::vector<std::uint64_t> starts = {};
  std::uint64_t points = 1, step = 1;
  std::size_t numbers = 2;  // per value
};
std::vector<std::byte> gathered_runs(Queue& queue, const Buffer& answer, NumberFormat format, const Runs& runs);

// Values of the transforms of lines of float32 or float64 numbers, in double and by their definition, which reads every
// value of a line. The device must have float64.
struct LineSums {
  std::vector<std::uint64_t> starts = {}, wanted = {};  // of each sum: the first element of its line, and the index
  std::uint64_t length = 1, points = 1, step = 1;       // of every line: its period, stored values, elements between
  std::size_t numbers = 2;                              // per value
};
std::vector<std::complex<double>> line_sums(Queue& queue, const Buffer& values, bool float64, Direction direction,
                                            const LineSums& lines);

// As planner::compare, over `bytes` of both arrays; float32 or float64.
planner::Comparison compare_arrays(Queue& queue, const Buffer& answer, const Buffer& expected, std::size_t bytes,
                                   bool float64, double allowed);

}  // namespace ridge::fft::on_device
