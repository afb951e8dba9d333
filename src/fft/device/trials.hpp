// Timing and comparison of the routes of an axis during planning.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "base/clock.hpp"
#include "fft/device/axis_reference.hpp"
#include "fft/device/route.hpp"
#include "plan/choose.hpp"

namespace ridge::fft::on_device {

// Shortest time difference that counts; smaller ones are noise.
inline constexpr base::Repeat kTrial{.seconds = 0.006, .at_least = 3, .at_most = 100, .round = 2e-4};

class AxisTrials final : public planner::Trials<CompiledRoute> {
 public:
  // Of lines longer than `longest_whole` some values are compared with direct sums: the host takes seconds for a whole
  // transform in double.
  AxisTrials(const Device& device, const AxisProblem& problem, std::uint64_t longest_whole = std::uint64_t{1} << 24)
      : device_(device), problem_(problem), longest_whole_(longest_whole) {}
  double seconds(const CompiledRoute& route) override;
  planner::Comparison compare(const CompiledRoute& route) override;

 private:
  void make_arrays();
  void choose_lines();
  void choose_values();
  std::uint64_t compared_points() const;  // of a line
  void refresh_input();
  std::vector<std::byte> compared_numbers();
  template <class T>
  planner::Comparison compared(const std::vector<std::byte>& numbers) const;
  std::string unstored_text();
  void make_input();
  void make_expected();

  Device device_;
  AxisProblem problem_;
  std::uint64_t longest_whole_;
  std::optional<Queue> queue_;
  Buffer in_, out_, kept_;
  // State for comparisons: the input, whether it is uploaded, the compared lines and their reference values. The input
  // of long lines is made on the device.
  std::vector<std::byte> input_;
  bool uploaded_ = false;
  std::vector<std::uint64_t> lines_, values_;  // the values of a line that are compared; empty: all
  std::vector<std::vector<std::complex<double>>> expected_;
};

}  // namespace ridge::fft::on_device
