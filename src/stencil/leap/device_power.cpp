// Kernel text and tables for the powers of a stencil's symbol.
#include "stencil/leap/device_power.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "device/kernel_text.hpp"

namespace ridge::stencil::leap {
namespace {

constexpr std::array<const char*, 3> kModes{"z", "y", "x"};

// Offset of each axis' cosines in the table.
std::array<std::size_t, 3> table_starts(const Modes& modes) {
  std::array<std::size_t, 3> starts{};
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    starts[axis] = next;
    next += modes.axes[axis].cosines.size();
  }
  return starts;
}

// Combines the weights of offsets that differ only in sign.
std::map<std::tuple<std::size_t, std::size_t, int, int, int>, double> folded(const Modes& modes) {
  std::map<std::tuple<std::size_t, std::size_t, int, int, int>, double> weights;
  for (const Term& t : modes.terms) {
    weights[{t.to, t.field, std::abs(t.offset[0]), std::abs(t.offset[1]), std::abs(t.offset[2])}] += t.weight;
  }
  return weights;
}

std::string symbol_function(const Modes& modes) {
  const auto starts = table_starts(modes);
  std::string text = "FUNCTION void symbol(GLOBAL const double* tables, ulong z, ulong y, ulong x, double* s) {\n";
  std::map<std::size_t, std::string> sums;
  for (const auto& [place, weight] : folded(modes)) {
    const auto& [to, from, oz, oy, ox] = place;
    std::string& sum = sums[to * modes.fields + from];
    sum += fmt::format("{}{:.17e}", sum.empty() ? "" : " + ", weight);
    const std::array<int, 3> offsets{oz, oy, ox};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::size_t at = starts[axis] + static_cast<std::size_t>(offsets[axis]) * modes.axes[axis].modes;
      if (offsets[axis] != 0) sum += fmt::format(" * tables[{}ul + {}]", at, kModes[axis]);
    }
  }
  for (std::size_t entry = 0; entry < modes.fields * modes.fields; ++entry) {
    text += fmt::format("  s[{}] = {};\n", entry, sums.count(entry) > 0 ? sums[entry] : "0");
  }
  return text + "}\n";
}

std::string force_function(const Modes& modes) {
  const std::size_t parts = modes.complex ? 2 : 1;
  std::string text = fmt::format(
      "FUNCTION void force(GLOBAL const double* faces, ulong z, ulong y, ulong x, double* f) {{\n"
      "  for (int i = 0; i < {}; ++i) f[i] = 0;\n",
      modes.fields * parts);
  std::size_t start = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (modes.axes[axis].basis != Basis::sine) continue;
    const std::size_t a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
    const std::size_t across = modes.axes[b].modes, all = modes.axes[a].modes * across;
    const std::size_t low = start + modes.axes[axis].modes, high = low + all * parts * modes.fields;
    text += fmt::format(
        "  for (int i = 0; i < {0}; ++i) {{\n"
        "    const ulong at = ((ulong)(i / {1}) * {2}ul + {3} * {4}ul + {5}) * {1}ul + (ulong)(i % {1});\n"
        "    const double high = faces[{6}ul + at];\n"
        "    f[i] += faces[{7}ul + {8}] * (faces[{9}ul + at] + ({8} % 2 == 0 ? high : -high));\n"
        "  }}\n",
        modes.fields * parts, parts, all, kModes[a], across, kModes[b], high, start, kModes[axis], low);
    start = high + all * parts * modes.fields;
  }
  return text + "}\n";
}

}  // namespace

std::string factor_function(const Modes& modes, std::size_t axis, std::size_t across) {
  const std::size_t a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
  return symbol_function(modes) + ridge::detail::kernel_text("stencil/leap_powers") +
         fmt::format(
             "FUNCTION real filter_factor(GLOBAL const double* table, ulong mode, ulong line) {{\n"
             "  const ulong {0} = mode, {1} = line / {3}ul, {2} = line % {3}ul;\n"
             "  double s[1];\n"
             "  symbol(table + 4, z, y, x, s);\n"
             "  return (real)mode_power(s[0], (ulong)table[0], (int)table[1], table[2]);\n"
             "}}\n",
             kModes[axis], kModes[a], kModes[b], across);
}

std::array<double, 4> table_head(std::size_t steps, double smallest) {
  return {static_cast<double>(steps), static_cast<double>(std::bit_width(steps)),
          std::exp(std::log(smallest) / static_cast<double>(steps)), 0};
}

KernelSource power_text(const Modes& modes, const char* cell, std::size_t pitch, std::size_t kept) {
  const auto number = [](std::size_t value) { return fmt::format("{}ul", value); };
  return {.name = "stencil leap",
          .text = symbol_function(modes) + force_function(modes) + ridge::detail::kernel_text("stencil/leap_powers") +
                  ridge::detail::kernel_text("stencil/leap"),
          .defines = {{"CELL", cell},
                      {"FIELDS", std::to_string(modes.fields)},
                      {"PARTS", modes.complex ? "2" : "1"},
                      {"NX", number(modes.axes[2].modes)},
                      {"KEPT", number(kept > 0 ? kept : modes.axes[2].modes)},
                      {"NY", number(modes.axes[1].modes)},
                      {"PITCH", number(pitch)},
                      {"ROWS", number(modes.rows())}}};
}

Launch power_launch(const Modes& modes) {
  return {.groups = {(modes.axes[2].modes + 255) / 256 * ((modes.rows() + 3) / 4)}, .items = {256}};
}

std::vector<double> cosine_tables(const Modes& modes) {
  std::vector<double> tables(4);
  for (const Axis& axis : modes.axes) tables.insert(tables.end(), axis.cosines.begin(), axis.cosines.end());
  tables.resize(tables.size() + 16);  // read by padding columns
  return tables;
}

std::vector<double> face_tables(const std::vector<Faces>& all_faces) {
  std::vector<double> tables;
  for (const Faces& faces : all_faces) {
    tables.insert(tables.end(), faces.sines.begin(), faces.sines.end());
    for (const auto& side : faces.at) tables.insert(tables.end(), side.begin(), side.end());
  }
  if (tables.empty()) tables.push_back(0);
  return tables;
}

std::vector<double> largest_from(const Modes& modes) {
  const Axis& axis = modes.axes[2];
  std::map<std::pair<int, int>, std::vector<std::pair<std::size_t, double>>> rows;
  for (const auto& [place, weight] : folded(modes)) {
    const auto& [to, from, oz, oy, ox] = place;
    rows[{oz, oy}].emplace_back(static_cast<std::size_t>(ox), weight);
  }
  std::vector<double> largest(axis.modes);
  for (std::size_t x = axis.modes; x-- > 0;) {
    double bound = 0;  // cosines of the other axes are at most 1
    for (const auto& [offset, weights] : rows) {
      double sum = 0;
      for (const auto& [ox, weight] : weights) sum += weight * (ox == 0 ? 1 : axis.cosines[ox * axis.modes + x]);
      bound += std::abs(sum);
    }
    largest[x] = x + 1 < axis.modes ? std::max(bound, largest[x + 1]) : bound;
  }
  return largest;
}

double largest_eigenvalue(const Modes& modes) {
  const auto weights = folded(modes);
  const std::size_t step = std::max<std::size_t>(1, modes.rows() / 4096);
  const std::size_t step_x = std::max<std::size_t>(1, modes.axes[2].modes / 4096);
  const std::size_t rows = (modes.rows() + step - 1) / step;
  std::vector<double> largest(rows, 0);
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = base::share(rows, thread, threads);
    for (std::size_t i = share.begin; i < share.end; ++i) {
      const std::size_t row = std::min(i * step, modes.rows() - 1);
      const std::array<std::size_t, 2> mode{row / modes.axes[1].modes, row % modes.axes[1].modes};
      for (std::size_t x = 0; x < modes.axes[2].modes; x += step_x) {
        double s[4] = {0, 0, 0, 0};
        for (const auto& [place, weight] : weights) {
          const auto& [to, from, oz, oy, ox] = place;
          const std::array<int, 3> offsets{oz, oy, ox};
          double value = weight;
          for (std::size_t axis = 0; axis < 3; ++axis) {
            if (offsets[axis] == 0) continue;
            value *= modes.axes[axis].cosines[static_cast<std::size_t>(offsets[axis]) * modes.axes[axis].modes +
                                              (axis == 2 ? x : mode[axis])];
          }
          s[to * modes.fields + from] += value;
        }
        double size = std::fabs(s[0]);
        if (modes.fields == 2) {
          const double half = (s[0] + s[3]) / 2, determinant = s[0] * s[3] - s[1] * s[2];
          const double inner = half * half - determinant;
          size = inner > 0 ? std::fabs(half) + std::sqrt(inner) : std::sqrt(determinant);
        }
        largest[i] = std::max(largest[i], size);
      }
    }
  });
  return *std::max_element(largest.begin(), largest.end());
}

}  // namespace ridge::stencil::leap
