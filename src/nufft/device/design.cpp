// Sizes of tiles, and the definitions in front of nonuniform.cl.
#include "nufft/device/design.hpp"

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "nufft/kernel.hpp"

namespace ridge::nufft {
namespace {

// Literal of the plan's type that converts back to the same number.
std::string literal(bool float64, double value) {
  return float64 ? fmt::format("{:#.17g}", value) : fmt::format("{:#.9g}f", value);
}

std::size_t tiles_of(std::size_t cells, std::size_t side) { return (cells + side - 1) / side; }

// Definitions of matrix.cl, whose tables are part of its text: constants are operands of instructions.
KernelSource with_matrix(KernelSource source, const DeviceDesign& design) {
  std::string table;
  for (const double value : Kernel(design.width, design.upsampling).polynomials()) {
    table += literal(design.float64, value) + ", ";
  }
  source.text += ridge::detail::kernel_text("codegen/pairs_and_doubles") + ridge::detail::kernel_text("nufft/matrix");
  source.defines.insert(source.defines.end(), {{"TILE", "16"},
                                               {"PRODUCTS", design.float64 ? "1" : std::to_string(design.products)},
                                               {"PAIRED", !design.float64 && design.cells[2] % 2 == 0 ? "1" : "0"},
                                               {"SPREAD_ITEMS", std::to_string(design.spread_items())},
                                               {"READ_ITEMS", std::to_string(design.read_items())},
                                               {"POLYNOMIALS", "{" + table + "}"}});
  return source;
}

}  // namespace

std::size_t DeviceDesign::tiles_across() const { return axes == 1 ? cells[2] : tiles_of(cells[2], step()); }
std::size_t DeviceDesign::tiles() const {
  return axes == 3 || bins() ? tiles_of(cells[1], step()) * tiles_across() : tiles_across();
}
std::size_t DeviceDesign::keys_per_tile() const { return axes == 1 || bins() ? 1 : cells[3 - axes]; }
std::size_t DeviceDesign::local_bytes() const {
  const std::size_t number = float64 ? 8 : 4;
  return batch() * (2 * number * (columns() + 1) + 2 * number * width + 8);
}

KernelSource nonuniform_source(const DeviceDesign& design) {
  constexpr long double kInverse = 0.159154943091895335768883763372514362L;  // 1 / (2 pi)
  const double high = design.float64 ? static_cast<double>(kInverse) : double{static_cast<float>(kInverse)};
  const auto low = static_cast<double>(kInverse - static_cast<long double>(high));
  const auto text = [](std::size_t value) { return std::to_string(value); };
  KernelSource source{.name = "nufft",
                      .text = ridge::detail::kernel_text("nufft/nonuniform"),
                      .defines = {{"NUMBER", design.float64 ? "double" : "float"},
                                  {"NUMBER2", design.float64 ? "double2" : "float2"},
                                  {"MAKE2(x, y)", design.float64 ? "make_double2((x), (y))" : "make_float2((x), (y))"},
                                  {"WIDE", design.float64 ? "1" : "0"},
                                  {"CELL", design.real ? "1" : "2"},
                                  {"TURNS", design.turns ? "1" : "0"},
                                  {"AXES", text(design.axes)},
                                  {"WIDTH", text(design.width)},
                                  {"TERMS", text(design.width + 3)},
                                  {"HALF_WIDTH", literal(design.float64, 0.5 * static_cast<double>(design.width))},
                                  {"INVERSE_HIGH", literal(design.float64, high)},
                                  {"INVERSE_LOW", literal(design.float64, low)},
                                  {"COLUMNS", text(design.columns())},
                                  {"LINES", text(design.lines())},
                                  {"BATCH", text(design.batch())},
                                  {"LANES", text(design.lanes())},
                                  {"STEP", text(design.step())},
                                  {"BINS", design.bins() ? "1" : "0"},
                                  {"WINDOW", design.axes > 1 && design.spreading == Spreading::window ? "1" : "0"}}};
  if (design.parts) source.text += ridge::detail::kernel_text("nufft/sort_parts");
  return design.spreading == Spreading::matrix ? with_matrix(std::move(source), design) : source;
}

}  // namespace ridge::nufft
