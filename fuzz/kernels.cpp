// Fuzz target: convolution kernels as text.
#include "support.hpp"

#include <ridge/stencil/problems.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] {
    const stencil::Kernel kernel = stencil::parse_kernel(std::string(fuzz::text_of(data, size)));
    if (kernel.weights.size() != kernel.rows * kernel.columns || kernel.rows % 2 == 0) std::abort();
  });
}
