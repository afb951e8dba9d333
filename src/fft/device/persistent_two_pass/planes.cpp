// Rows and columns of a plane in one launch: both passes of a ring, with whole planes between them.
#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "fft/device/persistent_two_pass/persistent_two_pass.hpp"

namespace ridge::fft::on_device {
namespace {

std::string refusal(const Device& device, const PlaneProblem& plane) {
  if (device.info().backend != Backend::cuda) return "needs groups that wait for each other, which CUDA allows";
  if (plane.in_point != 1 || plane.out_point != 1) return "takes rows whose points are neighbours";
  if (plane.in_row < plane.columns || plane.out_row < plane.columns) return "takes rows that lie apart";
  if (!std::has_single_bit(plane.rows) || !std::has_single_bit(plane.columns)) return "takes powers of two";
  return {};
}

// The rows into the slot, the columns out of it.
PersistentDesign passes_of(const PlaneProblem& plane) {
  PassDesign common;
  common.float64 = plane.float64;
  common.direction = plane.direction;
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
         (plane.float64 ? 32 : 16);
}

std::vector<Route> list_planes(const Device& device, const PlaneProblem& plane) {
  std::vector<Route> routes;
  std::string why = refusal(device, plane);
  for (const GroupShape& shape : kGroupShapes) {
    if (!refusal(device, plane).empty()) break;
    if (shape.long_only && std::max(plane.rows, plane.columns) < 1024) continue;
    PersistentDesign ring = passes_of(plane);
    if (!shaped(device, ring.first, shape, why) || !shaped(device, ring.second, shape, why)) continue;
    if (!sized(device, ring, plane.planes(), kMostRing)) {
      why = "the ring would not fit into the shared cache";
      continue;
    }
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
                                .efficiency = 0.6 * (1 - 0.02 * static_cast<double>(routes.size())),
                                .float64 = plane.float64}};
    const std::string name = route.candidate.name();
    const auto same = [&](const Route& other) { return other.candidate.name() == name; };
    if (std::none_of(routes.begin(), routes.end(), same)) routes.push_back(std::move(route));
  }
  if (routes.empty()) routes.push_back(refused("plane", why));
  return routes;
}

}  // namespace ridge::fft::on_device
