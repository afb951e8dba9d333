// Generates the kernel sources of a flow design.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/device/constants_codegen.hpp"
#include "image/flow/device/design.hpp"
#include "image/flow/weights.hpp"

namespace ridge::image::on_device {
namespace {

constexpr double kLog2e = 1.4426950408889634;
constexpr double kSignedStart =
    12582912.0;  // 1.5 * 2^23: adding a signed integer to its bits gives the float of the sum
constexpr double kUnsignedStart = 8388608.0;  // 2^23, for unsigned integers
constexpr double kTwoLines =
    1.0539595;  // log2 of the factor by which straightened() in flow_smooth_matrix.cl is too large
constexpr double kFinestConstant = 16384;  // larger constants leave fewer than nine bits after the binary point
constexpr double kHiddenSquares = 255.0 * 255;

std::string integer_table(const char* name, const std::vector<long>& values) {
  std::string text = fmt::format("CONSTANT_TABLE int {}[{}] = {{", name, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", values[i]);
  return text + "};\n";
}

std::string text_of(std::initializer_list<const char*> files) {
  std::string text;
  for (const char* file : files) text += detail::kernel_text(file);
  return text;
}

// log2 of the weight of each distance from -radius to radius.
std::vector<double> distance_exponents(const FilterShape& filter) {
  std::vector<double> exponents;
  for (int d = -filter.radius; d <= filter.radius; ++d) {
    exponents.push_back(-d * d / (2 * filter.sigma_dist * filter.sigma_dist) * kLog2e);
  }
  return exponents;
}

int steps(const FilterShape& filter) { return (4 + 2 * filter.radius + 7) / 8; }

// Words between the planes of a cell's values: shifted by eight banks each, so that four planes are read without
// conflict.
int matrix_plane(const FlowDesign& design, const FilterShape& filter) {
  const int cells = (28 + 8 * steps(filter)) * (8 * design.down + 2 * filter.radius);
  return (cells - 8 + 31) / 32 * 32 + 8;
}

int matrix_floats(const FlowDesign& design, const FilterShape& filter) {
  return std::max(design.parts * matrix_plane(design, filter), 8 * 256 * design.down);
}

KernelSource matrix_source(const FilterShape& filter, const FlowDesign& design) {
  const double kappa = -2.0 * double{flow::slope_of(filter.sigma_color)};
  std::vector<double> constants, rows;
  std::vector<long> bits;
  for (const double exponent : distance_exponents(filter)) {
    constants.push_back(exponent - kSignedStart * kappa);
    bits.push_back(std::lround((127 + exponent - kTwoLines) * kUnsignedStart));
    rows.push_back(std::exp2(exponent));
  }
  return {.name = "flow_smooth_matrix",
          .text = float_table("column_exponents", constants) + integer_table("column_bits", bits) +
                  float_table("row_weights", rows) + text_of({"image/flow_smooth_matrix"}),
          .defines = {{"FILTER", std::to_string(filter.radius)},
                      {"STEPS", std::to_string(steps(filter))},
                      {"DOWN", std::to_string(design.down)},
                      {"PARTS", std::to_string(design.parts)},
                      {"PLANE", std::to_string(matrix_plane(design, filter))},
                      {"TILE_FLOATS", std::to_string(matrix_floats(design, filter))},
                      {"POLYNOMIAL", std::to_string(design.polynomial)},
                      {"KAPPA", literal(kappa)},
                      {"KAPPA_BITS", std::to_string(std::lround(kappa * kUnsignedStart))},
                      {"OUTSIDE", literal(-kSignedStart * kappa - 400)}}};
}

KernelSource tile_source(const FilterShape& filter, const FlowDesign& design, bool unrolled) {
  const double slope = double{flow::slope_of(filter.sigma_color)};
  const bool float_bits = -slope * kUnsignedStart <= kFinestConstant;
  const bool vanish = float_bits && slope * kHiddenSquares <= -40;
  std::vector<double> constants, rows;
  for (const double exponent : distance_exponents(filter)) {
    constants.push_back(float_bits ? exponent - slope * kUnsignedStart : exponent);
    rows.push_back(std::exp2(exponent));
  }
  return {.name = "flow_smooth_tile",
          .text = float_table("column_exponents", constants) + float_table("row_weights", rows) +
                  text_of({"image/flow_common", "image/flow_smooth_tile"}),
          .defines = {{"PAD", "0"},
                      {"FILTER", std::to_string(filter.radius)},
                      {"ROWS", std::to_string(design.rows)},
                      {"SLOPE", literal(slope)},
                      {"FLOAT_BITS", float_bits ? "1" : "0"},
                      {"HIDDEN_VANISH", vanish ? "1" : "0"},
                      {"UNROLL_COLUMNS", unrolled ? "UNROLL" : ""}}};
}

KernelSource plain_source(const FilterShape& filter) {
  std::vector<double> rows;
  for (const double exponent : distance_exponents(filter)) rows.push_back(std::exp2(exponent));
  return {.name = "flow_smooth_plain",
          .text = float_table("column_exponents", distance_exponents(filter)) + float_table("row_weights", rows) +
                  text_of({"image/flow_common", "image/flow_smooth_plain"}),
          .defines = {{"PAD", "0"},
                      {"FILTER", std::to_string(filter.radius)},
                      {"SLOPE", literal(double{flow::slope_of(filter.sigma_color)})}}};
}

}  // namespace

FilterShape filter_between(const FlowParameters& p) {
  return {p.upscale_averaging_radius, p.upscale_sigma_dist, p.upscale_sigma_color};
}
FilterShape filter_at_the_end(const FlowParameters& p) {
  return {p.postprocess_window, p.sigma_dist_fix, p.sigma_color_fix};
}

int pad_of(const FlowParameters& p) { return p.averaging_radius + p.max_flow; }

SmoothLaunch smooth_launch(const FlowDesign& design, const FilterShape& filter) {
  SmoothLaunch launch;
  if (design.smooth == Smooth::tile) {
    launch.pixels_down = 8 * design.rows;
    const std::size_t cells = static_cast<std::size_t>(32 + 2 * filter.radius) *
                              static_cast<std::size_t>(launch.pixels_down + 2 * filter.radius);
    launch.local_bytes = (cells + 1) / 2 * 2 * 12;
  }
  if (design.smooth == Smooth::matrix) {
    launch.items_x = static_cast<std::uint64_t>(256 * design.down);
    launch.items_y = 1;
    launch.pixels_down = 8 * design.down;
    launch.local_bytes = static_cast<std::size_t>(matrix_floats(design, filter)) * 4;
  }
  return launch;
}

KernelSource stages_source(const FlowParameters& p, const FlowDesign& design) {
  const double side = std::exp(-1 / 50.0);
  const bool scan_order = p.selection == Selection::scan_order;
  return {.name = "flow_stages",
          .text = text_of({"image/flow_common", "image/flow_pyramid", "image/flow_select", "image/flow_fill",
                           "image/flow_finish"}) +
                  (scan_order ? text_of({"image/flow_scan_order"}) : ""),
          .defines = {{"PAD", std::to_string(pad_of(p))},
                      {"SCAN_ORDER", scan_order ? "1" : "0"},
                      {"RADIUS", std::to_string(p.averaging_radius)},
                      {"BLOCKS", design.search == Search::blocks ? "1" : "0"},
                      {"MATRIX", design.smooth == Smooth::matrix ? "1" : "0"},
                      {"GAUSS_OWN", literal(1 / (1 + 2 * side))},
                      {"GAUSS_BESIDE", literal(side / (1 + 2 * side))}}};
}

KernelSource search_source(const FlowParameters& p, const FlowDesign& design) {
  KernelSource source{.name = "flow_search",
                      .text = text_of({"image/flow_common", "image/flow_search"}),
                      .defines = {{"PAD", std::to_string(pad_of(p))},
                                  {"RADIUS", std::to_string(p.averaging_radius)},
                                  {"REACH", std::to_string(p.max_flow)},
                                  {"LEAST_EXPONENT", literal(flow::kLeastExponent)},
                                  {"COLOR_SLOPE", literal(double{flow::slope_of(p.sigma_color)})},
                                  {"SPACE_SLOPE", literal(double{flow::slope_of(p.sigma_dist)})}}};
  for (int i = 0; i < 6; ++i) source.defines.emplace_back(fmt::format("POWER_{}", i), literal(double{flow::kExp2[i]}));
  source.text += text_of({design.search == Search::plain ? "image/flow_search_plain" : "image/flow_search_single"});
  if (design.search == Search::blocks) source.text += text_of({"image/flow_search_block"});
  return source;
}

KernelSource smooth_source(const FilterShape& filter, const FlowDesign& design, bool unrolled) {
  switch (design.smooth) {
    case Smooth::matrix:
      return matrix_source(filter, design);
    case Smooth::tile:
      return tile_source(filter, design, unrolled);
    case Smooth::plain:
      break;
  }
  return plain_source(filter);
}

}  // namespace ridge::image::on_device
