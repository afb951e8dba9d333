// Kernel text in gather form: one or several cells per work-item.
#include <algorithm>
#include <cstdint>
#include <map>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "device/kernel_template.hpp"
#include "stencil/device/cells/cell_codegen.hpp"
#include "stencil/device/cells/gather.hpp"

namespace ridge::stencil {
namespace {

std::string address(const Operation& read) {
  return fmt::format("{} * field + origin + ((ulong){} * height + {}) * pitch + {}", read.field,
                     CellText::index_name(0, read.offset[0]), CellText::index_name(1, read.offset[1]),
                     CellText::index_name(2, read.offset[2]));
}

// A block of WIDE x TALL cells from rows that are read once, as vectors, away from borders.

// A row of some field that cells of the block read.
struct ReadRow {
  Node::Kind kind;
  std::size_t field;
  int dz, dy;
  auto operator<=>(const ReadRow&) const = default;
};

std::string row_name(const ReadRow& row) {
  return fmt::format("{}{}_{}_{}", row.kind == Node::Kind::read ? "u" : "k", row.field, signed_word(row.dz),
                     signed_word(row.dy));
}

std::string block_text(const CellText& text, const GatherOptions& options, const std::string& load) {
  std::map<ReadRow, std::pair<int, int>> rows;  // rows with the range of offsets read along them
  for (const Operation& op : text.tape.operations) {
    if (op.kind != Node::Kind::read && op.kind != Node::Kind::coefficient) continue;
    for (int j = 0; j < options.tall; ++j) {
      auto [at, fresh] = rows.try_emplace(ReadRow{op.kind, op.field, op.offset[0], op.offset[1] + j}, 0, 0);
      at->second.first = std::min(at->second.first, op.offset[2]);
      at->second.second = std::max(at->second.second, op.offset[2]);
    }
  }
  const std::string vector = options.wide == 1 ? "CELL" : fmt::format("{}{}", text.cell, options.wide);
  std::string code;
  const auto name = [](const ReadRow& row, int x) { return row_name(row) + "_" + signed_word(x); };
  for (const auto& [row, reach] : rows) {
    code += fmt::format(
        "  GLOBAL const CELL* const {} = {} + {} * field + origin + ((ulong)(z + {}) * height + (y + {})) * pitch + "
        "x;\n",
        row_name(row), row.kind == Node::Kind::read ? "in" : "coefficients", row.field, row.dz, row.dy);
    code += fmt::format("  const {0} {1}_v = {2}((GLOBAL const {0}*){1});\n", vector, row_name(row), load);
    for (int x = reach.first; x < options.wide + reach.second; ++x) {
      const bool inside = x >= 0 && x < options.wide;
      const std::string value = !inside             ? fmt::format("{}({} + {})", load, row_name(row), x)
                                : options.wide == 1 ? row_name(row) + "_v"
                                                    : fmt::format("{}_v.{}", row_name(row), "xyzw"[x]);
      code += fmt::format("  const {} {} = {};\n", text.compute(), name(row, x), value);
    }
  }
  for (int j = 0; j < options.tall; ++j) {
    for (int i = 0; i < options.wide; ++i) {
      code += text.statements("  ", fmt::format("t{}{}_", j, i), [&](const Operation& op) {
        return name({op.kind, op.field, op.offset[0], op.offset[1] + j}, op.offset[2] + i);
      });
    }
    for (std::size_t f = 0; f < text.layout.fields; ++f) {
      std::string values;
      for (int i = 0; i < options.wide; ++i)
        values += (i == 0 ? "" : ", ") + text.result(f, fmt::format("t{}{}_", j, i));
      if (options.wide > 1) values = fmt::format("make_{}({})", vector, values);
      code +=
          fmt::format("  *(GLOBAL {}*)(out + {} * field + origin + ((ulong)z * height + (y + {})) * pitch + x) = {};\n",
                      vector, f, j, values);
    }
  }
  return code;
}

std::uint64_t groups(std::size_t cells, std::size_t block) { return (cells + block - 1) / block; }

}  // namespace

std::string coefficient_parameter(const Layout& layout) {
  return layout.coefficients > 0 ? "GLOBAL const CELL* RESTRICT coefficients, " : "";
}

std::string update_cell_text(const CellText& text, const std::string& load) {
  std::string code = fmt::format(
      "FUNCTION void update_cell(GLOBAL const CELL* RESTRICT in, GLOBAL CELL* RESTRICT out, {}{}, int z, int y, int x) "
      "{{\n",
      coefficient_parameter(text.layout), kSizeParameters);
  code += text.index_statements("  ");
  code += text.statements("  ", "t", [&](const Operation& read) {
    return fmt::format("{}({} + {})", load, read.kind == Node::Kind::read ? "in" : "coefficients", address(read));
  });
  for (std::size_t f = 0; f < text.layout.fields; ++f) {
    code +=
        fmt::format("  out[{} * field + origin + ((ulong)z * height + y) * pitch + x] = {};\n", f, text.result(f, "t"));
  }
  return code + "}\n";
}

std::string grid_refusal(const Launch& launch, const DeviceLayout& place) {
  if (launch.groups[1] > 65535 || launch.groups[2] > 65535)
    return fmt::format("needs at most 65535 work-groups along y and z, got {} and {}", launch.groups[1],
                       launch.groups[2]);
  if (std::max({place.width(), place.height(), place.planes()}) > (1u << 30))
    return fmt::format("needs at most 2^30 cells per axis, got {} x {} x {}", place.planes(), place.height(),
                       place.width());
  return {};
}

std::string GatherKernel::refusal(const Limits& limits) const {
  const auto& items = options.items;
  const std::size_t all = items[0] * items[1] * items[2];
  if (all > limits.work_group)
    return fmt::format("needs work-groups of {}, the device allows {}", all, limits.work_group);
  for (std::size_t i = 0; i < 3; ++i) {
    if (items[i] > limits.work_group_sides[i]) {
      return fmt::format("needs {} work-items along an axis, the device allows {}", items[i],
                         limits.work_group_sides[i]);
    }
  }
  return grid_refusal(launch(), place);
}

KernelSource GatherKernel::source() const {
  const Layout& layout = text.layout;
  const std::string load = options.cached ? "LOAD_CACHED" : "READ";
  const bool block = options.wide * options.tall > 1;
  const std::string parameters =
      fmt::format("{}{}, int end_x, int end_y, int end_z", coefficient_parameter(layout), kSizeParameters);
  const std::string arguments =
      fmt::format("{}width, height, planes, pitch, origin, field", layout.coefficients > 0 ? "coefficients, " : "");
  codegen::Text code;
  code.raw("#define READ(p) (*(p))\n");
  code.raw(text.source_functions());
  code.raw(update_cell_text(text, load));
  code.raw("\n" + ridge::detail::fill_kernel_text(block ? "stencil/update_blocks" : "stencil/update_cells",
                                                  {{"parameters", parameters},
                                                   {"arguments", arguments},
                                                   {"block", block ? block_text(text, options, load) : ""}}));
  const auto word = [](std::uint64_t value) { return std::to_string(value); };
  const auto near = [&](std::size_t axis) {
    return word(std::max<std::size_t>(layout.begin[axis], static_cast<std::size_t>(layout.radius[axis])));
  };
  return {.name = "stencil cells",
          .text = code.str(),
          .defines = {{"CELL", text.cell},
                      {"ITEMS_X", word(options.items[0])},
                      {"ITEMS_Y", word(options.items[1])},
                      {"ITEMS_Z", word(options.items[2])},
                      {"WIDE", word(static_cast<std::uint64_t>(options.wide))},
                      {"TALL", word(static_cast<std::uint64_t>(options.tall))},
                      {"FIRST_X", word(layout.begin[2])},
                      {"FIRST_Y", word(layout.begin[1])},
                      {"FIRST_Z", word(layout.begin[0])},
                      {"NEAR_X", near(2)},
                      {"NEAR_Y", near(1)},
                      {"NEAR_Z", near(0)},
                      {"RADIUS_X", std::to_string(layout.radius[2])},
                      {"RADIUS_Y", std::to_string(layout.radius[1])},
                      {"RADIUS_Z", std::to_string(layout.radius[0])}}};
}

Launch GatherKernel::launch() const {
  const Layout& layout = text.layout;
  const bool block = options.wide * options.tall > 1;
  const auto cells = [&](std::size_t axis) { return block ? layout.end[axis] : layout.end[axis] - layout.begin[axis]; };
  return {.groups = {groups(cells(2), options.items[0] * static_cast<std::size_t>(options.wide)),
                     groups(cells(1), options.items[1] * static_cast<std::size_t>(options.tall)),
                     groups(cells(0), options.items[2])},
          .items = options.items};
}

std::vector<Argument> GatherKernel::scalars() const {
  const auto count = [](std::size_t value) { return Argument(static_cast<std::int32_t>(value)); };
  const auto offset = [](std::size_t value) { return Argument(static_cast<std::uint64_t>(value)); };
  const Layout& layout = text.layout;
  return {count(place.width()), count(place.height()), count(place.planes()), offset(place.pitch), offset(place.origin),
          offset(place.field),  count(layout.end[2]),  count(layout.end[1]),  count(layout.end[0])};
}

}  // namespace ridge::stencil
