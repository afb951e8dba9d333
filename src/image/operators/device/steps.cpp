#include "image/operators/device/steps.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/operators/device/fours.hpp"

namespace ridge::image::on_device {

std::vector<Argument> arguments_of(const Image& image) {
  const std::size_t each = bytes_of(image.depth());
  return {image.buffer(), std::uint64_t{image.offset() / each}, std::uint64_t{image.pitch() / each}};
}

bool aligned_for_fours(const Image& image) {
  const std::size_t four = 4 * bytes_of(image.depth());
  return image.offset() % four == 0 && image.pitch() % four == 0;
}

const char* element_type(Depth depth) {
  constexpr const char* kTypes[] = {"uchar", "ushort", "float", "uint", "double"};
  return kTypes[static_cast<std::size_t>(depth)];
}

// A weight too small for a float is nothing: as a constant it would be out of range.
std::string literal(double value) {
  return fmt::format("{:.9e}f", std::abs(value) < std::numeric_limits<float>::min() ? 0.0 : value);
}

std::string float_table(const char* name, const std::vector<double>& values) {
  std::string text = fmt::format("CONSTANT_TABLE float {}[{}] = {{", name, values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "" : i % 8 == 0 ? ",\n    " : ", ") + literal(values[i]);
  return text + "};\n";
}

std::uint64_t groups_for(std::size_t count, std::size_t each) {
  return static_cast<std::uint64_t>((count + each - 1) / each);
}

KernelSource fours_source(const char* file, const Shape& in, Border border, double constant) {
  constexpr const char* kBorders[] = {"bordered_101", "bordered_reflect", "bordered_replicate", "bordered_constant",
                                      "bordered_wrap"};
  return {.name = file,
          .text = detail::kernel_text("image/operator_common") + detail::kernel_text("image/operator_fours"),
          .defines = {{"DEPTH", std::to_string(bytes_of(in.depth))},
                      {"CHANNELS", std::to_string(in.channels)},
                      {"BORDERED", kBorders[static_cast<std::size_t>(border)]},
                      {"BEYOND", literal(constant)}}};
}

}  // namespace ridge::image::on_device
