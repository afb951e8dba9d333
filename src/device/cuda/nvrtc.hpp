// Compiles the dialect by NVRTC. Needs no driver and no GPU, so tests compile every kernel on any machine with the
// library.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include <ridge/device.hpp>

#include "device/kernel_pack.hpp"

namespace ridge::detail {

// Machine code of one architecture, or PTX, which the driver compiles for that architecture and later ones.
enum class ShippedCode { machine, ptx };

#ifdef RIDGE_HAVE_CUDA

bool nvrtc_available();

// The cubin for an architecture ("sm_90"), with little optimization: only whether it compiles matters. Error{compile}
// shows the source around the error; Error{unavailable} if NVRTC is missing or does not know the architecture.
std::string compile_for(const KernelSource& source, const std::string& architecture);

// The kernel for a pack: its key, and code for an architecture (90 for sm_90) with full optimization.
std::pair<PackKey, std::string> shipped_kernel(const KernelSource& source, int compute, ShippedCode kind);

// Report of ptxas for each kernel of a source.
struct KernelResources {
  std::string kernel;
  int registers = 0;          // per work-item
  int spilled_bytes = 0;      // stores and loads
  int stack_bytes = 0;        // private memory per work-item
  int local_array_bytes = 0;  // LOCAL_ARRAY of the whole group, without LOCAL_BLOCK
};
std::vector<KernelResources> resources_for(const KernelSource& source, const std::string& architecture);

#else

inline bool nvrtc_available() { return false; }

inline std::string compile_for(const KernelSource& source, const std::string&) {
  throw Error(ErrorKind::unavailable, "kernel " + source.name + ": this build has no CUDA headers, so no NVRTC");
}

inline std::pair<PackKey, std::string> shipped_kernel(const KernelSource& source, int, ShippedCode) {
  return {{}, compile_for(source, "")};
}

#endif

}  // namespace ridge::detail
