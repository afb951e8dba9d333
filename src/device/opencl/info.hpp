// Properties of an OpenCL device as DeviceInfo.
#pragma once
#include <ridge/device.hpp>

#include "device/opencl/loader.hpp"

namespace ridge::detail::opencl {

// Properties that only the back end needs.
struct Traits {
  bool nvidia = false;
  // PoCL up to version 5 keeps the code of a kernel per range of grid widths, and counts its users in the first entry
  // of that kernel, whichever it is. Two concurrent launches of one kernel with grids of different widths corrupt the
  // count, and it aborts the process: launches must be serialized.
  bool one_queue = false;
  // PoCL caches compiled code per size of work-group in its own folder. If a program's binary is requested, it compiles
  // every kernel once more, for groups of any size: twice the time, for code that no launch uses.
  bool keeps_compiled = false;
  // PoCL lets Clang parse its header of all built-in functions twice per program: three quarters of the time for most
  // kernels. builtins.cl replaces it.
  bool reads_clang_header = false;
  bool correctly_rounded = false;  // the compiler offers IEEE division and square root in float
  int version = 12;                // of OpenCL, 12 for 1.2
  cl_ulong timer_step = 1;         // ns
};

struct Description {
  DeviceInfo info{};
  Traits traits{};
};

Description describe(cl_platform_id platform, cl_device_id device);

std::string platform_text(cl_platform_id platform, cl_platform_info what);
std::string device_text(cl_device_id device, cl_device_info what);

// Empty if kernels can be compiled and run; else the reason.
std::string why_unusable(cl_device_id device);

}  // namespace ridge::detail::opencl
