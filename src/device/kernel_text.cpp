#include "device/kernel_text.hpp"

#include <ridge/error.hpp>

#include <fmt/format.h>

namespace ridge::detail {

const std::string& kernel_text(std::string_view name) {
  const auto found = embedded_kernels().find(name);
  if (found != embedded_kernels().end()) return found->second;
  throw Error(ErrorKind::internal, fmt::format("kernel file {} is not part of this build", name));
}

}  // namespace ridge::detail
