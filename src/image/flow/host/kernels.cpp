// Selects the flow kernels that this machine supports.
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include "image/flow/host/host_flow.hpp"

namespace ridge::image::flow {

#if defined(__aarch64__) && defined(__linux__) && defined(RIDGE_HAVE_DOT_PRODUCTS)
extern const Kernels kDotProductKernels;

const Kernels* dot_product_kernels() {
  constexpr unsigned long kDot = 1ul << 20;  // HWCAP_ASIMDDP, absent from older headers
  return (getauxval(AT_HWCAP) & kDot) != 0 ? &kDotProductKernels : nullptr;
}
#else
const Kernels* dot_product_kernels() { return nullptr; }
#endif

std::vector<const Kernels*> host_kernels() {
  std::vector<const Kernels*> all;
  for (const Kernels* kernels : {dot_product_kernels(), portable_kernels()}) {
    if (kernels != nullptr) all.push_back(kernels);
  }
  return all;
}

}  // namespace ridge::image::flow
