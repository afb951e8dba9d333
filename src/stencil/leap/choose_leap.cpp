// Decides from how many steps on a leap is faster than stepping.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <ridge/machine.hpp>

#include "base/text.hpp"
#include "fft/device/problem/radices.hpp"
#include "plan/predict.hpp"
#include "stencil/leap/leap.hpp"

namespace ridge::stencil {
namespace {

// Rounding differs from that of stepping, so a leap must be at least this much faster.
constexpr double kGain = 2;

// Ratio of a device transform's padded length to the cells of an axis if its length has a large prime factor, such as
// 32766; 0: no such factor.
double times_padded(const leap::Axis& axis) {
  const std::size_t points = axis.basis == leap::Basis::sine ? 2 * (axis.cells + 1) : axis.cells;
  if (fft::on_device::has_butterflies(points)) return 0;
  return static_cast<double>(fft::on_device::padded_lengths(points).back()) / static_cast<double>(axis.cells);
}

// Cost: two passes over the grid per axis and direction, one pass for the powers, and the flops of the transforms and
// of the squarings for ten thousand steps. Padded complex lines take six passes: on an H200, 8192^2 and 16384^2 cells
// between fixed sides (16382 and 32766 points) take 27 and 103 ms.
template <class T>
planner::Cost cost_of(const leap::Modes& modes, const Layout& layout, bool host) {
  const double cells = static_cast<double>(layout.changing() * layout.fields);
  double passes = 2, flops = 60;
  for (const leap::Axis& axis : modes.axes) {
    if (axis.basis == leap::Basis::none) continue;
    const double longer = axis.basis == leap::Basis::sine ? 2 : 1;
    const double padded = host ? 0 : times_padded(axis);
    passes += padded > 0 ? 24 * padded : 4;
    flops += 2 * 2.5 * longer * std::log2(static_cast<double>(axis.cells) + 2);
  }
  return {.flops = flops * cells,
          .bytes = passes * cells * sizeof(T),
          .launches = passes,
          .efficiency = host ? 0.25 : 0.5,
          .float64 = std::is_same_v<T, double>,
          .threads = layout.threads};
}

// Memory of a device's transforms besides the grid, in numbers per cell: the cells or their spectrum and, along fixed
// and mirrored axes, the data before and after the inner transform. A sine transform of n cells has 2 (n + 1) points;
// if those have a large prime factor, they are padded to at least twice that, in two complex arrays.
double numbers_per_cell(const leap::Modes& modes) {
  double most = 0;
  for (const leap::Axis& axis : modes.axes) {
    if (axis.basis == leap::Basis::fourier) most = std::max(most, 2.0);
    if (axis.basis == leap::Basis::cosine) most = std::max(most, 4.0);
    if (axis.basis != leap::Basis::sine) continue;
    most = std::max(most, 6.0 + 4.0 * times_padded(axis));
  }
  return 2 + most;
}

std::string refused_on_device(const Device& device, const leap::Modes& modes, const Layout& layout,
                              std::size_t number) {
  if (!device.limits().float64) return fmt::format("{} has no double precision", device.id());
  if (modes.complex_symbol) return "needs symmetric weights on a device: use the host for others";
  const double bytes = (2 + numbers_per_cell(modes)) * static_cast<double>(layout.cells() * layout.fields * number);
  const auto there = static_cast<double>(device.limits().memory);
  if (there > 0 && bytes > 0.9 * there) {
    return fmt::format("the transforms need about {} of memory, {} has {}", base::human_bytes(bytes), device.id(),
                       base::human_bytes(there));
  }
  return "";
}

}  // namespace

std::string LeapChoice::explain() const {
  if (!refusal.empty()) return fmt::format("  no leap over many steps: {}\n", refusal);
  if (from == 0) return "  no leap over many steps: not wanted\n";
  return fmt::format("  {} or more steps at once: one leap at the cost of two transforms ({}), expected {}\n", from,
                     transforms, base::human_seconds(seconds));
}

template <class T>
LeapChoice choose_leap(const Device& device, const Update<T>& update, const Problem& problem, const Layout& layout,
                       double step_seconds) {
  const leap::Modes modes = leap::modes_of(update, layout);
  LeapChoice choice{.refusal = modes.refusal, .transforms = modes.describe()};
  if (choice.refusal.empty() && !device.is_host()) {
    choice.refusal = refused_on_device(device, modes, layout, sizeof(T));
  }
  if (!choice.refusal.empty()) {
    if (problem.leap == LeapUse::always) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("stencil: LeapUse::always is not possible: {}", choice.refusal));
    }
    return choice;
  }
  const planner::Cost cost = cost_of<T>(modes, layout, device.is_host());
  const double bytes = 2 * static_cast<double>(layout.cells() * layout.fields * sizeof(T));
  choice.seconds =
      planner::predict(machine::ceilings(device), {.workload = "stencil", .key = "leap", .bytes = bytes}, cost).seconds;
  if (problem.leap == LeapUse::never) return choice;
  choice.from = problem.leap == LeapUse::always
                    ? 1
                    : std::max<std::size_t>(64, static_cast<std::size_t>(kGain * choice.seconds / step_seconds) + 1);
  return choice;
}

template LeapChoice choose_leap(const Device&, const Update<float>&, const Problem&, const Layout&, double);
template LeapChoice choose_leap(const Device&, const Update<double>&, const Problem&, const Layout&, double);
template LeapChoice choose_leap(const Device&, const Update<std::int32_t>&, const Problem&, const Layout&, double);
template LeapChoice choose_leap(const Device&, const Update<std::uint8_t>&, const Problem&, const Layout&, double);

}  // namespace ridge::stencil
