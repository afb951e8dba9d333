// Rows and columns of a plane in one launch: both passes of a ring, with whole planes between them.
#include <algorithm>
#include <bit>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "fft/device/persistent_two_pass/persistent_two_pass.hpp"
#include "fft/device/two_pass_tma.hpp"

namespace ridge::fft::on_device {
namespace {

// Real planes of 512 x 512 without halves: 498 us in place of 523 on an H200; by halves 490 and 498, in near blocks 469
// and 466.
constexpr double kSmallRing = 17e6;
// Real planes of 1024 x 1024 466 us in place of 512, of 512 x 512 488 for 466, of 256 x 256 609 for 389.
constexpr std::size_t kLeastConducted = 1024;

// Of a copy's speed, as measured there.
double expected(const PlaneProblem& plane) { return plane.real ? 0.5 : 0.6; }

std::string refusal(const Device& device, const PlaneProblem& plane) {
  if (device.info().backend != Backend::cuda) return "needs groups that wait for each other, which CUDA allows";
  if (plane.in_point != 1 || plane.out_point != 1) return "takes rows whose points are neighbours";
  const std::size_t row = plane.real ? plane.columns / 2 : plane.columns;
  if (plane.in_row < row || plane.out_row < row) return "takes rows that lie apart";
  if (plane.real && (plane.rows < 4 || plane.columns < 16)) return "takes real planes of some rows and columns";
  if (!std::has_single_bit(plane.rows) || !std::has_single_bit(plane.columns)) return "takes powers of two";
  return {};
}

PassDesign pass_of_plane(const PlaneProblem& plane) {
  PassDesign pass;
  pass.float64 = plane.float64;
  pass.direction = plane.direction;
  return pass;
}

// Columns of pairs of reals, then rows with their mirrors; back the other way round.
PersistentDesign real_passes_of(const PlaneProblem& plane) {
  const bool forward = plane.direction == Direction::forward;
  const std::uint64_t pairs = plane.columns / 2;
  PassDesign columns = pass_of_plane(plane), rows = columns;
  columns.length = columns.points = plane.rows;
  columns.counts = {pairs};
  columns.load.at = {.point = forward ? plane.in_row : pairs, .line = {1}};
  columns.store.at = {.point = forward ? pairs : plane.out_row, .line = {1}};
  columns.load_order = columns.store_order = Order::lines;
  rows.length = rows.points = plane.columns;
  rows.folded = plane.rows;
  rows.counts = {plane.rows / 2 + 1};
  rows.load.at = {.point = 1, .line = {forward ? pairs : plane.in_row}};
  rows.store.at = {.point = 1, .line = {forward ? plane.out_row : pairs}};
  PersistentDesign ring{.first = forward ? columns : rows,
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

// The rows into the slot, the columns out of it.
PersistentDesign passes_of(const PlaneProblem& plane) {
  if (plane.real) return real_passes_of(plane);
  const PassDesign common = pass_of_plane(plane);
  PersistentDesign ring{.first = common,
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

// One line fewer than rows that are not other rows' mirrors: it would be a tile of its own.
void join_own_mirrors(const Device& device, const PlaneProblem& plane, PersistentDesign& ring) {
  for (PassDesign* pass : {&ring.first, &ring.second}) {
    pass->fold_lanes = fold_lanes_serve(*pass, device.limits().sub_group);
    if (!pass->fold_lanes || plane.rows / 2 % pass->lines != 0) continue;
    pass->own_mirrors = true;
    ring.second_lines = pass->counts.front() = plane.rows / 2;
  }
}

struct RingSize {
  double bytes;
  std::size_t halves;
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

// Real planes one after the other, forward: tiles of columns by a map, rows and mirrors by copies of their own.
bool conducted(const Device& device, const PlaneProblem& plane, PersistentDesign& ring) {
  if (!device.limits().tensor_maps || !plane.real || plane.direction != Direction::forward) return false;
  if (std::max(plane.rows, plane.columns) < kLeastConducted) return false;
  if (plane.in_row % 2 != 0 || plane.in_chunk.front() % 2 != 0 || plane.columns % 4 != 0) return false;
  for (std::size_t digit = 1; digit < plane.counts.size(); ++digit) {
    if (plane.counts[digit] > 1 && plane.in_chunk[digit] != plane.in_chunk[digit - 1] * plane.counts[digit - 1]) {
      return false;
    }
  }
  ring = passes_of(plane);
  ring.second.counts.front() = plane.rows / 2;
  for (PassDesign* pass : {&ring.first, &ring.second}) {
    if (!shape_tile(device, *pass, plane.float64 ? kConductedDoubles : kConductedTile).empty()) return false;
  }
  ring.second.load.mapped = false;
  ring.conducted = true;
  join_own_mirrors(device, plane, ring);
  return ring.second.own_mirrors;
}

}  // namespace

std::vector<Route> list_planes(const Device& device, const PlaneProblem& plane) {
  std::vector<Route> routes;
  std::string why = refusal(device, plane);
  const auto add = [&](const PersistentDesign& ring) {
    Route route;
    route.outer = plane.counts.back();
    route.steps.push_back({.design = persistent_step(ring),
                           .from = Place::input,
                           .to = Place::output,
                           .lines = plane.planes() / plane.counts.back(),
                           .from_stride = plane.in_chunk.back(),
                           .to_stride = plane.out_chunk.back()});
    route.candidate = {.variant = "plane",
                       .parameters = persistent_parameters(ring),
                       .cost = {.bytes = plane_bytes(plane),
                                .launches = 1,
                                .efficiency = expected(plane) * (1 - 0.02 * static_cast<double>(routes.size())),
                                .float64 = plane.float64}};
    const std::string name = route.candidate.name();
    const auto same = [&](const Route& other) { return other.candidate.name() == name; };
    if (std::none_of(routes.begin(), routes.end(), same)) routes.push_back(std::move(route));
  };
  const auto add_sizes = [&](PersistentDesign ring, std::initializer_list<RingSize> sizes) {
    for (const auto& [bytes, halves] : sizes) {
      ring.halves = halves;
      if (halves > 1 && plane.planes() < kLeastShared) continue;
      if (sized(device, ring, plane.planes(), bytes)) {
        set_near(ring, halves > 1 && plane.real && !ring.conducted);
        add(ring);
      } else {
        why = "the ring would not fit into the shared cache";
      }
    }
  };
  PersistentDesign ring;
  if (why.empty() && conducted(device, plane, ring)) add_sizes(ring, {{kGoodRing, 2}, {kGoodRing, 1}});
  for (const GroupShape& shape : refusal(device, plane).empty() ? shapes_of(plane) : std::vector<GroupShape>()) {
    ring = passes_of(plane);
    if (!shaped(device, ring.first, shape, why) || !shaped(device, ring.second, shape, why)) continue;
    join_own_mirrors(device, plane, ring);
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
