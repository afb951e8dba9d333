// Sizes, launches and refusals of row_march kernels.
#include "stencil/device/row_march/row_march_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "stencil/device/cells/cell_codegen.hpp"

namespace ridge::stencil {
namespace {

Argument count(int value) { return Argument(static_cast<std::int32_t>(value)); }
Argument number(const RowMarchKernel& kernel, double value) {
  return kernel.real == "float" ? Argument(static_cast<float>(value)) : Argument(value);
}

void add_weights(const RowMarchKernel& kernel, std::vector<Argument>& list) {
  const Scaling scaling = kernel.scaling();
  for (std::size_t i = 0; i < kernel.weights.list.size(); ++i) {
    if (static_cast<int>(i) != scaling.unit) {
      list.push_back(number(kernel, kernel.weights.list[i].value / scaling.divisor));
    }
  }
}

std::vector<Argument> geometry(const DeviceLayout& layout) {
  return {Argument(static_cast<std::uint64_t>(layout.origin)), count(static_cast<int>(layout.width())),
          count(static_cast<int>(layout.height())), count(static_cast<int>(layout.pitch))};
}

}  // namespace

int RowMarchKernel::halo() const { return pieces(reach_x(), options.cells) * options.cells; }
int RowMarchKernel::useful() const { return options.lanes * options.cells - 2 * halo(); }
Scaling RowMarchKernel::scaling() const { return scaling_of(weights, options.depth, real == "float" ? 38 : 308); }

std::string RowMarchKernel::refusal() const {
  if (weights.radius[0] > 0) return fmt::format("needs a 2D stencil, got radius {} along z", weights.radius[0]);
  if (weights.radius[2] > options.cells) {
    return fmt::format("radius {} along the row exceeds the {} cells per lane", weights.radius[2], options.cells);
  }
  if (useful() < reach_x() + 2 * options.cells) {
    return fmt::format("a strip of {} cells is too narrow for a depth of {} steps", options.lanes * options.cells,
                       options.depth);
  }
  return {};
}

KernelSource RowMarchKernel::source() const {
  std::string text = fmt::format(
      "// {} steps of a linear stencil of {} points, radius {} down and {} along the row: the {}.\n"
      "// {} cells per lane, {} prefetched rows.\n",
      options.depth, weights.list.size(), weights.radius[1], weights.radius[2], frame ? "frame" : "interior",
      options.cells, options.prefetch);
  text += row_march_text(*this);
  return {.name = frame ? "stencil strips, frame" : "stencil strips, interior", .text = text, .defines = defines()};
}

std::vector<std::pair<std::string, std::string>> RowMarchKernel::defines() const {
  const auto word = [](int value) { return std::to_string(value); };
  return {{"REAL", real},
          {"DEPTH", word(options.depth)},
          {"CELLS", word(options.cells)},
          {"PREFETCH", word(options.prefetch)},
          {"LANES", word(options.lanes)},
          {"SUB_GROUPS", word(options.sub_groups)},
          {"RESIDENT", word(options.resident)},
          {"BETWEEN_LANES()", options.shuffles ? "SUB_GROUP_BARRIER()" : "BARRIER()"},
          {"RADIUS_X", word(weights.radius[2])},
          {"RADIUS_Y", word(weights.radius[1])},
          {"REACH_X", word(reach_x())},
          {"REACH_Y", word(reach_y())},
          {"HALO", word(halo())},
          {"USEFUL", word(useful())},
          {"MARCH_ROWS",
           options.march_rows > 0 ? word(options.march_rows + 2 * reach_y()) : "(end_row - first_row + 2 * REACH_Y)"}};
}

std::string RowMarchPass::refusal(const DeviceLayout& layout) const {
  for (const RowMarchKernel* kernel : {&interior, &frame}) {
    if (std::string reason = kernel->refusal(); !reason.empty()) return reason;
  }
  const auto width = static_cast<std::int64_t>(layout.width()), height = static_cast<std::int64_t>(layout.height());
  const int cells = 2 * (frame.halo() + 2 * frame.options.cells);
  if (width < cells) return fmt::format("rows of {} cells are shorter than the {} cells of two strips", width, cells);
  const int rows = std::max(4 * frame.weights.radius[1], frame.reach_y());
  if (height < rows) {
    return fmt::format("{} rows are fewer than the {} that a depth of {} steps needs", height, rows,
                       frame.options.depth);
  }
  if (std::max({width, height, static_cast<std::int64_t>(layout.pitch)}) > (1 << 30)) {
    return fmt::format("needs at most 2^30 rows and cells per row, got {} x {}", height, width);
  }
  return {};
}

int RowMarchPass::right(const DeviceLayout& layout) const {
  const int cells = interior.options.cells;
  return left() + (static_cast<int>(layout.width()) - interior.reach_x() - left()) / cells * cells;
}

bool RowMarchPass::has_interior(const DeviceLayout& layout) const {
  return right(layout) - left() >= interior.options.cells &&
         static_cast<int>(layout.height()) > 2 * interior.reach_y() + interior.options.prefetch;
}

int RowMarchPass::interior_strips(const DeviceLayout& layout) const {
  return pieces(right(layout) - left(), interior.useful());
}

Launch RowMarchPass::interior_launch(const DeviceLayout& layout) const {
  const int rows = static_cast<int>(layout.height()) - 2 * interior.reach_y();
  return {.groups = {static_cast<std::uint64_t>(pieces(interior_strips(layout), interior.options.sub_groups)),
                     static_cast<std::uint64_t>(pieces(rows, interior_rows))},
          .items = {static_cast<std::uint64_t>(interior.options.lanes * interior.options.sub_groups)}};
}

std::vector<Argument> RowMarchPass::interior_scalars(const DeviceLayout& layout) const {
  std::vector<Argument> list = geometry(layout);
  for (const int value : {right(layout), interior_strips(layout), interior_rows}) list.push_back(count(value));
  list.push_back(number(interior, std::pow(interior.scaling().divisor, interior.options.depth)));
  add_weights(interior, list);
  return list;
}

namespace {

// Division of the frame (the cells near the sides of the grid) among sub-groups: bands over the whole width at top and
// bottom, then the left and right sides between them.
struct FramePieces {
  int strips, bands, band_rows, band_stride, sides;
  int tasks() const { return strips * bands + sides; }
};

FramePieces frame_pieces(const RowMarchPass& pass, const DeviceLayout& layout) {
  const int height = static_cast<int>(layout.height());
  const int strips = std::max(2, pieces(static_cast<int>(layout.width()), pass.frame.useful()));
  if (!pass.has_interior(layout)) {
    return {.strips = strips,
            .bands = pieces(height, pass.frame_rows),
            .band_rows = pass.frame_rows,
            .band_stride = pass.frame_rows,
            .sides = 0};
  }
  const int rows = pass.frame.reach_y();
  return {.strips = strips,
          .bands = rows > 0 ? 2 : 0,
          .band_rows = rows,
          .band_stride = height - rows,
          .sides = 2 * pieces(height - 2 * rows, pass.frame_rows)};
}

}  // namespace

Launch RowMarchPass::frame_launch(const DeviceLayout& layout) const {
  const int tasks = frame_pieces(*this, layout).tasks();
  return {.groups = {static_cast<std::uint64_t>(pieces(tasks, frame.options.sub_groups))},
          .items = {static_cast<std::uint64_t>(frame.options.lanes * frame.options.sub_groups)}};
}

std::vector<Argument> RowMarchPass::frame_scalars(const DeviceLayout& layout) const {
  const FramePieces cut = frame_pieces(*this, layout);
  std::vector<Argument> list = geometry(layout);
  for (const int value :
       {left(), right(layout), cut.strips, cut.bands, cut.band_rows, cut.band_stride, frame_rows, cut.tasks()}) {
    list.push_back(count(value));
  }
  const double divisor = frame.scaling().divisor;
  list.push_back(number(frame, 1 / divisor));
  list.push_back(number(frame, std::pow(divisor, frame.options.depth)));
  add_weights(frame, list);
  if (restores_rows(frame)) {
    for (int step = 1; step < frame.options.depth; ++step) list.push_back(number(frame, std::pow(divisor, -step)));
  }
  return list;
}

KernelSource RowMarchPass::joined_source() const {
  std::string text;
  for (RowMarchKernel kernel : {frame, interior}) {
    kernel.part = true;
    for (const auto& [name, value] : kernel.defines())
      text += fmt::format("#undef {}\n#define {} {}\n", name.substr(0, name.find('(')), name, value);
    text += kernel.source().text;
  }
  return {.name = "stencil strips, joined", .text = text + joined_text(interior, frame)};
}

Launch RowMarchPass::joined_launch(const DeviceLayout& layout) const {
  const Launch inner = interior_launch(layout), outer = frame_launch(layout);
  return {.groups = {outer.groups[0] + inner.groups[0] * inner.groups[1]}, .items = inner.items};
}

std::vector<Argument> RowMarchPass::joined_scalars(const DeviceLayout& layout) const {
  std::vector<Argument> list = frame_scalars(layout);
  const Launch inner = interior_launch(layout), outer = frame_launch(layout);
  for (const int value :
       {static_cast<int>(outer.groups[0]), static_cast<int>(inner.groups[0]), interior_strips(layout), interior_rows}) {
    list.push_back(count(value));
  }
  return list;
}

void RowMarchPass::fill_waves(const DeviceLayout& layout, std::size_t resident, int waves) {
  const int rows = static_cast<int>(layout.height()) - 2 * interior.reach_y();
  if (rows <= 0 || !has_interior(layout)) return;
  const int columns = pieces(interior_strips(layout), interior.options.sub_groups);
  const int room = static_cast<int>(resident) * waves / columns;
  // Each piece also reads reach_y() rows above and below it, so short pieces would mostly read rows of their
  // neighbours.
  interior_rows = std::max(pieces(rows, std::max(1, room)), std::max(8, 4 * interior.reach_y()));
}

void RowMarchPass::fill_joined(const DeviceLayout& layout, std::size_t resident) {
  RowMarchPass best = *this;
  std::size_t least = 0;
  for (int rows = 8; rows <= 256; rows += 4) {
    interior_rows = frame_rows = rows;
    const std::size_t groups = joined_launch(layout).groups[0];
    const auto march = static_cast<std::size_t>(std::max(rows, interior.reach_y()) + 2 * interior.reach_y());
    const std::size_t time = march * ((groups + resident - 1) / resident);
    if (least == 0 || time < least) {
      least = time;
      best = *this;
    }
  }
  *this = best;
}

}  // namespace ridge::stencil
