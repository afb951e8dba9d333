// Kernel text and refusals of system_rows.
#include "stencil/device/system_rows/system_rows_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/number.hpp"
#include "device/kernel_template.hpp"
#include "device/kernel_text.hpp"
#include "stencil/device/cells/cell_codegen.hpp"

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;

constexpr int kMostWaves = 6;

class SystemRowsWriter {
 public:
  explicit SystemRowsWriter(const SystemRowsKernel& kernel) : kernel_(kernel), options_(kernel.options) {
    const auto& values = kernel.values.values;
    uses_.resize(values.size());
    for (const SharedValue& value : values) {
      for (std::size_t k = 0; k < operand_count(value.kind); ++k) ++uses_[value.operands[k].value];
    }
    for (const SharedValue::Use& output : kernel.values.outputs) uses_[output.value] += 2;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (is_input(i)) inputs_.push_back(i);
    }
    if (options_.quick) find_fused();
  }

  std::string text() {
    return (options_.quick ? ridge::detail::kernel_text("codegen/quick_extremes") : "") + "\n" +
           ridge::detail::fill_kernel_text(
               "stencil/system_rows",
               {{"coefficients", kernel_.coefficients > 0 ? "GLOBAL const REAL* RESTRICT coefficients, " : ""},
                {"locals", locals()},
                {"leave", options_.sub_groups > 1 ? "  if (strip >= strips) return;\n" : ""},
                {"march", body()}});
  }

 private:
  const SharedValue& value(std::size_t i) const { return kernel_.values.values[i]; }
  bool is_input(std::size_t i) const { return value(i).kind == Kind::read || value(i).kind == Kind::coefficient; }
  bool is_constant(std::size_t i) const { return value(i).kind == Kind::constant; }
  const char* type_of(std::size_t i) const { return is_truth(value(i).kind) ? "int" : "REAL"; }

  // A product that only one sum uses, at the same cell and row, is fused into it. A product with a constant is fused
  // into all sums that use it, if nothing else does: this saves an operation and a register.
  void find_fused() {
    const auto& values = kernel_.values.values;
    fused_.assign(values.size(), -1);
    taken_.assign(values.size(), false);
    std::vector<std::vector<std::pair<std::size_t, int>>> sums(
        values.size());  // by product: the sums that use it, and as which operand
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].kind != Kind::add && values[i].kind != Kind::subtract) continue;
      for (const int k : {1, 0}) {
        const SharedValue::Use& use = values[i].operands[static_cast<std::size_t>(k)];
        const SharedValue& product = values[use.value];
        if (product.kind != Kind::multiply || use.shift != Offset{} || product.lag != values[i].lag) continue;
        sums[use.value].emplace_back(i, k);
      }
    }
    const auto take = [&](std::size_t product) {
      const auto& wanted = sums[product];
      if (wanted.empty() || wanted.size() != static_cast<std::size_t>(uses_[product])) return;
      for (const auto& [sum, k] : wanted) {
        if (fused_[sum] >= 0) return;
      }
      for (const auto& [sum, k] : wanted) fused_[sum] = k;
      taken_[product] = true;
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool by_constant = is_constant(values[i].operands[0].value) || is_constant(values[i].operands[1].value);
      if (sums[i].size() > 1 && by_constant) take(i);
    }
    // Of two products the second is fused, as in a subtraction.
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (const int k : {1, 0}) {
        const std::size_t product = values[i].operands[static_cast<std::size_t>(k)].value;
        const auto here = [&](const auto& sum) { return sum.first == i && sum.second == k; };
        if (sums[product].size() == 1 && std::any_of(sums[product].begin(), sums[product].end(), here)) take(product);
      }
    }
  }

  std::string locals() const {
    std::string text = "  LOCAL_BLOCK(REAL, ring, SUB_GROUPS * PREFETCH * INPUTS * LANES * CELLS";
    text += options_.shuffles ? ");\n" : " + 2 * LANES);\n";
    text += "  LOCAL REAL* const rows = ring + LOCAL_ID(0) / LANES * (PREFETCH * INPUTS * LANES * CELLS);\n";
    if (!options_.shuffles)
      text +=
          "  LOCAL REAL* const passed = ring + SUB_GROUPS * PREFETCH * INPUTS * LANES * CELLS;\n"
          "  LOCAL int* const passed_int = (LOCAL int*)(passed + LANES);\n";
    return text;
  }

  std::string now(std::size_t v, int cell) const { return fmt::format("v{}_{}", v, cell); }
  std::string kept(std::size_t v, int age, int cell) const {
    return age == 0 ? now(v, cell) : fmt::format("k{}_{}_{}", v, age, cell);
  }

  // The value at the position of `use`, for cell `cell` of a row that is `lag` behind the newest.
  std::string operand(const SharedValue::Use& use, int lag, int cell) {
    const SharedValue& from = value(use.value);
    if (from.kind == Kind::constant) return literal(from.constant);
    const int age = lag - use.shift[1] - from.lag;
    const int column = cell + use.shift[2], cells = options_.cells;
    const int lane = column >= 0 ? column / cells : -((cells - 1 - column) / cells);
    const std::string own = kept(use.value, age, column - lane * cells);
    if (lane == 0) return own;
    const std::string name = fmt::format("s{}_{}_{}", use.value, age, signed_word(column));
    if (shuffled_.insert(name).second) {
      const char* type = type_of(use.value);
      if (options_.shuffles) {
        text_ += fmt::format("      const {} {} = SHUFFLE_{}({}, {});\n", type, name, lane > 0 ? "DOWN" : "UP", own,
                             std::abs(lane));
      } else {
        const char* box = is_truth(from.kind) ? "passed_int" : "passed";
        text_ += fmt::format(
            "      BARRIER();\n      {0}[lane] = {1};\n      BARRIER();\n      const {2} {3} = {0}[lane + {4} < 0 || "
            "lane + {4} >= LANES ? lane : lane + {4}];\n",
            box, own, type, name, lane);
      }
    }
    return name;
  }

  std::string literal(double number) const {
    const std::string text = base::hexadecimal_text(number) + (kernel_.real == "float" ? "f" : "");
    return number < 0 ? "(" + text + ")" : text;
  }

  // Copies from global to local memory: each lane its own cells.
  std::string copy_ahead(const std::string& iteration) const {
    std::string text;
    const int bytes = (kernel_.real == "float" ? 4 : 8) * options_.cells;
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      const SharedValue& input = value(inputs_[k]);
      text += fmt::format(
          "      {{\n        int row = {} - {};\n        row = row < 0 ? 0 : row >= height ? height - 1 : row;\n"
          "        COPY_ASYNC_{}(rows + ((u * INPUTS + {}) * LANES + lane) * CELLS, {} + {} * field + origin + "
          "(long)row * pitch + x);\n      }}\n",
          iteration, input.lag, bytes, k, input.kind == Kind::read ? "in" : "coefficients", input.field);
    }
    return text + "      COPY_ASYNC_COMMIT();\n";
  }

  std::string vector_type() const {
    return options_.cells == 1 ? "REAL" : fmt::format("{}{}", kernel_.real, options_.cells);
  }

  void read_inputs() {
    text_ += "      COPY_ASYNC_WAIT(PREFETCH - 1);\n";
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      text_ += fmt::format(
          "      const {0} in{1} = *(LOCAL const {0}*)(rows + ((u * INPUTS + {1}) * LANES + lane) * CELLS);\n",
          vector_type(), k);
      for (int c = 0; c < options_.cells; ++c)
        text_ += fmt::format("      const REAL {} = in{}{};\n", now(inputs_[k], c), k,
                             options_.cells == 1 ? "" : fmt::format(".{}", "xyzw"[c]));
    }
  }

  std::string fused_text(std::size_t i, int cell) {
    const SharedValue& sum = value(i);
    const auto k = static_cast<std::size_t>(fused_[i]);
    const SharedValue& product = value(sum.operands[k].value);
    const std::string a = operand(product.operands[0], sum.lag, cell), b = operand(product.operands[1], sum.lag, cell);
    const std::string c = operand(sum.operands[1 - k], sum.lag, cell);
    if (sum.kind == Kind::add) return fmt::format("FMA({}, {}, {})", a, b, c);
    return k == 0 ? fmt::format("FMA({}, {}, -{})", a, b, c) : fmt::format("FMA(-{}, {}, {})", a, b, c);
  }

  void compute() {
    for (std::size_t i = 0; i < kernel_.values.values.size(); ++i) {
      if (is_input(i) || is_constant(i) || (options_.quick && taken_[i])) continue;
      for (int c = 0; c < options_.cells; ++c) {
        std::string made;
        if (options_.quick && fused_[i] >= 0) {
          made = fused_text(i, c);
        } else {
          Operation operation{.kind = value(i).kind};
          std::array<std::string, 3> operands;
          for (std::size_t k = 0; k < operand_count(operation.kind); ++k)
            operands[k] = operand(value(i).operands[k], value(i).lag, c);
          made = options_.quick && operation.kind == Kind::minimum
                     ? fmt::format("lower_of({}, {})", operands[0], operands[1])
                 : options_.quick && operation.kind == Kind::maximum
                     ? fmt::format("higher_of({}, {})", operands[0], operands[1])
                     : operation_text(operation, operands, false);
        }
        text_ += fmt::format("      const {} {} = {};\n", type_of(i), now(i, c), made);
      }
    }
  }

  void store() {
    std::vector<std::vector<std::string>> results;
    for (const SharedValue::Use& output : kernel_.values.outputs) {
      std::vector<std::string> cells;
      for (int c = 0; c < options_.cells; ++c) cells.push_back(operand(output, kernel_.values.lag, c));
      results.push_back(std::move(cells));
    }
    text_ += "      const int ready = newest - LAG;\n";
    text_ += "      if (stores && ready >= first_row && ready < end_row) {\n";
    text_ += "        GLOBAL REAL* const to = out + origin + (long)ready * pitch + x;\n        if (whole) {\n";
    for (std::size_t f = 0; f < results.size(); ++f) {
      const std::string all =
          options_.cells == 1 ? results[f][0] : fmt::format("make_{}({})", vector_type(), fmt::join(results[f], ", "));
      text_ += fmt::format("          *(GLOBAL {}*)(to + {} * field) = {};\n", vector_type(), f, all);
    }
    text_ += "        } else {\n";
    for (int c = 0; c < options_.cells; ++c) {
      text_ += fmt::format("          if (x + {0} >= left && x + {0} < right) {{\n", c);
      for (std::size_t f = 0; f < results.size(); ++f)
        text_ += fmt::format("            to[{} * field + {}] = {};\n", f, c, results[f][static_cast<std::size_t>(c)]);
      text_ += "          }\n";
    }
    text_ += "        }\n      }\n";
  }

  void keep() {
    for (std::size_t i = 0; i < kernel_.values.values.size(); ++i) {
      for (int c = 0; c < options_.cells; ++c) {
        for (int age = value(i).keep; age > 0; --age)
          text_ += fmt::format("      {} = {};\n", kept(i, age, c), kept(i, age - 1, c));
      }
    }
  }

  std::string body() {
    for (std::size_t i = 0; i < kernel_.values.values.size(); ++i) {
      for (int c = 0; c < options_.cells; ++c) {
        for (int age = 1; age <= value(i).keep; ++age)
          text_ += fmt::format("  {} {} = 0;\n", type_of(i), kept(i, age, c));
      }
    }
    text_ += "  UNROLL\n  for (int u = 0; u < PREFETCH; ++u) {\n" + copy_ahead("first_row - LOW + u") + "  }\n";
    text_ += "  int newest = first_row - LOW;  // newest input row that has arrived\n";
    text_ += options_.march_rows > 0
                 ? fmt::format("  for (int i = 0; i < {} + LOW + LAG; i += PREFETCH) {{\n", options_.march_rows)
                 : "  for (int i = end_row - first_row + LOW + LAG; i > 0; i -= PREFETCH) {\n";
    text_ += "    UNROLL\n    for (int u = 0; u < PREFETCH; ++u) {\n";
    read_inputs();
    // Values that were read are in registers before their slot is filled again.
    text_ += copy_ahead("newest + PREFETCH");
    compute();
    store();
    keep();
    text_ += "      ++newest;\n    }\n  }\n";
    return text_;
  }

  const SystemRowsKernel& kernel_;
  const SystemRowsOptions& options_;
  std::vector<int> uses_{};
  std::vector<int> fused_{};  // operand of a sum that is a fused product
  std::vector<bool> taken_{};
  std::vector<std::size_t> inputs_{};
  std::set<std::string> shuffled_{};
  std::string text_{};
};

}  // namespace

int SystemRowsKernel::halo() const { return pieces(values.margin, options.cells) * options.cells; }

std::size_t SystemRowsKernel::inputs() const {
  return static_cast<std::size_t>(std::count_if(values.values.begin(), values.values.end(), [](const auto& value) {
    return value.kind == Kind::read || value.kind == Kind::coefficient;
  }));
}

std::size_t SystemRowsKernel::local_bytes() const {
  const auto row = static_cast<std::size_t>(options.lanes * options.cells);
  const std::size_t ring = static_cast<std::size_t>(options.sub_groups * options.prefetch) * inputs() * row;
  return (ring + (options.shuffles ? 0 : 2 * static_cast<std::size_t>(options.lanes))) * (real == "float" ? 4 : 8);
}

std::string SystemRowsKernel::refusal(const Limits& limits) const {
  if (useful() < options.lanes * options.cells / 4)
    return fmt::format("{} of a strip's {} cells would be halo, more than three quarters", 2 * halo(),
                       options.lanes * options.cells);
  // The kept values, and about as many temporaries.
  const std::size_t numbers = values.kept() * static_cast<std::size_t>(options.cells) * (real == "float" ? 1 : 2);
  if (numbers > 200) return fmt::format("needs at most 200 values in a work-item's registers, got {}", numbers);
  if (values.operations() * static_cast<std::size_t>(options.cells) > 6000)
    return fmt::format("needs at most {} operations per cell in one kernel, got {}", 6000 / options.cells,
                       values.operations());
  if (local_bytes() > limits.local_memory)
    return fmt::format("needs {} bytes of local memory, the device has {}", local_bytes(), limits.local_memory);
  return {};
}

KernelSource SystemRowsKernel::source() const {
  const auto word = [](auto number) { return std::to_string(number); };
  return {.name = "stencil system rows",
          .text = SystemRowsWriter(*this).text(),
          .defines = {{"REAL", real},
                      {"LANES", word(options.lanes)},
                      {"SUB_GROUPS", word(options.sub_groups)},
                      {"RESIDENT", word(options.resident)},
                      {"CELLS", word(options.cells)},
                      {"PREFETCH", word(options.prefetch)},
                      {"INPUTS", word(inputs())},
                      {"HALO", word(halo())},
                      {"USEFUL", word(useful())},
                      {"LOW", word(values.low)},
                      {"LAG", word(values.lag)}},
          .relaxed_math = options.quick};
}

SystemRowsPlan plan_rows(const SystemRowsKernel& kernel, const DeviceLayout& place, int left, int right, int top,
                         int bottom, std::size_t resident_groups) {
  const SystemRowsOptions& options = kernel.options;
  SystemRowsPlan plan{.left = left, .right = right, .top = top, .bottom = bottom};
  const int start = left / options.cells * options.cells;  // vectors are aligned
  plan.strips = pieces(right - start, kernel.useful());
  const int columns = pieces(plan.strips, options.sub_groups), rows = bottom - top;
  if (options.march_rows > 0) {
    plan.chunk_rows = options.march_rows;
  } else {
    // Whole waves: one extra piece would be a wave of its own. Balances the rows that two pieces both compute against
    // the idle time of the last wave.
    const int both = kernel.values.low + kernel.values.lag;
    double best = 1e300;
    for (int waves = 1; waves <= kMostWaves; ++waves) {
      const int chunks = std::max(1, static_cast<int>(static_cast<std::size_t>(waves) * resident_groups) / columns);
      const int length = std::min(rows, std::max(both, pieces(rows, chunks)));
      const double took = std::ceil(static_cast<double>(columns * pieces(rows, length)) /
                                    static_cast<double>(std::max<std::size_t>(resident_groups, 1)));
      const double cost = took * (length + both);
      if (cost < best * 0.99) {
        best = cost;
        plan.chunk_rows = length;
      }
    }
  }
  plan.launch = {.groups = {static_cast<std::size_t>(columns), static_cast<std::size_t>(pieces(rows, plan.chunk_rows))},
                 .items = {static_cast<std::size_t>(options.lanes * options.sub_groups)},
                 .local_bytes = kernel.local_bytes()};
  const auto count = [](int value) { return Argument(static_cast<std::int32_t>(value)); };
  plan.scalars = {Argument(static_cast<std::uint64_t>(place.origin)),
                  Argument(static_cast<std::uint64_t>(place.field)),
                  count(static_cast<int>(place.height())),
                  count(static_cast<int>(place.pitch)),
                  count(start),
                  count(left),
                  count(right),
                  count(top),
                  count(bottom),
                  count(plan.strips),
                  count(plan.chunk_rows)};
  return plan;
}

}  // namespace ridge::stencil
