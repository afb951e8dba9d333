// Normalizes an axis problem, and counts its bytes and flops.
#include "fft/device/problem/axis_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ridge::fft::on_device {
namespace {

bool continues(const Address& at, const std::vector<std::uint64_t>& counts, std::size_t dimension) {
  return at.line.empty() || at.line[dimension + 1] == at.line[dimension] * counts[dimension];
}

std::string strides_text(const Address& at) { return fmt::format("{}/{}", at.point, fmt::join(at.line, ",")); }

}  // namespace

std::uint64_t AxisProblem::lines() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{1}, std::multiplies<>());
}

bool are_columns(const AxisProblem& problem) {
  const auto columns = [](const Address& at) {
    return at.line.front() == 1 && at.point > 1 &&
           std::all_of(at.line.begin() + 1, at.line.end(), [&](std::uint64_t step) { return step >= at.point; });
  };
  return columns(problem.in) && columns(problem.out);
}

std::uint64_t inner_lines(const AxisProblem& problem) { return problem.lines() / problem.counts.back(); }

void normalize(AxisProblem& problem) {
  std::vector<std::size_t> order(problem.counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t dimension) { return problem.counts[dimension] == 1; });
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return problem.in.line[a] + problem.out.line[a] < problem.in.line[b] + problem.out.line[b];
  });
  if (order.empty()) order.push_back(0);
  const auto pick = [&](std::vector<std::uint64_t>& values) {
    if (values.empty()) return;
    std::vector<std::uint64_t> picked;
    for (const std::size_t dimension : order) picked.push_back(values[dimension]);
    values = std::move(picked);
  };
  const std::array<Address*, 4> addresses{&problem.in, &problem.out, &problem.load_at, &problem.store_at};
  pick(problem.counts);
  for (Address* at : addresses) pick(at->line);
  for (std::size_t dimension = 0; dimension + 1 < problem.counts.size();) {
    const bool all = std::all_of(addresses.begin(), addresses.end(),
                                 [&](const Address* at) { return continues(*at, problem.counts, dimension); });
    if (!all) {
      ++dimension;
      continue;
    }
    problem.counts[dimension] *= problem.counts[dimension + 1];
    problem.counts.erase(problem.counts.begin() + static_cast<std::ptrdiff_t>(dimension) + 1);
    for (Address* at : addresses) {
      if (!at->line.empty()) at->line.erase(at->line.begin() + static_cast<std::ptrdiff_t>(dimension) + 1);
    }
  }
}

planner::Problem planner_problem(const AxisProblem& problem) {
  std::string key =
      fmt::format("fft device {}{} {} {} lines {} from {} to {}", problem.kind == Kind::real ? "r" : "c",
                  problem.float64 ? "64" : "32", problem.direction == Direction::forward ? "forward" : "inverse",
                  problem.length, fmt::join(problem.counts, "x"), strides_text(problem.in), strides_text(problem.out));
  if (problem.in_place) key += " in place";
  if (problem.samples != Samples::same) key += problem.samples == Samples::int8 ? " int8" : " int16";
  const auto storage = [](Storage one) { return one == Storage::same ? "" : one == Storage::float16 ? "f16" : "bf16"; };
  if (problem.float16()) {
    key += fmt::format(" stored {}>{}", storage(problem.load_storage), storage(problem.store_storage));
  }
  if (problem.real_kind) key += fmt::format(" {} of {}", to_string(*problem.real_kind), problem.real_points);
  if (problem.any_offset) key += " any offset";
  if (problem.kept > 0) key += fmt::format(" {} values", problem.kept);
  if (problem.boxed) {
    key += fmt::format(" box {}+{} to {}+{}", problem.read.first, problem.read.count, problem.written.first,
                       problem.written.count);
  }
  if (problem.folded > 0) key += fmt::format(" {} rows folded", problem.folded);
  if (problem.load.kind() != FactorKind::none) key += " load factors";
  if (problem.store.kind() != FactorKind::none) key += " store factors";
  return {.workload = "fft", .key = key, .flops = usual_flops(problem), .bytes = problem_bytes(problem)};
}

double problem_bytes(const AxisProblem& problem) {
  const double element = problem.float64 ? 16 : 8, lines = static_cast<double>(problem.lines());
  if (problem.real_kind) return lines * static_cast<double>(problem.real_points) * element;
  const double points = static_cast<double>(problem.length);
  const auto side = [&](Storage storage) { return storage == Storage::same ? element : 4.0; };
  if (problem.boxed) {
    return lines * (static_cast<double>(problem.read.count) * side(problem.load_storage) +
                    static_cast<double>(problem.written.count) * side(problem.store_storage));
  }
  return lines * points * (side(problem.load_storage) + side(problem.store_storage)) *
         (problem.kind == Kind::real ? 0.5 : 1);
}

double usual_flops(const AxisProblem& problem) {
  const double points = static_cast<double>(problem.length);
  return (problem.kind == Kind::real ? 2.5 : 5) * points * std::log2(std::max(points, 2.0)) *
         static_cast<double>(problem.lines());
}

Order order_of(const Address& at) {
  return at.line.empty() || at.point <= at.line.front() ? Order::points : Order::lines;
}

Address packed_lines(const AxisProblem& problem, std::size_t points) {
  Address at{.point = 1, .line = {}};
  std::uint64_t step = points;
  for (const std::uint64_t count : problem.counts) {
    at.line.push_back(step);
    step *= count;
  }
  return at;
}

Address factor_places(const Side& side, std::size_t axes, std::size_t axis) {
  std::array<std::uint64_t, kMostAxes> packed{};
  std::uint64_t step = 1;
  for (std::size_t i = axes; i-- > 0;) {
    packed[i] = step;
    step *= side.shape[i];
  }
  Address at{.point = packed[axis], .line = {}};
  for (std::size_t other = axes; other-- > 0;) {
    if (other != axis) at.line.push_back(packed[other]);
  }
  at.line.push_back(0);
  return at;
}

}  // namespace ridge::fft::on_device
