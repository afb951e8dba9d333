// Kernel arguments and sources shared by the device steps.
#include "image/methods/device/steps.hpp"

#include <cmath>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {

std::vector<Argument> arguments_of(const Image& image) {
  const std::size_t each = bytes_of(image.depth());
  return {image.buffer(), std::uint64_t{image.offset() / each}, std::uint64_t{image.pitch() / each}};
}

bool aligned_for_vec4(const Image& image) {
  const std::size_t four = 4 * bytes_of(image.depth());
  return image.offset() % four == 0 && image.pitch() % four == 0;
}

const char* element_type(Depth depth) {
  constexpr const char* kTypes[] = {"uchar", "ushort", "float", "uint", "double"};
  return kTypes[static_cast<std::size_t>(depth)];
}

std::uint64_t groups_for(std::size_t count, std::size_t each) {
  return static_cast<std::uint64_t>((count + each - 1) / each);
}

bool border_fits(const Chain& chain, Depth depth) {
  const double most = depth == Depth::u8 ? 255 : 65535;
  return chain.border != Border::constant ||
         (chain.constant >= 0 && chain.constant <= most && chain.constant == std::floor(chain.constant));
}

double values_of(const Shape& shape) { return static_cast<double>(shape.rows * shape.columns * shape.channels); }

KernelSource vec4_source(const char* file, const Shape& in, Border border, double constant) {
  constexpr const char* kBorders[] = {"bordered_101", "bordered_reflect", "bordered_replicate", "bordered_constant",
                                      "bordered_wrap"};
  return {.name = file,
          .text = detail::kernel_text("image/operator_common") + detail::kernel_text("image/operator_vec4"),
          .defines = {{"DEPTH", std::to_string(bytes_of(in.depth))},
                      {"CHANNELS", std::to_string(in.channels)},
                      {"BORDERED", kBorders[static_cast<std::size_t>(border)]},
                      {"BEYOND", literal(constant)}}};
}

void Vec4Step::enqueue(Queue& queue, const Image& in, const Image&, const Image& out) const {
  std::vector<Argument> arguments = arguments_of(in);
  for (const Argument& each : arguments_of(out)) arguments.push_back(each);
  for (const int value : {static_cast<int>(in.rows()), static_cast<int>(in.columns()), aligned_for_vec4(in) ? 1 : 0,
                          aligned_for_vec4(out) ? 1 : 0}) {
    arguments.emplace_back(value);
  }
  queue.launch(kernel_, launch_, arguments);
}

void TableStep::enqueue(Queue& queue, const Image& in, const Image&, const Image& out) const {
  std::vector<Argument> arguments = arguments_of(in);
  for (const Argument& each : arguments_of(out)) arguments.push_back(each);
  for (const std::size_t number : numbers(in, out)) arguments.emplace_back(static_cast<int>(number));
  for (const Buffer& table : tables_) arguments.emplace_back(table);
  queue.launch(kernel_, launch_, arguments);
}

const Operation* operation_besides_grays(const Link& link) {
  const Operation* found = nullptr;
  for (const Operation& operation : link.operations) {
    if (std::holds_alternative<Gray>(operation)) continue;
    if (found != nullptr) return nullptr;
    found = &operation;
  }
  return found;
}

KernelSource fetch_source(const char* file, const Link& link) {
  KernelSource source = vec4_source(file, link.in, Border::replicate, 0);
  source.defines[1].second = std::to_string(link.out.channels);
  source.defines.emplace_back("IN_CHANNELS", std::to_string(link.in.channels));
  if (link.in.channels != link.out.channels) {
    source.defines.insert(source.defines.end(), {{"GRAY_FIRST", ""},
                                                 {"RED", literal(Gray::kWeights[0])},
                                                 {"GREEN", literal(Gray::kWeights[1])},
                                                 {"BLUE", literal(Gray::kWeights[2])}});
  }
  source.text += detail::kernel_text("image/operator_fetch") + detail::kernel_text(std::string("image/") + file);
  return source;
}

}  // namespace ridge::image::on_device
