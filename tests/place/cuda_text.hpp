// Compiles kernels as CUDA text with NVRTC; needs no GPU.
#pragma once
#ifdef RIDGE_HAVE_CUDA
#include <string>

#include "device/cuda/compiler.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/dialect.hpp"

namespace place_test {

inline std::string ptx(const std::string& text, const std::string& prelude) {
  std::string why;
  const ridge::detail::Nvrtc* compiler = ridge::detail::nvrtc(why);
  const ridge::KernelSource source{.name = "placed", .text = text};
  int first_line = 0;
  const ridge::detail::CudaTarget target{"compute_90"};
  return ridge::detail::compile_cuda(*compiler, source, ridge::detail::assemble(prelude, source, first_line), target,
                                     ridge::detail::cuda_options(target, source.relaxed_math))
      .code;
}

}  // namespace place_test
#endif
