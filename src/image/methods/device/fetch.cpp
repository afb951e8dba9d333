// Sources of kernels that read single pixels, optionally converted to gray.
#include "image/methods/device/fetch.hpp"

#include "device/kernel_text.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {

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
