// Sizes and refusals of system_planes kernels.
#include "stencil/device/system_planes/system_planes_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "stencil/device/cells/cell_codegen.hpp"

namespace ridge::stencil {
namespace {

// Eight work-items at a time read 16 bytes each; the next row of items continues in the following banks.
int ring_width(const SystemPlanesKernel& kernel) {
  const int least = kernel.tile_x() + 2 * kernel.halo_x();
  const int banks = kernel.real == "float" ? 32 : 16;
  if (!kernel.options.tiles || kernel.tile_x() % banks == 0) return least;
  for (int more = 0; more <= banks / 4; more += kernel.cells()) {
    if ((kernel.options.rows * (least + more) - kernel.tile_x()) % banks == 0) return least + more;
  }
  return least;
}
constexpr int kTileCells = 32;    // tiles are aligned to 128 or 256 bytes
constexpr int kWidestTile = 256;  // cells along each axis per copy
int ring_height(const SystemPlanesKernel& kernel) { return kernel.tile_y() + 2 * kernel.sums.radius[1]; }

}  // namespace

int SystemPlanesKernel::halo_x() const { return pieces(sums.radius[2], cells()) * cells(); }

int SystemPlanesKernel::margin_x() const { return pieces((options.depth - 1) * sums.radius[2], cells()) * cells(); }

// Planes from the newest to the oldest in use: the middle one of this step (source of cells that do not change), or the
// next step's older level; plus the planes being filled.
int SystemPlanesKernel::slots(int stage) const {
  int age = sums.centre || (keeps && stage + 1 < options.depth) ? sums.radius[0] : 0;
  if (stage + 1 < options.depth && sums.outputs.size() > sums.neighbour_fields.size())
    age = begins_with_older() ? std::max(age, 1) : 2 * sums.radius[0] + 1;
  return age + 1 + (stage == 0 ? options.ahead : 1);
}

int SystemPlanesKernel::plane_cells() const {
  const int cells = ring_width(*this) * ring_height(*this);
  return options.tiles ? pieces(cells, kTileCells) * kTileCells : cells;
}

bool SystemPlanesKernel::begins_with_older() const {
  using From = PlaneSums::From;
  if (options.depth == 1 || sums.neighbour_fields.size() != 1 || sums.sums.size() != 1 || sums.operations.size() != 1)
    return false;
  const auto& [kind, operands] = sums.operations.front();
  const PlaneSums::Operand& output = sums.outputs[sums.neighbour_fields.front()];
  const bool corners = std::any_of(sums.sums[0].begin(), sums.sums[0].end(), [](const PlaneSums::Term& term) {
    return (term.offset[0] != 0) + (term.offset[1] != 0) + (term.offset[2] != 0) > 1;
  });
  return !corners && kind == Node::Kind::fma && operands[0].from == From::constant && operands[1].from == From::field &&
         operands[1].index != sums.neighbour_fields.front() && operands[2].from == From::sum &&
         output.from == From::operation;
}

ridge::detail::TileMapShape SystemPlanesKernel::tile_shape(const DeviceLayout& place, std::size_t field) const {
  const std::uint64_t bytes = real == "float" ? 4 : 8;
  return {.float64 = real != "float",
          .offset = (place.origin + field * place.field) * bytes,
          .columns = place.width(),
          .rows = place.height(),
          .row = place.pitch * bytes,
          .arrays = place.planes(),
          .array = place.plane() * bytes,
          .box_columns = static_cast<std::uint32_t>(ring_width(*this)),
          .box_rows = static_cast<std::uint32_t>(ring_height(*this))};
}

std::size_t SystemPlanesKernel::local_bytes() const {
  int all = 0;
  for (int stage = 0; stage < options.depth; ++stage) all += slots(stage);
  return static_cast<std::size_t>(all * plane_cells()) * sums.neighbour_fields.size() * (real == "float" ? 4 : 8) +
         (options.tiles ? static_cast<std::size_t>(slots(0)) * 8 : 0);
}

std::string SystemPlanesKernel::refusal(const Limits& limits) const {
  if (!sums.refusal.empty()) return sums.refusal;
  if (sums.sums.empty()) return "needs a stencil of radius 1 or more: this update reads no neighbour";
  if (options.depth > 1) {
    if (coefficients > 0)
      return fmt::format("a depth of {} steps needs an update without coefficients, got {}", options.depth,
                         coefficients);
    for (std::size_t f = 0; f < sums.outputs.size(); ++f) {
      const bool read_at_neighbours =
          std::find(sums.neighbour_fields.begin(), sums.neighbour_fields.end(), f) != sums.neighbour_fields.end();
      const bool kept_as_level = sums.outputs[f].from == PlaneSums::From::field &&
                                 std::find(sums.neighbour_fields.begin(), sums.neighbour_fields.end(),
                                           sums.outputs[f].index) != sums.neighbour_fields.end();
      if (!read_at_neighbours && !kept_as_level)
        return fmt::format(
            "a depth of {} steps needs every field read at neighbours or kept as the previous level; field {} is "
            "neither",
            options.depth, f);
    }
    if (useful_x() <= 0 || useful_y() <= 0)
      return fmt::format("the halo of {} steps covers the whole tile of {} x {} cells", options.depth, tile_y(),
                         tile_x());
    if (options.narrow && useful_y() % options.rows != 0)
      return fmt::format("needs a multiple of {1} written rows ({1} per work-item), got {0}", useful_y(), options.rows);
  }
  if (options.tiles) {
    if (!limits.tensor_maps) return "needs tensor maps (TMA), which CUDA has from Hopper on";
    if (sums.neighbour_fields.size() != 1)
      return fmt::format("TMA tiles need one field that is read at neighbours, got {}", sums.neighbour_fields.size());
    if (ring_width(*this) > kWidestTile || ring_height(*this) > kWidestTile)
      return fmt::format("a tile of {} x {} cells exceeds the TMA limit of {} per side", ring_height(*this),
                         ring_width(*this), kWidestTile);
  }
  const auto queues =
      sums.sums.size() * static_cast<std::size_t>(2 * options.depth * sums.radius[0] * options.rows) * 4;
  if (queues > 140) return fmt::format("needs at most 140 sums in a work-item's registers, got {}", queues);
  // Addresses, the newest plane and temporaries take 20 and more registers, twice that for several steps; registers are
  // allocated for 128 work-items at a time.
  const auto items = static_cast<std::size_t>(pieces(options.lanes * options.lines, 128)) * 128;
  const std::size_t numbers = queues * (real == "float" ? 1 : 2);
  if (limits.registers > 0 && numbers + (options.depth > 1 ? 40 : 20) > limits.registers / items)
    return fmt::format("{} registers of sums per work-item would be spilled: {} registers for {} work-items", numbers,
                       limits.registers, items);
  if (local_bytes() > limits.local_memory)
    return fmt::format("needs {} bytes of local memory, the device has {}", local_bytes(), limits.local_memory);
  if (static_cast<std::size_t>(options.lanes * options.lines) > limits.work_group)
    return fmt::format("needs work-groups of {}, the device allows {}", options.lanes * options.lines,
                       limits.work_group);
  return {};
}

KernelSource SystemPlanesKernel::source() const {
  const auto word = [](auto number) { return std::to_string(number); };
  const int all = ring_width(*this) / cells() * ring_height(*this);
  int all_slots = 0;
  for (int stage = 0; stage < options.depth; ++stage) all_slots += slots(stage);
  return {.name = "stencil system planes",
          .text = system_planes_text(*this),
          .defines = {{"REAL", real},
                      {"LANES", word(options.lanes)},
                      {"LINES", word(options.lines)},
                      {"ROWS", word(options.rows)},
                      {"CELLS", word(cells())},
                      {"RESIDENT", word(options.resident)},
                      {"AHEAD", word(options.ahead)},
                      {"DEPTH", word(options.depth)},
                      {"ALL_SLOTS", word(all_slots)},
                      {"NEIGHBOUR_FIELDS", word(sums.neighbour_fields.size())},
                      {"TILE_X", word(tile_x())},
                      {"TILE_Y", word(tile_y())},
                      {"MARGIN_X", word(margin_x())},
                      {"MARGIN_Y", word(margin_y())},
                      {"USEFUL_X", word(useful_x())},
                      {"USEFUL_Y", word(useful_y())},
                      {"HALO_X", word(halo_x())},
                      {"LAST_LANES", word(useful_x() / cells())},
                      {"LAST_LINES", word(useful_y() / options.rows)},
                      {"WIDTH", word(ring_width(*this))},
                      {"PLANE", word(plane_cells())},
                      {"TILE_BYTES", word(ring_width(*this) * ring_height(*this) * (real == "float" ? 4 : 8))},
                      {"FETCHED", word(slots(0))},
                      {"ALL_PIECES", word(all)},
                      {"PIECES", word(pieces(all, options.lanes * options.lines))},
                      {"RADIUS_Y", word(sums.radius[1])},
                      {"RADIUS_Z", word(sums.radius[0])}}};
}

SystemPlanesPlan plan_planes(const SystemPlanesKernel& kernel, const DeviceLayout& place,
                             const std::array<int, 3>& begin, const std::array<int, 3>& end,
                             std::size_t resident_groups) {
  // Vectors are aligned; if nothing is lost at the sides and no further tile is needed, to whole cache lines.
  constexpr int kLineCells = 32;
  const int margin = kernel.margin_x();
  const auto tiles_from = [&](int first) { return pieces(end[2] - first - margin, kernel.useful_x()); };
  int first_x = begin[2] / kernel.cells() * kernel.cells() - margin;
  const int origin = static_cast<int>(place.origin % kLineCells);
  const int line = (begin[2] + origin) / kLineCells * kLineCells - origin;
  if (margin == 0 && tiles_from(line) == tiles_from(first_x)) first_x = line;
  const int tiles_x = tiles_from(first_x);
  const int tiles_y = pieces(end[1] - begin[1], kernel.useful_y());
  const int tiles = tiles_x * tiles_y, count = end[0] - begin[0];
  int chunk = kernel.options.march;
  if (chunk == 0) {
    // Whole waves of groups, as few as keep the share of planes that two pieces read small.
    double best = 1e300;
    chunk = count;
    const int ends = 2 * kernel.options.depth * kernel.sums.radius[0] + kernel.options.depth - 1;
    for (int chunks = 1; chunks <= std::max(1, count / (2 * ends + 8)); ++chunks) {
      const int length = pieces(count, chunks);
      const double waves =
          std::ceil(static_cast<double>(tiles * pieces(count, length)) / static_cast<double>(resident_groups));
      const double cost = waves * (length + ends + 4.0);
      if (cost < best * 0.999) {
        best = cost;
        chunk = length;
      }
    }
  }
  SystemPlanesPlan plan;
  plan.launch = {.groups = {static_cast<std::size_t>(tiles), static_cast<std::size_t>(pieces(count, chunk))},
                 .items = {static_cast<std::size_t>(kernel.options.lanes * kernel.options.lines)},
                 .local_bytes = kernel.local_bytes()};
  const auto word = [](int value) { return Argument(static_cast<std::int32_t>(value)); };
  plan.scalars = {Argument(static_cast<std::uint64_t>(place.origin)),
                  Argument(static_cast<std::uint64_t>(place.field)),
                  word(static_cast<int>(place.planes())),
                  word(static_cast<int>(place.height())),
                  word(static_cast<int>(place.pitch)),
                  word(begin[2]),
                  word(end[2]),
                  word(begin[1]),
                  word(end[1]),
                  word(begin[0]),
                  word(end[0]),
                  word(first_x),
                  word(tiles_x),
                  word(chunk)};
  return plan;
}

}  // namespace ridge::stencil
