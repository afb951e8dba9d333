// VkFFT for OpenCL, with calls resolved at run time.
#include "bench/peers/vkfft.hpp"
// Everything that vkFFT.h includes, so that its includes have no effect inside the namespace.
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peers/opencl_queue.hpp"

namespace ridge::cli::vkfft_opencl {

// Shadow the functions of the same names that cl.h declares and that are not linked.
decltype(&::clBuildProgram) clBuildProgram = nullptr;
decltype(&::clCreateBuffer) clCreateBuffer = nullptr;
decltype(&::clCreateCommandQueue) clCreateCommandQueue = nullptr;
decltype(&::clCreateKernel) clCreateKernel = nullptr;
decltype(&::clCreateProgramWithBinary) clCreateProgramWithBinary = nullptr;
decltype(&::clCreateProgramWithSource) clCreateProgramWithSource = nullptr;
decltype(&::clEnqueueNDRangeKernel) clEnqueueNDRangeKernel = nullptr;
decltype(&::clEnqueueWriteBuffer) clEnqueueWriteBuffer = nullptr;
decltype(&::clFinish) clFinish = nullptr;
decltype(&::clGetDeviceInfo) clGetDeviceInfo = nullptr;
decltype(&::clGetProgramBuildInfo) clGetProgramBuildInfo = nullptr;
decltype(&::clGetProgramInfo) clGetProgramInfo = nullptr;
decltype(&::clReleaseCommandQueue) clReleaseCommandQueue = nullptr;
decltype(&::clReleaseKernel) clReleaseKernel = nullptr;
decltype(&::clReleaseMemObject) clReleaseMemObject = nullptr;
decltype(&::clReleaseProgram) clReleaseProgram = nullptr;
decltype(&::clSetKernelArg) clSetKernelArg = nullptr;

bool load() {
  static const bool loaded =
      bind_opencl(clBuildProgram, "clBuildProgram") && bind_opencl(clCreateBuffer, "clCreateBuffer") &&
      bind_opencl(clCreateCommandQueue, "clCreateCommandQueue") && bind_opencl(clCreateKernel, "clCreateKernel") &&
      bind_opencl(clCreateProgramWithBinary, "clCreateProgramWithBinary") &&
      bind_opencl(clCreateProgramWithSource, "clCreateProgramWithSource") &&
      bind_opencl(clEnqueueNDRangeKernel, "clEnqueueNDRangeKernel") &&
      bind_opencl(clEnqueueWriteBuffer, "clEnqueueWriteBuffer") && bind_opencl(clFinish, "clFinish") &&
      bind_opencl(clGetDeviceInfo, "clGetDeviceInfo") && bind_opencl(clGetProgramBuildInfo, "clGetProgramBuildInfo") &&
      bind_opencl(clGetProgramInfo, "clGetProgramInfo") &&
      bind_opencl(clReleaseCommandQueue, "clReleaseCommandQueue") && bind_opencl(clReleaseKernel, "clReleaseKernel") &&
      bind_opencl(clReleaseMemObject, "clReleaseMemObject") && bind_opencl(clReleaseProgram, "clReleaseProgram") &&
      bind_opencl(clSetKernelArg, "clSetKernelArg");
  return loaded;
}

#define VKFFT_BACKEND 3
#include <vkFFT.h>

struct Transform {
  OpenClQueue at;
  cl_mem in = nullptr, out = nullptr;
  std::uint64_t in_bytes = 0, out_bytes = 0;
  VkFFTApplication application = {};
  ~Transform() { deleteVkFFT(&application); }
};

}  // namespace ridge::cli::vkfft_opencl

namespace ridge::cli {

PeerRun vkfft_on_opencl(const PeerProblem& problem, const Buffer& in, const Buffer& out, Queue& queue) {
  using namespace vkfft_opencl;
  if (!load()) throw Error(ErrorKind::unavailable, "libOpenCL.so.1 lacks a function that VkFFT needs");
  const auto transform = std::make_shared<Transform>();
  transform->at = opencl_queue(queue);
  VkFFTConfiguration wanted = {};
  describe_to_vkfft(problem, in, out, *transform, wanted);
  wanted.device = &transform->at.device;
  wanted.context = &transform->at.context;
  if (const auto made = initializeVkFFT(&transform->application, wanted); made != VKFFT_SUCCESS) {
    throw Error(ErrorKind::unavailable, fmt::format("VkFFT returned error {}", static_cast<int>(made)));
  }
  return [transform] {
    VkFFTLaunchParams launch = {};
    launch.commandQueue = &transform->at.queue;
    launch.inputBuffer = &transform->in;
    launch.buffer = &transform->out;
    if (const auto done = VkFFTAppend(&transform->application, -1, &launch); done != VKFFT_SUCCESS) {
      throw Error(ErrorKind::device, fmt::format("VkFFT returned error {}", static_cast<int>(done)));
    }
  };
}

}  // namespace ridge::cli
