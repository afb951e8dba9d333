// The dialect compiled by NVRTC. Needs no driver and no GPU, so every kernel can be compiled by the tests of its module
// on any machine that has the library.
#pragma once
#include <string>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::detail {

#ifdef RIDGE_HAVE_CUDA

bool nvrtc_available();

// The cubin for an architecture ("sm_90"), optimized little: whether it compiles is what is asked. Error{compile} shows
// the source around the fault; Error{unavailable} where NVRTC is not on this machine or does not know the architecture.
std::string compile_for(const KernelSource& source, const std::string& architecture);

// What ptxas says about each kernel of a source.
struct KernelResources {
  std::string kernel;
  int registers = 0;          // a work-item
  int spilled_bytes = 0;      // stores and loads
  int stack_bytes = 0;        // private memory a work-item
  int local_array_bytes = 0;  // LOCAL_ARRAY of the whole group, without LOCAL_BLOCK
};
std::vector<KernelResources> resources_for(const KernelSource& source, const std::string& architecture);

#else

inline bool nvrtc_available() { return false; }

inline std::string compile_for(const KernelSource& source, const std::string&) {
  throw Error(ErrorKind::unavailable, "kernel " + source.name + ": this build has no CUDA headers, so no NVRTC");
}

#endif

}  // namespace ridge::detail
