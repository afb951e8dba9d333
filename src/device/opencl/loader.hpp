// OpenCL without a link dependency: the ICD loader is opened when devices are first listed.
#pragma once
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

namespace ridge::detail::opencl {

// The functions used, by their names in the specification without "cl".
struct Api {
  decltype(&clGetPlatformIDs) GetPlatformIDs = nullptr;
  decltype(&clGetPlatformInfo) GetPlatformInfo = nullptr;
  decltype(&clGetDeviceIDs) GetDeviceIDs = nullptr;
  decltype(&clGetDeviceInfo) GetDeviceInfo = nullptr;
  decltype(&clCreateContext) CreateContext = nullptr;
  decltype(&clReleaseContext) ReleaseContext = nullptr;
  decltype(&clCreateCommandQueue) CreateCommandQueue = nullptr;
  decltype(&clReleaseCommandQueue) ReleaseCommandQueue = nullptr;
  decltype(&clCreateBuffer) CreateBuffer = nullptr;
  decltype(&clCreateSubBuffer) CreateSubBuffer = nullptr;
  decltype(&clReleaseMemObject) ReleaseMemObject = nullptr;
  decltype(&clCreateProgramWithSource) CreateProgramWithSource = nullptr;
  decltype(&clCreateProgramWithBinary) CreateProgramWithBinary = nullptr;
  decltype(&clBuildProgram) BuildProgram = nullptr;
  decltype(&clGetProgramInfo) GetProgramInfo = nullptr;
  decltype(&clGetProgramBuildInfo) GetProgramBuildInfo = nullptr;
  decltype(&clReleaseProgram) ReleaseProgram = nullptr;
  decltype(&clCreateKernel) CreateKernel = nullptr;
  decltype(&clSetKernelArg) SetKernelArg = nullptr;
  decltype(&clGetKernelInfo) GetKernelInfo = nullptr;
  decltype(&clGetKernelArgInfo) GetKernelArgInfo = nullptr;
  decltype(&clGetKernelWorkGroupInfo) GetKernelWorkGroupInfo = nullptr;
  decltype(&clReleaseKernel) ReleaseKernel = nullptr;
  decltype(&clWaitForEvents) WaitForEvents = nullptr;
  decltype(&clGetEventInfo) GetEventInfo = nullptr;
  decltype(&clGetEventProfilingInfo) GetEventProfilingInfo = nullptr;
  decltype(&clReleaseEvent) ReleaseEvent = nullptr;
  decltype(&clFlush) Flush = nullptr;
  decltype(&clFinish) Finish = nullptr;
  decltype(&clEnqueueReadBuffer) EnqueueReadBuffer = nullptr;
  decltype(&clEnqueueWriteBuffer) EnqueueWriteBuffer = nullptr;
  decltype(&clEnqueueCopyBuffer) EnqueueCopyBuffer = nullptr;
  decltype(&clEnqueueReadBufferRect) EnqueueReadBufferRect = nullptr;
  decltype(&clEnqueueWriteBufferRect) EnqueueWriteBufferRect = nullptr;
  decltype(&clEnqueueCopyBufferRect) EnqueueCopyBufferRect = nullptr;
  decltype(&clEnqueueFillBuffer) EnqueueFillBuffer = nullptr;
  decltype(&clEnqueueMapBuffer) EnqueueMapBuffer = nullptr;
  decltype(&clEnqueueUnmapMemObject) EnqueueUnmapMemObject = nullptr;
  decltype(&clEnqueueMigrateMemObjects) EnqueueMigrateMemObjects = nullptr;
  decltype(&clEnqueueNDRangeKernel) EnqueueNDRangeKernel = nullptr;
  decltype(&clEnqueueMarkerWithWaitList) EnqueueMarkerWithWaitList = nullptr;
  decltype(&clEnqueueBarrierWithWaitList) EnqueueBarrierWithWaitList = nullptr;
};

// Opens `library` and binds every function; false, and the reason in `note`, on failure.
bool load(const char* library, Api& api, std::string& note);

// Loads libOpenCL.so.1 once per process. False, and the reason in `note`, on a machine without it.
bool available(std::string& note);

// The library loaded by available(); call only after it returned true.
const Api& api();

}  // namespace ridge::detail::opencl
