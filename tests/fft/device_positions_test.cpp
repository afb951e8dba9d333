// Index ranges of the passes of every route, computed without a device: no step leaves its arrays, and no position of a
// large layout overflows 32 bits. On a card such errors need tens of gigabytes to appear.
#include <cctype>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "device_support.hpp"
#include "fft/device/pass/step.hpp"
#include "fft/device/pass/text/codegen.hpp"
#include "fft/device/route.hpp"
#include "support/hopper.hpp"

namespace ridge::fft::device_tests {
namespace {

using namespace on_device;

// Interleaved lines, as columns of an array.
AxisProblem are_columns(std::size_t n, std::uint64_t columns, Kind kind = Kind::complex,
                        Direction direction = Direction::forward) {
  AxisProblem problem;
  problem.length = n;
  problem.kind = kind;
  problem.direction = direction;
  problem.counts = {columns};
  problem.in = problem.out = {.point = columns, .line = {1}};
  return problem;
}

// Adds a batch of such arrays as the last batch dimension.
AxisProblem arrays(AxisProblem problem, std::uint64_t count) {
  problem.counts.push_back(count);
  for (Address* at : {&problem.in, &problem.out}) at->line.push_back(at->point * (problem.length + 1));
  return problem;
}

AxisProblem consecutive_lines(std::size_t n, std::uint64_t lines, Kind kind = Kind::complex,
                              Direction direction = Direction::forward) {
  AxisProblem problem;
  problem.length = n;
  problem.kind = kind;
  problem.direction = direction;
  problem.counts = {lines};
  problem.in.line = problem.out.line = {n};
  if (kind == Kind::real) (direction == Direction::forward ? problem.out : problem.in).line = {n / 2 + 1};
  return problem;
}

std::vector<AxisProblem> large_problems() {
  const auto real = Kind::real;
  const auto back = Direction::inverse;
  return {are_columns(32766, 16382, real),  // sines of 16382 cells between fixed ones
          are_columns(32766, 16382, real, back),
          are_columns(32771, 40000),
          are_columns(1031, 1 << 21),
          arrays(are_columns(2062, 4096), 300),
          arrays(are_columns(2062, 4096, real), 300),
          are_columns(1 << 16, 1 << 15),
          are_columns(1 << 16, 1 << 15, real),
          are_columns(1 << 16, 1 << 15, real, back),
          are_columns(50000, 48000, real),
          consecutive_lines(1 << 22, 1 << 10),
          consecutive_lines(1 << 22, 1 << 10, real),
          consecutive_lines(65537, 40000),
          consecutive_lines(65537, 40000, real, back),
          consecutive_lines(1000, 4000000)};
}

// One more than the largest offset of a side's lines.
std::uint64_t extent_of(const Address& at, const std::vector<std::uint64_t>& counts, std::uint64_t points) {
  std::uint64_t last = (points - 1) * at.point;
  for (std::size_t dimension = 0; dimension < counts.size(); ++dimension)
    last += (counts[dimension] - 1) * at.line[dimension];
  return last + 1;
}

std::uint64_t points_of(const AxisProblem& problem, bool input) {
  const bool spectrum = problem.kind == Kind::real && input == (problem.direction == Direction::inverse);
  return spectrum ? problem.length / 2 + 1 : problem.length;
}

std::uint64_t reach_of(const PassDesign& design, const PassSide& side, std::uint64_t lines) {
  const Address& at = side.at;
  std::uint64_t last = 0, divided = 1;
  switch (side.values) {
    case Values::pairs:
      last = 2 * (design.points - 1) * at.point + side.pair;
      break;
    case Values::half:
      last = design.length * at.point;
      break;
    case Values::hermitian:
      last = design.points / 2 * at.point;
      break;
    default:
      last = (design.points - 1) * at.point;
  }
  if (side.block > 0) last = (design.points - 1) / side.block * side.block_step + (side.block - 1) * at.point;
  for (std::size_t dimension = 0; dimension < at.line.size(); ++dimension) {
    std::uint64_t most = (lines - 1) / divided;
    if (dimension + 1 < at.line.size()) most = std::min(most, design.counts[dimension] - 1);
    if (dimension == 0 && design.mirrored()) most = design.mirror_rows() - 1;
    last += most * at.line[dimension];
    divided *= design.counts[dimension];
  }
  if (side.valid > 0) {
    // A point index combined with batch dimensions is bounded by the last valid point.
    const std::uint64_t step = at.point / side.valid_at.point;
    last = (side.valid - 1) * step;
    divided = 1;
    for (std::size_t dimension = 0; dimension < at.line.size(); ++dimension) {
      std::uint64_t most = (lines - 1) / divided;
      if (dimension + 1 < at.line.size()) most = std::min(most, design.counts[dimension] - 1);
      if (side.valid_at.line.empty() || side.valid_at.line[dimension] == 0) last += most * at.line[dimension];
      divided *= design.counts[dimension];
    }
  }
  return last + 1;
}

TEST(DevicePositions, NoPassExceedsItsArrays) {
  std::size_t passes = 0, divided = 0;
  const Device hopper = test::hopper();
  for (const AxisProblem& problem : large_problems()) {
    for (const Route& route : list_routes(hopper, problem)) {
      if (!route.candidate.refusal.empty()) continue;
      const std::uint64_t at_once = route.at_once == 0 ? route.outer : std::min(route.at_once, route.outer);
      divided += at_once < route.outer;
      const std::uint64_t input = extent_of(problem.in, problem.counts, points_of(problem, true)),
                          output = extent_of(problem.out, problem.counts, points_of(problem, false));
      const auto room = [&](Place place) {
        return place == Place::input    ? input
               : place == Place::output ? output
               : place == Place::work   ? route.work * at_once
               : place == Place::spare  ? route.spare * at_once
                                        : route.scratch * at_once;
      };
      for (const Step& step : route.steps) {
        const PassDesign* pass = pass_of(step);
        if (pass == nullptr) continue;
        ++passes;
        const auto start = [&](Place place, std::uint64_t stride) {
          return place == Place::input || place == Place::output ? (route.outer - at_once) * stride : 0;
        };
        const std::string what = fmt::format("{} points, {} lines, {}: a pass of {} points", problem.length,
                                             fmt::join(problem.counts, "x"), route.candidate.name(), pass->points);
        const std::uint64_t lines = step.lines * at_once;
        EXPECT_LE(start(step.from, step.from_stride) + reach_of(*pass, pass->load, lines), room(step.from)) << what;
        EXPECT_LE(start(step.to, step.to_stride) + reach_of(*pass, pass->store, lines), room(step.to)) << what;
      }
    }
  }
  EXPECT_GT(passes, 100u);
  EXPECT_GT(divided, 5u) << "no route divides its batch any more";
}

// The strides that a kernel's text multiplies a point index by as an int: "i * 4096" without "(ulong)" before it.
std::vector<std::uint64_t> narrow_strides(const std::string& text, bool& wide) {
  constexpr std::string_view kProduct = "i * ", kWide = "(ulong)";
  std::vector<std::uint64_t> strides;
  for (std::size_t at = text.find(kProduct); at != std::string::npos; at = text.find(kProduct, at + 1)) {
    const char before = at > 0 ? text[at - 1] : ' ', digit = text[at + kProduct.size()];
    if (digit < '0' || digit > '9') continue;
    if (before == ')' && at >= kWide.size() && text.compare(at - kWide.size(), kWide.size(), kWide) == 0) {
      wide = true;
    } else if (std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_') {
      strides.push_back(std::stoull(text.substr(at + kProduct.size(), 20)));
    }
  }
  return strides;
}

// A point index times a stride is an int if that suffices; pairs of reals count twice.
TEST(DevicePositions, Use64BitsAbove2To31) {
  const Device hopper = test::hopper();
  std::size_t found = 0;
  for (const AxisProblem& problem : large_problems()) {
    std::set<std::string> families;
    for (const Route& route : list_routes(hopper, problem)) {
      if (!route.candidate.refusal.empty() || !families.insert(route.candidate.variant).second) continue;
      for (const Step& step : route.steps) {
        const PassDesign* pass = pass_of(step);
        if (pass == nullptr) continue;
        bool wide = false;
        for (const std::uint64_t stride : narrow_strides(pass_text(*pass).source.text, wide))
          EXPECT_LE(2 * stride * pass->points, 0x7fffffffu) << route.candidate.name() << ", " << pass->points;
        found += wide;
      }
    }
  }
  EXPECT_GT(found, 5u);
}

}  // namespace
}  // namespace ridge::fft::device_tests
