// Checks the parameters of a variance problem.
#include <cmath>

#include <fmt/format.h>
#include <ridge/image/variance.hpp>

#include "image/text.hpp"

namespace ridge::image {

const char* to_string(VarianceMethod method) { return kVarianceMethods.name(method); }
VarianceMethod variance_method(const std::string& name) { return kVarianceMethods.value(name); }

void check(const VarianceProblem& problem) {
  check(Shape{.rows = problem.rows, .columns = problem.columns, .depth = problem.depth}, "variance: image");
  const auto refuse = [](const std::string& why) { throw Error(ErrorKind::invalid_argument, "variance: " + why); };
  if (problem.depth == Depth::u32 || problem.depth == Depth::f64) {
    refuse(fmt::format("needs 8-bit, 16-bit or float images, got {}", to_string(problem.depth)));
  }
  constexpr std::size_t kMost = 4096;
  if (problem.window_rows == 0 || problem.window_columns == 0 || problem.window_rows > kMost ||
      problem.window_columns > kMost) {
    refuse(fmt::format("a window of {}x{}: each side must be in 1 to {}", problem.window_columns, problem.window_rows,
                       kMost));
  }
  if (problem.method == VarianceMethod::exact && problem.depth == Depth::f32) {
    refuse("the exact method needs integer pixels, got float: use three-wise or best");
  }
  if (problem.border == Border::constant) {
    const double most = problem.depth == Depth::u8 ? 255 : 65535;
    const bool whole =
        problem.constant >= 0 && problem.constant <= most && problem.constant == std::floor(problem.constant);
    if (problem.depth == Depth::f32 ? !std::isfinite(problem.constant) : !whole) {
      refuse(fmt::format("the border constant {:g} is not a value of {} images", problem.constant,
                         to_string(problem.depth)));
    }
  }
}

}  // namespace ridge::image
