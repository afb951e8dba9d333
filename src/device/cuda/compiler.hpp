// Compilation by NVRTC for the CUDA back end: targets, options and the compilation itself.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/device.hpp>

#include "device/cuda/loader.hpp"
#include "device/kernel_pack.hpp"

namespace ridge::detail {

// Output of NVRTC: machine code, or PTX that the driver compiles if the device is newer than this NVRTC.
struct CudaTarget {
  std::string architecture;  // "sm_90" or "compute_90"
  bool machine_code() const { return architecture.starts_with("sm_"); }
};

// Machine code of the device itself, which any NVRTC that knows the architecture makes: shipped kernels are stored for
// it.
CudaTarget own_target(int compute);
CudaTarget ptx_target(int compute);
// Nothing if the device is older than what this NVRTC supports. `compute` is 90 for sm_90.
std::optional<CudaTarget> choose_target(const Nvrtc& compiler, int compute);

std::string too_old(const Nvrtc& compiler, int compute);  // why choose_target() chose nothing

std::vector<std::string> cuda_options(const CudaTarget& target, bool relaxed_math);

// Opens NVRTC at the first call; Error{unavailable} if it is missing.
const Nvrtc& needed_nvrtc();

// `assembled` is the prelude, defines and text of `source`.
PackKey shipped_key(const CudaTarget& target, const KernelSource& source, std::string_view assembled);
// Shipped code that a device can run: its own machine code, then PTX of its architecture and of older ones.
std::vector<CudaTarget> shipped_targets(int compute);

struct Compiled {
  std::string code;  // cubin or PTX
  std::string log;
};

// `assembled` is the prelude, defines and text of `source`.
Compiled compile_cuda(const Nvrtc& compiler, const KernelSource& source, const std::string& assembled,
                      const CudaTarget& target, const std::vector<std::string>& options);

}  // namespace ridge::detail
