// Writes numbers and tables as constants of kernel text.
#include "image/device/constants_codegen.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace ridge::image::on_device {

// Values below the smallest normal float become 0: as a literal they would be out of range.
std::string literal(double value) {
  return fmt::format("{:.9e}f", std::abs(value) < std::numeric_limits<float>::min() ? 0.0 : value);
}

std::string float_table(const char* name, const std::vector<double>& values) {
  std::string text = fmt::format("CONSTANT_TABLE float {}[{}] = {{", name, values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "" : i % 8 == 0 ? ",\n    " : ", ") + literal(values[i]);
  return text + "};\n";
}

}  // namespace ridge::image::on_device
