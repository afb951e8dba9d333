// What an OpenCL device says of itself, in Ridgeline's words.
#pragma once
#include <ridge/device.hpp>

#include "device/opencl/loader.hpp"

namespace ridge::detail::opencl {

// What the back end itself needs to know and callers do not.
struct Traits {
  bool nvidia = false;
  // PoCL up to version 5 keeps the code of a kernel for grids up to some width, an entry a width, and counts who runs
  // it in the first entry of that kernel, whichever it is. Two launches of one kernel with grids of different widths
  // that run side by side make it count one of them twice, and it aborts the process: launches must come one after the
  // other.
  bool one_queue = false;
  // PoCL keeps what it compiled, for each size of work-group, in a folder of its own. Asked for a program's binary it
  // compiles every kernel once more, for groups of any size: twice the time, for code that no launch uses.
  bool keeps_compiled = false;
  // PoCL has Clang read its header of all built-in functions before each program, twice: for most kernels that is three
  // quarters of the time. kernels/builtins.cl takes its place.
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

// Empty where kernels can be compiled and run; else what is in the way.
std::string why_unusable(cl_device_id device);

}  // namespace ridge::detail::opencl
