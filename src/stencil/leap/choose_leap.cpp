#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <ridge/machine.hpp>

#include "base/text.hpp"
#include "plan/predict.hpp"
#include "stencil/leap/leap.hpp"

namespace ridge::stencil {
namespace {

// Rounding differs from that of steps, so a leap should be worth it.
constexpr double kGain = 2;

// Two passes over the grid for each axis and direction and one for the power, and the flops of the transforms and of
// the squarings of ten thousand steps.
template <class T>
planner::Cost cost_of(const leap::Modes& modes, const Layout& layout, bool host) {
  const double cells = static_cast<double>(layout.changing() * layout.fields);
  double passes = 2, flops = 60;
  for (const leap::Axis& axis : modes.axes) {
    if (axis.basis == leap::Basis::none) continue;
    const double longer = axis.basis == leap::Basis::sine ? 2 : 1;
    passes += 4;
    flops += 2 * 2.5 * longer * std::log2(static_cast<double>(axis.cells) + 2);
  }
  return {.flops = flops * cells,
          .bytes = passes * cells * sizeof(T),
          .launches = passes,
          .efficiency = host ? 0.25 : 0.5,
          .float64 = std::is_same_v<T, double>,
          .threads = layout.threads};
}

std::size_t largest_prime(std::size_t n) {
  std::size_t largest = 1;
  for (std::size_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return std::max(largest, n);
}

// Sine transforms of n cells go through 2 (n + 1) points; one of 32766 failed on an H200, and with a large prime factor
// they are slow everywhere.
std::string refused_on_devices(const leap::Modes& modes) {
  constexpr std::size_t kLargest = 31;
  for (const leap::Axis& axis : modes.axes) {
    if (axis.basis != leap::Basis::sine) continue;
    const std::size_t prime = largest_prime(axis.cells + 1);
    if (prime > kLargest) {
      return fmt::format(
          "{} cells between fixed ones need transforms of {} points, with the prime factor {}: only the "
          "host leaps then",
          axis.cells, 2 * (axis.cells + 1), prime);
    }
  }
  return "";
}

}  // namespace

std::string LeapChoice::explain() const {
  if (!refusal.empty()) return fmt::format("  no leap over many steps: {}\n", refusal);
  if (from == 0) return "  no leap over many steps: not wanted\n";
  return fmt::format("  from {} steps at once on: a leap, all of them for two transforms ({}), expected {}\n", from,
                     transforms, base::human_seconds(seconds));
}

template <class T>
LeapChoice choose_leap(const Device& device, const Update<T>& update, const Problem& problem, const Layout& layout,
                       double step_seconds) {
  const leap::Modes modes = leap::modes_of(update, layout);
  LeapChoice choice{.refusal = modes.refusal, .transforms = modes.describe()};
  if (choice.refusal.empty() && !device.is_host()) {
    if (!device.limits().float64) choice.refusal = fmt::format("{} has no double precision", device.id());
    if (modes.complex_symbol) choice.refusal = "the weights are not even: only the host leaps then";
    if (choice.refusal.empty()) choice.refusal = refused_on_devices(modes);
  }
  if (!choice.refusal.empty()) {
    if (problem.leap == LeapUse::always) {
      throw Error(ErrorKind::invalid_argument, fmt::format("stencil: no leap for this problem: {}", choice.refusal));
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
