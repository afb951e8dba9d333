// Generates the kernel sources of a variance design.
#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/variance/device/design.hpp"

namespace ridge::image::on_device {
namespace {

const char* pixel_type(Depth depth) { return depth == Depth::u8 ? "uchar" : depth == Depth::u16 ? "ushort" : "float"; }

int plain_method(VarianceMethod method) {
  switch (method) {
    case VarianceMethod::two_pass:
      return 0;
    case VarianceMethod::koenig:
      return 1;
    case VarianceMethod::online:
      return 2;
    case VarianceMethod::pairwise:
    case VarianceMethod::three_wise:
      return 3;
    default:
      return 4;
  }
}

std::string beyond(const VarianceProblem& problem) {
  if (problem.border != Border::constant) return "0";
  return problem.depth == Depth::f32 ? fmt::format("{:.9e}f", problem.constant)
                                     : fmt::format("{}", static_cast<long>(problem.constant));
}

// Digits of a counter up to `cells` in the base, and one more that is never reached.
int digits(std::size_t cells, std::size_t base) {
  int count = 2;
  for (std::size_t size = base; size <= cells; size *= base) ++count;
  return count;
}

// Defines the whole groups of four columns in the first pixel's window, and the single columns on either side.
void add_fours(KernelSource& source, int left, int right) {
  int first = -(left / 4), last = right >= 3 ? (right - 3) / 4 : -1 - (2 - right) / 4;
  int edge_left = left + 4 * first, edge_right = right - (4 * last + 3);
  if (last < first) {  // no whole group: all are single columns
    first = 0;
    last = -1;
    edge_left = left + right + 1;
    edge_right = 0;
  }
  for (const auto& [name, value] : {std::pair{"FIRST_FOUR", first}, std::pair{"LAST_FOUR", last},
                                    std::pair{"EDGE_LEFT", edge_left}, std::pair{"EDGE_RIGHT", edge_right}}) {
    source.defines.emplace_back(name, fmt::format("({})", value));
  }
}

void add_sides(KernelSource& source, const VarianceProblem& problem) {
  const int left = static_cast<int>(problem.window_columns / 2);
  const int right = static_cast<int>(problem.window_columns) - 1 - left;
  source.defines.emplace_back("LEFT", std::to_string(left));
  source.defines.emplace_back("RIGHT", std::to_string(right));
  add_fours(source, left, right);
}

}  // namespace

VarianceMethod method_of(const VarianceProblem& problem) {
  if (problem.method != VarianceMethod::best) return problem.method;
  return problem.depth == Depth::f32 ? VarianceMethod::three_wise : VarianceMethod::exact;
}

KernelSource variance_source(const VarianceProblem& problem, const VarianceDesign& design) {
  KernelSource source{.name = "variance", .text = detail::kernel_text("image/variance_common")};
  const auto number = [&](const char* name, std::size_t value) {
    source.defines.emplace_back(name, std::to_string(value));
  };
  number("WINDOW_ROWS", problem.window_rows);
  number("WINDOW_COLUMNS", problem.window_columns);
  number("BORDER", static_cast<std::size_t>(problem.border));
  source.defines.emplace_back("BEYOND", beyond(problem));
  const VarianceMethod method = method_of(problem);
  switch (design.kernel) {
    case VarianceKernel::plain:
      source.text += detail::kernel_text("image/variance_plain");
      source.defines.emplace_back("PIXEL", pixel_type(problem.depth));
      number("METHOD", static_cast<std::size_t>(plain_method(method)));
      if (plain_method(method) == 3) {
        const std::size_t base = method == VarianceMethod::pairwise ? 2 : 3;
        number("BASE", base);
        number("DIGITS", static_cast<std::size_t>(digits(problem.window_rows * problem.window_columns, base)));
      }
      break;
    case VarianceKernel::columns:
      number("LEAVES", method == VarianceMethod::three_wise ? 1 : 0);
      number("ITEMS_HERE", static_cast<std::size_t>(design.items));
      number("TOGETHER", static_cast<std::size_t>(design.together));
      number("RESIDENT", columns_resident(design));
      source.text += detail::kernel_text("image/variance_columns");
      add_sides(source, problem);
      break;
    case VarianceKernel::lanes:
      number("RESIDENT", kLanesResident);
      source.text += detail::kernel_text("image/variance_lanes");
      add_sides(source, problem);
      break;
    case VarianceKernel::exact:
      source.text += detail::kernel_text("image/variance_exact");
      add_sides(source, problem);
      break;
    case VarianceKernel::three_wise:
      source.text += detail::kernel_text("image/variance_ternary");
      number("TOGETHER", static_cast<std::size_t>(design.together));
      break;
  }
  return source;
}

}  // namespace ridge::image::on_device
