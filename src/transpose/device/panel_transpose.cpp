// Uploads, transposes and downloads tiles of host arrays.
#include "transpose/device/panel_transpose.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <ridge/device_memory.hpp>
#include <ridge/error.hpp>

namespace ridge::transpose {
namespace {

constexpr std::size_t kMostTile = std::size_t{256} << 20;  // bytes: square tiles of floats have rows of 32 KiB
constexpr std::size_t kTileMultiple = 32;                  // sides of tiles, in elements

// The side of a square tile of at most `elements`.
std::size_t tile_side(std::size_t elements) {
  const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(elements)));
  return std::max<std::size_t>(1, side > kTileMultiple ? side - side % kTileMultiple : side);
}

std::size_t tiles_along(std::size_t length, std::size_t side) { return (length + side - 1) / side; }

}  // namespace

Problem panel_problem(const Device& device, const Layout& layout) {
  if (device.is_host() || device.info().recorded || !layout.unit_columns()) return {};
  const std::size_t memory = device_memory(device);
  const double all =
      static_cast<double>(layout.input_bytes()) + (layout.in_place ? 0 : static_cast<double>(layout.output_bytes()));
  if (all <= static_cast<double>(memory)) return {};
  const std::size_t panel = std::min(kMostTile, memory / (2 * PanelStream::kAtOnce)) / layout.element_bytes;
  const std::size_t matrix = layout.rows * layout.columns;
  if (panel < 2) {
    throw Error(ErrorKind::out_of_memory, fmt::format("transpose: {} bytes of {} hold no panel", memory, device.id()));
  }
  if (!layout.in_place && layout.batch > 1 && matrix <= panel / 2 && layout.input.row == layout.columns &&
      layout.output.row == layout.rows && layout.input.batch == matrix && layout.output.batch == matrix) {
    return {.rows = layout.rows, .columns = layout.columns, .batch = std::min(layout.batch, panel / matrix)};
  }
  if (layout.in_place) {
    const std::size_t side = std::min(tile_side(panel / 2), layout.rows);
    return {.rows = side, .columns = side, .batch = 2};
  }
  Problem problem{.rows = std::min(tile_side(panel), layout.rows)};
  problem.columns = std::min(panel / problem.rows, layout.columns);
  problem.rows = std::min(panel / problem.columns, layout.rows);
  return problem;
}

PanelTranspose::PanelTranspose(const Device& device, const Layout& layout, const Problem& panel,
                               std::shared_ptr<const Variant> tile)
    : device_(device), layout_(layout), panel_(panel), tile_(std::move(tile)), stream_(device, "transpose") {}

// A tile of the input, or of the output: tile (r, c) of the input is tile (c, r) there.
PanelRows PanelTranspose::rows_of(std::byte* data, const Strides& strides, std::size_t matrix, const Tile& tile,
                                  bool output) const {
  std::size_t row = tile.row * panel_.rows, column = tile.column * panel_.columns;
  std::size_t rows = std::min(panel_.rows, layout_.rows - row);
  std::size_t columns = std::min(panel_.columns, layout_.columns - column);
  std::size_t at_pitch = panel_.columns;
  if (output) {
    std::swap(row, column);
    std::swap(rows, columns);
    at_pitch = panel_.rows;
  }
  const std::size_t element = layout_.element_bytes;
  return {.data = data + (matrix * strides.batch + row * strides.row + column) * element,
          .bytes = columns * element,
          .rows = rows,
          .pitch = strides.row * element,
          .at = 0,
          .at_pitch = at_pitch * element};
}

void PanelTranspose::stream(PanelWork& work) const {
  work.enqueue = [this](Queue& queue, std::size_t, const Buffer& in, const Buffer& out) {
    tile_->enqueue(queue, in, out);
  };
  const std::size_t bytes = panel_.rows * panel_.columns * panel_.batch * layout_.element_bytes;
  stream_.run(work, bytes, bytes);
}

void PanelTranspose::run_batch(std::byte* in, std::byte* out) const {
  const std::size_t matrix = layout_.rows * layout_.columns * layout_.element_bytes;
  const auto part = [&](std::byte* data, std::size_t panel) -> std::vector<PanelRows> {
    const std::size_t first = panel * panel_.batch;
    return {{.data = data + first * matrix, .bytes = std::min(panel_.batch, layout_.batch - first) * matrix}};
  };
  PanelWork work{.panels = tiles_along(layout_.batch, panel_.batch)};
  work.read = [&](std::size_t panel) { return part(in, panel); };
  work.written = [&](std::size_t panel) { return part(out, panel); };
  stream(work);
}

void PanelTranspose::run_tiles(std::byte* in, std::byte* out) const {
  const std::size_t down = tiles_along(layout_.rows, panel_.rows),
                    across = tiles_along(layout_.columns, panel_.columns);
  PanelWork work{.panels = down * across * layout_.batch};
  const auto rows = [&](std::byte* data, const Strides& strides, std::size_t panel, bool output) {
    const std::size_t tile = panel % (down * across);
    return std::vector<PanelRows>{
        rows_of(data, strides, panel / (down * across), {tile / across, tile % across}, output)};
  };
  work.read = [&](std::size_t panel) { return rows(in, layout_.input, panel, false); };
  work.written = [&](std::size_t panel) { return rows(out, layout_.output, panel, true); };
  stream(work);
}

// Exchanges tiles (r, c) and (c, r).
void PanelTranspose::run_in_place(std::byte* data) const {
  const std::size_t side = tiles_along(layout_.rows, panel_.rows);
  std::vector<Tile> pairs;
  for (std::size_t r = 0; r < side; ++r) {
    for (std::size_t c = r; c < side; ++c) pairs.push_back({r, c});
  }
  PanelWork work{.panels = pairs.size() * layout_.batch};
  const std::size_t second = panel_.rows * panel_.columns * layout_.element_bytes;
  const auto rows = [&](std::size_t panel, bool output) {
    const Tile tile = pairs[panel % pairs.size()];
    const std::size_t matrix = panel / pairs.size();
    std::vector<PanelRows> both{rows_of(data, layout_.input, matrix, tile, output)};
    if (tile.row == tile.column) return both;
    both.push_back(rows_of(data, layout_.input, matrix, {tile.column, tile.row}, output));
    both.back().at = second;
    return both;
  };
  work.read = [&](std::size_t panel) { return rows(panel, false); };
  work.written = [&](std::size_t panel) { return rows(panel, true); };
  stream(work);
}

void PanelTranspose::run(const std::byte* in, std::byte* out) const {
  auto* const from = const_cast<std::byte*>(in);
  if (layout_.in_place) return run_in_place(out);
  panel_.batch > 1 ? run_batch(from, out) : run_tiles(from, out);
}

void PanelTranspose::enqueue(Queue& /*queue*/, const Buffer& /*in*/, const Buffer& /*out*/) const {
  throw Error(
      ErrorKind::unavailable,
      fmt::format("transpose: these arrays exceed the memory of {} that may be used: pass host arrays", device_.id()));
}

}  // namespace ridge::transpose
