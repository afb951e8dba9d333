// Sizes and refusals of plane_march kernels.
#include "stencil/device/plane_march/plane_march_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <queue>

#include <fmt/format.h>

#include "base/text.hpp"
#include "stencil/device/cells/cell_codegen.hpp"

namespace ridge::stencil {
namespace {

std::size_t edge_reals(const PlaneMarchOptions& options) {
  return static_cast<std::size_t>(2 * options.depth * 2 * options.lines * options.lanes * options.cells);
}

}  // namespace

int PlaneMarchKernel::halo_x() const { return pieces(options.depth, options.cells) * options.cells; }
int PlaneMarchKernel::halo_y() const { return pieces(options.depth, options.rows) * options.rows; }
int PlaneMarchKernel::columns(const DeviceLayout& place) const {
  return std::max(2, pieces(static_cast<int>(place.width()), useful_x()));
}
int PlaneMarchKernel::tile_rows(const DeviceLayout& place) const {
  return std::max(2, pieces(static_cast<int>(place.height()), useful_y()));
}

bool PlaneMarchKernel::unit_centre() const {
  double centre = 0, sum = 0;
  for (const Weight& weight : weights.list) {
    if (weight.offset == Offset{0, 0, 0}) centre = weight.value;
    sum += std::abs(weight.value);
  }
  if (centre == 0) return false;
  const double growth = std::abs(std::log10(sum / std::abs(centre))) + std::abs(std::log10(std::abs(centre)));
  return growth * options.depth < (real == "float" ? 19 : 150);
}

double PlaneMarchKernel::divisor() const {
  if (!unit_centre()) return 1;
  return std::find_if(weights.list.begin(), weights.list.end(),
                      [](const Weight& weight) {
                        return weight.offset == Offset{0, 0, 0};
                      })
      ->value;
}

bool PlaneMarchKernel::even() const {
  if (!options.even || !unit_centre() || weights.list.size() != 7) return false;
  double first = 0;
  for (const Weight& weight : weights.list) {
    if (weight.offset == Offset{0, 0, 0}) continue;
    if (first == 0) first = weight.value;
    if (weight.value != first) return false;
  }
  return true;
}

std::size_t PlaneMarchKernel::likely_registers() const {
  const int values = (2 * options.depth + 1) * options.rows * options.cells;
  return static_cast<std::size_t>(std::min(255, values * (real == "float" ? 1 : 2) + 64));
}

std::size_t PlaneMarchKernel::local_reals() const {
  const auto items = static_cast<std::size_t>(options.lines * options.lanes * options.rows);
  return edge_reals(options) + static_cast<std::size_t>(options.prefetch * options.cells) * items +
         (options.shuffles ? 0 : 2 * items);
}

std::string PlaneMarchKernel::refusal(const DeviceLayout& place, const Limits& limits) const {
  if (!weights.star() || weights.radius != Offset{1, 1, 1})
    return fmt::format("needs a 3D star stencil of radius 1, got radius {} x {} x {}{}", weights.radius[0],
                       weights.radius[1], weights.radius[2], weights.star() ? "" : " and another shape");
  if (useful_x() < options.depth + 2 * options.cells || useful_y() < options.depth + options.rows)
    return fmt::format("a depth of {} steps leaves {} x {} cells of a tile, too few", options.depth, useful_y(),
                       useful_x());
  const auto items = static_cast<std::size_t>(options.lanes * options.lines);
  if (items > limits.work_group)
    return fmt::format("needs work-groups of {}, the device allows {}", items, limits.work_group);
  if (local_bytes() > limits.local_memory) {
    return fmt::format("needs {} of local memory, the device has {}",
                       base::human_bytes(static_cast<double>(local_bytes())),
                       base::human_bytes(static_cast<double>(limits.local_memory)));
  }
  const auto width = static_cast<int>(place.width()), height = static_cast<int>(place.height()),
             planes = static_cast<int>(place.planes());
  if (width < 2 * (halo_x() + 2 * options.cells) || height < 2 * (halo_y() + options.rows) ||
      planes < std::max(4, options.depth)) {
    return fmt::format("{} x {} x {} cells are too few for tiles of depth {}", planes, height, width, options.depth);
  }
  if (place.sides[0] > 65535 || place.plane() > (1u << 30))
    return fmt::format("needs at most 65535 planes of 2^30 cells, got {} of {}", place.sides[0], place.plane());
  return {};
}

KernelSource PlaneMarchKernel::source() const {
  const auto word = [](auto value) { return std::to_string(value); };
  return {.name = "stencil planes",
          .text = fmt::format("// {} steps of a 3D star; patches of {} x {} cells per lane, tiles of {} x {}\n",
                              options.depth, options.rows, options.cells, options.lines * options.rows,
                              options.lanes * options.cells) +
                  plane_march_text(*this),
          .defines = {{"REAL", real},
                      {"DEPTH", word(options.depth)},
                      {"CELLS", word(options.cells)},
                      {"ROWS", word(options.rows)},
                      {"LINES", word(options.lines)},
                      {"LANES", word(options.lanes)},
                      {"PREFETCH", word(options.prefetch)},
                      {"SIDE_COLUMNS", side_columns() ? "1" : "0"},
                      {"SIDE_ROWS", side_rows() ? "1" : "0"},
                      {"HALO_X", word(halo_x())},
                      {"HALO_Y", word(halo_y())},
                      {"USEFUL_X", word(useful_x())},
                      {"USEFUL_Y", word(useful_y())},
                      {"EDGE_REALS", word(edge_reals(options))},
                      {"LOCAL_REALS", word(local_reals())},
                      {"MARCH_PLANES", options.march_planes > 0 ? word(options.march_planes + 2 * options.depth)
                                                                : "(end_plane - first_plane + 2 * DEPTH)"}}};
}

std::size_t PlaneMarchKernel::side_groups(const DeviceLayout& place) const {
  const int rows = side_rows() ? 2 : 0;
  const int tiles = rows * columns(place) + (side_columns() ? 2 : 0) * (tile_rows(place) - rows);
  return static_cast<std::size_t>(tiles * pieces(static_cast<int>(place.planes()), side_planes));
}

std::size_t PlaneMarchKernel::inner_groups(const DeviceLayout& place) const {
  const int tiles = (columns(place) - (side_columns() ? 2 : 0)) * (tile_rows(place) - (side_rows() ? 2 : 0));
  return static_cast<std::size_t>(tiles * pieces(static_cast<int>(place.planes()), chunk_planes));
}

Launch PlaneMarchKernel::launch(const DeviceLayout& place) const {
  return {.groups = {side_groups(place) + inner_groups(place)},
          .items = {static_cast<std::uint64_t>(options.lanes * options.lines)},
          .local_bytes = local_bytes()};
}

std::vector<Argument> PlaneMarchKernel::scalars(const DeviceLayout& place) const {
  const auto count = [](auto value) { return Argument(static_cast<std::int32_t>(value)); };
  const auto number = [&](double value) {
    return real == "float" ? Argument(static_cast<float>(value)) : Argument(value);
  };
  std::vector<Argument> list{Argument(static_cast<std::uint64_t>(place.origin)),
                             count(place.width()),
                             count(place.height()),
                             count(place.planes()),
                             count(place.pitch),
                             count(columns(place)),
                             count(tile_rows(place)),
                             count(chunk_planes),
                             count(side_groups(place)),
                             count(side_planes),
                             number(1 / divisor()),
                             number(std::pow(divisor(), options.depth))};
  for (const Weight& weight : weights.list) {
    if (!(unit_centre() && weight.offset == Offset{0, 0, 0})) list.push_back(number(weight.value / divisor()));
  }
  return list;
}

namespace {

// Completion time of two kinds of work-groups: the first kind starts first, and a free slot takes the next group.
double finished(std::size_t slots, std::size_t first, double first_time, std::size_t second, double second_time) {
  std::priority_queue<double, std::vector<double>, std::greater<>> free(std::greater<>{},
                                                                        std::vector<double>(slots, 0.0));
  double last = 0;
  for (std::size_t i = 0; i < first + second; ++i) {
    const double end = free.top() + (i < first ? first_time : second_time);
    free.pop();
    free.push(end);
    last = std::max(last, end);
  }
  return last;
}

}  // namespace

void PlaneMarchKernel::fill_device(const DeviceLayout& place, std::size_t resident) {
  const int planes = static_cast<int>(place.planes());
  // Many waves keep the device busy whatever the chunks.
  const std::size_t most_groups = 24 * resident;
  PlaneMarchKernel best = *this;
  double least = 0;
  const auto shortest = [&](int chunks) { return chunks > 1 && pieces(planes, chunks) < 6 * options.depth; };
  for (int chunks = 1; !shortest(chunks); ++chunks) {
    chunk_planes = pieces(planes, chunks);
    for (int more = chunks; !shortest(more) && more <= (side_columns() || side_rows() ? 2 * chunks : chunks); ++more) {
      side_planes = pieces(planes, more);
      const std::size_t sides = side_groups(place), inner = inner_groups(place);
      if (least > 0 && sides + inner > most_groups) continue;
      const double time =
          finished(std::min(resident, sides + inner), sides, options.slow * (side_planes + 2 * options.depth), inner,
                   chunk_planes + 2 * options.depth);
      if (least == 0 || time < least) {
        least = time;
        best = *this;
      }
    }
  }
  *this = best;
}

}  // namespace ridge::stencil
