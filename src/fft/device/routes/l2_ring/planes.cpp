// 2D transforms in one launch: an L2-resident ring whose chunks are whole planes.
#include <algorithm>
#include <bit>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "fft/device/routes/l2_ring/l2_ring.hpp"
#include "fft/device/routes/two_pass_tma/two_pass_tma.hpp"

namespace ridge::fft::on_device {
namespace {

// Small rings help real planes (H200, 512 x 512, us, small and large ring: undivided 498 and 523, divided among the L2
// partitions 490 and 498, in partition-local blocks 469 and 466).
constexpr double kSmallRing = 17e6;
// Shortest side for which the warp-specialized kernel wins (H200, us with and without: 1024^2 466 and 512, 512^2 488
// and 466, 256^2 609 and 389).
constexpr std::size_t kLeastSpecialized = 1024;

// Expected share of copy speed, measured on an H200.
double expected(const PlaneProblem& plane) { return plane.real ? 0.5 : 0.6; }

std::string refusal(const Device& device, const PlaneProblem& plane) {
  if (device.info().backend != Backend::cuda)
    return "needs forward progress between work-groups, which only CUDA guarantees";
  if (plane.in_point != 1 || plane.out_point != 1)
    return fmt::format("needs contiguous rows, got point strides {} and {}", plane.in_point, plane.out_point);
  const std::size_t row = plane.real ? plane.columns / 2 : plane.columns;
  if (plane.in_row < row || plane.out_row < row)
    return fmt::format("needs row strides of at least {}, got {} and {}", row, plane.in_row, plane.out_row);
  if (plane.real && (plane.rows < 4 || plane.columns < 16))
    return fmt::format("needs real planes of at least 4 x 16, got {} x {}", plane.rows, plane.columns);
  if (!std::has_single_bit(plane.rows) || !std::has_single_bit(plane.columns))
    return fmt::format("needs powers of two, got {} x {}", plane.rows, plane.columns);
  return {};
}

PassDesign pass_of_plane(const PlaneProblem& plane) {
  PassDesign pass;
  pass.float64 = plane.float64;
  pass.direction = plane.direction;
  return pass;
}

// Forward: columns of pairs of reals, then rows with their mirrors. Inverse: the reverse order.
RingDesign real_passes_of(const PlaneProblem& plane) {
  const bool forward = plane.direction == Direction::forward;
  const std::uint64_t pairs = plane.columns / 2;
  PassDesign columns = pass_of_plane(plane), rows = columns;
  columns.length = columns.points = plane.rows;
  columns.counts = {pairs};
  columns.load.at = {.point = forward ? plane.in_row : pairs, .line = {1}};
  columns.store.at = {.point = forward ? pairs : plane.out_row, .line = {1}};
  columns.load_order = columns.store_order = Order::lines;
  rows.length = rows.points = plane.columns;
  rows.kind = FoldedRows{.rows = plane.rows};
  rows.counts = {plane.rows / 2 + 1};
  rows.load.at = {.point = 1, .line = {forward ? pairs : plane.in_row}};
  rows.store.at = {.point = 1, .line = {forward ? plane.out_row : pairs}};
  RingDesign ring{.first = forward ? columns : rows,
                  .second = forward ? rows : columns,
                  .first_lines = forward ? pairs : plane.rows / 2 + 1,
                  .second_lines = forward ? plane.rows / 2 + 1 : pairs,
                  .counts = plane.counts,
                  .load = plane.in_chunk,
                  .store = plane.out_chunk,
                  .slot = plane.rows * pairs};
  ring.first.load.once = ring.second.store.once = true;
  ring.second.scale = plane.scale;
  return ring;
}

// The first pass transforms rows into the slot, the second one columns out of it.
RingDesign passes_of(const PlaneProblem& plane) {
  if (plane.real) return real_passes_of(plane);
  const PassDesign common = pass_of_plane(plane);
  RingDesign ring{.first = common,
                  .second = common,
                  .first_lines = plane.rows,
                  .second_lines = plane.columns,
                  .counts = plane.counts,
                  .load = plane.in_chunk,
                  .store = plane.out_chunk,
                  .slot = plane.rows * plane.columns};
  PassDesign &first = ring.first, &second = ring.second;
  first.length = first.points = plane.columns;
  first.counts = {plane.rows};
  first.load.at = {.point = 1, .line = {plane.in_row}};
  first.load.once = true;
  first.store.at = {.point = 1, .line = {plane.columns}};
  second.length = second.points = plane.rows;
  second.counts = {plane.columns};
  second.load.at = {.point = plane.columns, .line = {1}};
  second.load_order = Order::lines;
  second.store.at = {.point = plane.out_row, .line = {1}};
  second.store_order = Order::lines;
  second.store.once = true;
  second.scale = plane.scale;
  return ring;
}

}  // namespace

std::uint64_t PlaneProblem::planes() const {
  std::uint64_t all = 1;
  for (const std::uint64_t count : counts) all *= count;
  return all;
}

double plane_bytes(const PlaneProblem& plane) {
  return static_cast<double>(plane.planes()) * static_cast<double>(plane.rows * plane.columns) *
         (plane.float64 ? 32 : 16) / (plane.real ? 2 : 1);
}

namespace {

// Joins row 0 and the middle row, which are their own mirrors, in one line: otherwise one extra line needs a tile of
// its own.
void join_self_mirrored(const Device& device, const PlaneProblem& plane, RingDesign& ring) {
  for (PassDesign* pass : {&ring.first, &ring.second}) {
    auto* const rows = std::get_if<FoldedRows>(&pass->kind);
    if (rows == nullptr) continue;
    rows->lanes = fold_lanes_serve(*pass, device.limits().sub_group);
    if (!rows->lanes || plane.rows / 2 % pass->lines != 0) continue;
    rows->self_mirrored = true;
    ring.second_lines = pass->counts.front() = plane.rows / 2;
  }
}

struct RingSize {
  double bytes;
  std::size_t l2_partitions;
};

// Best first, as measured on an H200.
std::vector<GroupShape> shapes_of(const PlaneProblem& plane) {
  if (plane.real) {
    if (plane.direction == Direction::forward) return {{256, 32}, {256, 16}};
    return {{256, 16}, {256, 32}};
  }
  std::vector<GroupShape> shapes;
  for (const GroupShape& shape : kGroupShapes) {
    if (!shape.long_only || std::max(plane.rows, plane.columns) >= 1024) shapes.push_back(shape);
  }
  return shapes;
}

// Warp-specialized design for contiguous real planes, forward: column tiles by tensor map, rows and mirrors by bulk
// copies.
bool warp_specialized(const Device& device, const PlaneProblem& plane, RingDesign& ring) {
  if (!device.limits().tensor_maps || !plane.real || plane.direction != Direction::forward) return false;
  if (std::max(plane.rows, plane.columns) < kLeastSpecialized) return false;
  if (plane.in_row % 2 != 0 || plane.in_chunk.front() % 2 != 0 || plane.columns % 4 != 0) return false;
  for (std::size_t dimension = 1; dimension < plane.counts.size(); ++dimension) {
    if (plane.counts[dimension] > 1 &&
        plane.in_chunk[dimension] != plane.in_chunk[dimension - 1] * plane.counts[dimension - 1]) {
      return false;
    }
  }
  ring = passes_of(plane);
  ring.second.counts.front() = plane.rows / 2;
  for (PassDesign* pass : {&ring.first, &ring.second}) {
    if (!shape_tile(device, *pass, plane.float64 ? kProducerTileDouble : kProducerTile).empty()) return false;
  }
  ring.second.load.mapped = false;
  ring.warp_specialized = true;
  join_self_mirrored(device, plane, ring);
  return ring.second.self_mirrored();
}

}  // namespace

std::vector<Route> list_planes(const Device& device, const PlaneProblem& plane) {
  std::vector<Route> routes;
  std::string why = refusal(device, plane);
  const auto add = [&](const RingDesign& ring) {
    Route route;
    route.outer = plane.counts.back();
    route.steps.push_back({.design = ring_step(ring),
                           .from = Place::input,
                           .to = Place::output,
                           .lines = plane.planes() / plane.counts.back(),
                           .from_stride = plane.in_chunk.back(),
                           .to_stride = plane.out_chunk.back()});
    route.candidate = {.variant = "plane",
                       .parameters = ring_parameters(ring),
                       .cost = {.bytes = plane_bytes(plane),
                                .launches = 1,
                                .efficiency = expected(plane) * (1 - 0.02 * static_cast<double>(routes.size())),
                                .float64 = plane.float64}};
    const std::string name = route.candidate.name();
    const auto same = [&](const Route& other) { return other.candidate.name() == name; };
    if (std::none_of(routes.begin(), routes.end(), same)) routes.push_back(std::move(route));
  };
  const auto add_sizes = [&](RingDesign ring, std::initializer_list<RingSize> sizes) {
    for (const auto& [bytes, l2_partitions] : sizes) {
      ring.l2_partitions = l2_partitions;
      if (l2_partitions > 1 && plane.planes() < kLeastPartitioned) continue;
      if (sized(device, ring, plane.planes(), bytes)) {
        set_partition_local(ring, l2_partitions > 1 && plane.real && !ring.warp_specialized);
        add(ring);
      } else {
        why = fmt::format("needs three slots of {} x {} points in {:.0f} MB of L2", plane.rows, plane.columns,
                          bytes / 1e6);
      }
    }
  };
  RingDesign ring;
  if (why.empty() && warp_specialized(device, plane, ring)) add_sizes(ring, {{kGoodRing, 2}, {kGoodRing, 1}});
  for (const GroupShape& shape : refusal(device, plane).empty() ? shapes_of(plane) : std::vector<GroupShape>()) {
    ring = passes_of(plane);
    if (!shaped(device, ring.first, shape, why) || !shaped(device, ring.second, shape, why)) continue;
    join_self_mirrored(device, plane, ring);
    if (plane.real) {
      add_sizes(ring, {{kMostRing, 2}, {kSmallRing, 2}, {kSmallRing, 1}});
    } else {
      add_sizes(ring, {{kMostRing, 1}, {kMostRing, 2}});
    }
  }
  if (routes.empty()) routes.push_back(refused("plane", why));
  return routes;
}

}  // namespace ridge::fft::on_device
