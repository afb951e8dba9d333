// Real 2D arrays, columns first: pairs of neighbouring reals are the complex points of the columns, and the rows come
// last. Rows of a half spectrum have an odd number of values, so its columns are not aligned to sectors. H200, 4096^2:
// 746 us rows first, 671 us columns first.
#include <algorithm>

#include "fft/device/route.hpp"
#include "fft/device/transform.hpp"

namespace ridge::fft {

constexpr const char* kColumnsFirst = "columns_first";  // variant name that requests this order

on_device::AxisProblem DeviceTransform::folded_rows(Direction direction) const {
  const std::size_t rows = layout_.samples.shape[0], pairs = layout_.samples.shape[1] / 2;
  const on_device::Address work{.point = 1, .line = {pairs, rows * pairs}};
  const on_device::Address spectrum{.point = 1, .line = {layout_.spectrum.strides[0], layout_.spectrum.batch}};
  const bool forward = direction == Direction::forward;
  on_device::AxisProblem problem;
  problem.float64 = float64_;
  problem.direction = direction;
  problem.length = 2 * pairs;
  problem.folded = rows;
  problem.counts = {rows / 2 + 1, problem_.batch};
  problem.in = forward ? work : spectrum;
  problem.out = forward ? spectrum : work;
  return problem;
}

bool DeviceTransform::folds(const planner::Options& options) const {
  const Side &samples = layout_.samples, &spectrum = layout_.spectrum;
  if (problem_.kind != Kind::real || layout_.axes != 2 || problem_.storage != Storage::same || samples.aliases) {
    return false;
  }
  const auto even = [](std::size_t value) { return value % 2 == 0; };
  const auto rows_apart = [&](const Side& side) {
    return side.strides[1] == 1 && side.strides[0] >= side.shape[1] &&
           (problem_.batch == 1 || side.batch >= side.strides[0]);
  };
  constexpr std::size_t kFewestRows = 4, kShortestRow = 256;
  const bool wanted = options.variant == kColumnsFirst;
  if (samples.shape[0] < kFewestRows || !even(samples.shape[1]) || !even(samples.strides[0]) ||
      (problem_.batch > 1 && !even(samples.batch)) || !rows_apart(samples) || !rows_apart(spectrum)) {
    return false;
  }
  if (!wanted && (device_.info().backend != Backend::cuda || samples.shape[1] < kShortestRow)) return false;
  for (const Direction direction : {Direction::forward, Direction::inverse}) {
    const EndOperators ends = end_operators(direction);
    if (ends.samples != Samples::same || ends.load.kind() != on_device::FactorKind::none ||
        ends.store.kind() != on_device::FactorKind::none) {
      return false;
    }
    const auto routes = on_device::list_routes(device_, folded_rows(direction));
    if (routes.empty() || !routes.front().candidate.refusal.empty()) return false;
  }
  return true;
}

std::vector<DeviceTransform::PlannedAxis> DeviceTransform::folded_axes(Direction direction) {
  const std::size_t rows = layout_.samples.shape[0], pairs = layout_.samples.shape[1] / 2;
  if (!work_)
    work_ = device_.buffer(rows * pairs * problem_.batch * complex_bytes(), {.name = "fft intermediate columns"});
  const bool forward = direction == Direction::forward;
  const on_device::Address work{.point = pairs, .line = {1, rows * pairs}};
  const on_device::Address samples{.point = layout_.samples.strides[0] / 2, .line = {1, layout_.samples.batch / 2}};
  PlannedAxis columns{
      0, Kind::complex, forward ? Array::input : Array::work, forward ? Array::work : Array::output, {}};
  on_device::AxisProblem& problem = columns.problem;
  problem.float64 = float64_;
  problem.direction = direction;
  problem.length = rows;
  problem.counts = {pairs, problem_.batch};
  problem.in = forward ? samples : work;
  problem.out = forward ? work : samples;
  problem.scale = forward ? 1 : end_operators(direction).scale;
  normalize(problem);
  PlannedAxis last{1, Kind::real, forward ? Array::work : Array::input, forward ? Array::output : Array::work,
                   folded_rows(direction)};
  last.problem.scale = forward ? end_operators(direction).scale : 1;
  if (forward) return {columns, last};
  return {last, columns};
}

}  // namespace ridge::fft
