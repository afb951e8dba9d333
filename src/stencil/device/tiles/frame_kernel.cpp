// Kernel that updates the cells near the sides of a grid.
#include "stencil/device/tiles/frame_kernel.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "device/kernel_template.hpp"
#include "device/kernel_text.hpp"
#include "stencil/device/cells/gather.hpp"

namespace ridge::stencil {
namespace {

constexpr std::size_t kFrameItems = 256;

}  // namespace

// A band at either side, or all cells if the bands would overlap.
std::array<std::size_t, 3> FrameKernel::bands(std::size_t step, std::size_t depth) const {
  std::array<std::size_t, 3> wide{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t cells =
        std::max(least[axis], (2 * depth - 1 - step) * static_cast<std::size_t>(text.layout.radius[axis]));
    wide[axis] = 2 * cells >= text.layout.shape[axis] && cells > 0 ? text.layout.shape[axis] : cells;
  }
  return wide;
}

std::size_t FrameKernel::cells(const std::array<std::size_t, 3>& wide) const {
  std::array<std::size_t, 3> left = text.layout.shape;
  std::size_t sum = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t section = left[0] * left[1] * left[2] / left[axis];
    if (wide[axis] == text.layout.shape[axis]) return sum + section * left[axis];
    sum += 2 * wide[axis] * section;
    left[axis] -= 2 * wide[axis];
  }
  return sum;
}

std::string FrameKernel::refusal() const {
  if (text.layout.cells() > (std::size_t{1} << 31))
    return fmt::format("needs at most 2^31 cells (32-bit indices near borders), got {}", text.layout.cells());
  return {};
}

KernelSource FrameKernel::source() const {
  const Layout& layout = text.layout;
  const std::string arguments =
      fmt::format("{}width, height, planes, pitch, origin, field", layout.coefficients > 0 ? "coefficients, " : "");
  codegen::Text code;
  code.raw("#define READ(p) (*(p))\n");
  code.raw(text.source_functions());
  code.raw(update_cell_text(text, "READ"));
  // Cells of the frame: bands along z over whole planes, then along y over the rest, then along x.
  code.raw("\n" + ridge::detail::fill_kernel_text("stencil/frame_kernels",
                                                  {{"coefficients", coefficient_parameter(layout)},
                                                   {"sizes", kSizeParameters},
                                                   {"arguments", arguments},
                                                   {"cell", ridge::detail::kernel_text("stencil/frame_cell")}}));
  return {.name = "stencil frame",
          .text = code.str(),
          .defines = {{"CELL", text.cell},
                      {"FIELDS", std::to_string(layout.fields)},
                      {"FIRST_X", std::to_string(layout.begin[2])},
                      {"FIRST_Y", std::to_string(layout.begin[1])},
                      {"FIRST_Z", std::to_string(layout.begin[0])}}};
}

Launch FrameKernel::launch(std::size_t step, std::size_t depth) const {
  return {.groups = {std::max<std::size_t>(1, (cells(bands(step, depth)) + kFrameItems - 1) / kFrameItems)},
          .items = {kFrameItems}};
}

std::vector<Argument> FrameKernel::copy_scalars(std::size_t from, std::size_t to) const {
  std::vector<Argument> list = scalars(0, 1);
  list.back() = static_cast<std::int32_t>(from);
  list.emplace_back(static_cast<std::int32_t>(to));
  return list;
}

std::vector<Argument> FrameKernel::scalars(std::size_t step, std::size_t depth) const {
  const auto count = [](std::size_t value) { return Argument(static_cast<std::int32_t>(value)); };
  const auto offset = [](std::size_t value) { return Argument(static_cast<std::uint64_t>(value)); };
  const Layout& layout = text.layout;
  const auto wide = bands(step, depth);
  return {count(place.width()),  count(place.height()),
          count(place.planes()), offset(place.pitch),
          offset(place.origin),  offset(place.field),
          count(layout.end[2]),  count(layout.end[1]),
          count(layout.end[0]),  Argument(static_cast<std::uint32_t>(cells(wide))),
          count(wide[0]),        count(wide[1]),
          count(wide[2]),        count(step + 1 < depth ? 1 : 0)};
}

}  // namespace ridge::stencil
