// Native OpenCL handles of a queue, and the ICD loader, for OpenCL peers.
#pragma once
#include <dlfcn.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <ridge/device.hpp>

namespace ridge::cli {

// The loader that Ridgeline's back end has opened; nullptr if there is none.
inline void* opencl_library() {
  static void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  return library;
}

template <class Function>
bool bind_opencl(Function*& function, const char* name) {
  function = opencl_library() == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(opencl_library(), name));
  return function != nullptr;
}

struct OpenClQueue {
  cl_command_queue queue = nullptr;
  cl_context context = nullptr;
  cl_device_id device = nullptr;
};

inline OpenClQueue opencl_queue(const Queue& queue) {
  OpenClQueue found{.queue = reinterpret_cast<cl_command_queue>(queue.native())};
  decltype(&clGetCommandQueueInfo) info = nullptr;
  if (!bind_opencl(info, "clGetCommandQueueInfo") ||
      info(found.queue, CL_QUEUE_CONTEXT, sizeof found.context, &found.context, nullptr) != CL_SUCCESS ||
      info(found.queue, CL_QUEUE_DEVICE, sizeof found.device, &found.device, nullptr) != CL_SUCCESS) {
    throw Error(ErrorKind::unavailable, "the OpenCL driver does not report the queue's context");
  }
  return found;
}

}  // namespace ridge::cli
