// Resolves and checks the strides of a transpose problem.
#include "transpose/layout.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/threads.hpp"

namespace ridge::transpose {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorKind::invalid_argument, "transpose: " + message);
}

std::size_t multiply(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > PTRDIFF_MAX) {
    refuse(fmt::format("{} x {} elements exceed the address space of this machine", a, b));
  }
  return product;
}

std::size_t add(std::size_t a, std::size_t b) {
  std::size_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum) || sum > PTRDIFF_MAX) {
    refuse(fmt::format("the strides reach {} + {} elements, beyond the address space of this machine", a, b));
  }
  return sum;
}

Strides pack(Strides strides, std::size_t rows, std::size_t columns) {
  if (strides.column == 0) strides.column = 1;
  if (strides.row == 0) strides.row = multiply(columns, strides.column);
  // A column-major matrix has the larger of the two strides on its columns.
  if (strides.batch == 0) strides.batch = std::max(multiply(rows, strides.row), multiply(columns, strides.column));
  return strides;
}

// Number of elements from the first to one past the last, gaps included.
std::size_t reach(const Strides& strides, std::size_t rows, std::size_t columns, std::size_t batch) {
  return add(1, add(multiply(rows - 1, strides.row),
                    add(multiply(columns - 1, strides.column), multiply(batch - 1, strides.batch))));
}

struct Axis {
  std::size_t count, stride;
  const char* name;
};

// Output elements are distinct if, in ascending order of strides, each stride is at least the span of all smaller axes.
void check_distinct(const Layout& layout) {
  std::array<Axis, 3> axes{Axis{layout.columns, layout.output.row, "row"},
                           Axis{layout.rows, layout.output.column, "column"},
                           Axis{layout.batch, layout.output.batch, "batch"}};
  std::sort(axes.begin(), axes.end(),
            [](const Axis& a, const Axis& b) { return std::pair(a.stride, a.count) < std::pair(b.stride, b.count); });
  std::size_t below = 1;  // elements spanned by the axes checked so far
  for (const Axis& axis : axes) {
    if (axis.count == 1) continue;
    if (axis.stride < below) {
      refuse(fmt::format("the output's {} stride of {} makes its elements overlap: it must be at least {}", axis.name,
                         axis.stride, below));
    }
    below = add(below, multiply(axis.count - 1, axis.stride));
  }
}

bool same(const Strides& a, const Strides& b) { return a.row == b.row && a.column == b.column && a.batch == b.batch; }

void check_in_place(const Layout& layout) {
  if (layout.rows != layout.columns) {
    refuse(fmt::format("in-place transposition needs a square matrix, got {} x {}", layout.rows, layout.columns));
  }
  if (!same(layout.input, layout.output)) refuse("in-place transposition needs the same strides for input and output");
}

std::string describe(const char* name, const Strides& strides) {
  return fmt::format(" {} strides {}/{}/{}", name, strides.row, strides.column, strides.batch);
}

}  // namespace

Problem adjoint(const Problem& problem) {
  Problem result = problem;
  result.rows = problem.columns;
  result.columns = problem.rows;
  result.input = problem.output;
  result.output = problem.input;
  return result;
}

Layout resolve(const Problem& problem, std::size_t element_bytes) {
  if (element_bytes == 0 || element_bytes > 16 || !std::has_single_bit(element_bytes)) {
    refuse(fmt::format("elements must have 1, 2, 4, 8 or 16 bytes, got {} bytes", element_bytes));
  }
  if (problem.rows == 0 || problem.columns == 0 || problem.batch == 0) {
    refuse(fmt::format("rows, columns and batch must be at least 1: empty problem ({} rows, {} columns, batch {})",
                       problem.rows, problem.columns, problem.batch));
  }
  Layout layout{.rows = problem.rows,
                .columns = problem.columns,
                .batch = problem.batch,
                .input = pack(problem.input, problem.rows, problem.columns),
                .output = {},
                .element_bytes = element_bytes,
                .in_place = problem.in_place,
                .threads = problem.threads == 0 ? base::hardware_threads() : problem.threads};
  const bool output_given = problem.output.row != 0 || problem.output.column != 0 || problem.output.batch != 0;
  layout.output =
      problem.in_place && !output_given ? layout.input : pack(problem.output, problem.columns, problem.rows);
  multiply(multiply(multiply(layout.rows, layout.columns), layout.batch), 2 * element_bytes);
  multiply(reach(layout.input, layout.rows, layout.columns, layout.batch), element_bytes);
  multiply(reach(layout.output, layout.columns, layout.rows, layout.batch), element_bytes);
  if (layout.in_place) check_in_place(layout);
  check_distinct(layout);
  return layout;
}

std::size_t Layout::input_bytes() const { return reach(input, rows, columns, batch) * element_bytes; }
std::size_t Layout::output_bytes() const { return reach(output, columns, rows, batch) * element_bytes; }
bool Layout::output_has_gaps() const { return output_bytes() != elements() * element_bytes; }

std::string Layout::key() const {
  std::string text = fmt::format("{} B {}x{} batch {}", element_bytes, rows, columns, batch);
  if (!same(input, pack({}, rows, columns))) text += describe("input", input);
  if (!same(output, pack({}, columns, rows))) text += describe("output", output);
  if (in_place) text += " in place";
  return text;
}

}  // namespace ridge::transpose
