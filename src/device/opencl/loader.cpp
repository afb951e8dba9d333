// Opens the ICD loader and binds OpenCL's functions by name.
#include "device/opencl/loader.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

namespace ridge::detail::opencl {
namespace {

constexpr const char* kLibrary = "libOpenCL.so.1";

class Binder {
 public:
  explicit Binder(void* library) : library_(library) {}
  template <class Function>
  void operator()(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

void bind_setup(Binder& bind, Api& api) {
  bind(api.GetPlatformIDs, "clGetPlatformIDs");
  bind(api.GetPlatformInfo, "clGetPlatformInfo");
  bind(api.GetDeviceIDs, "clGetDeviceIDs");
  bind(api.GetDeviceInfo, "clGetDeviceInfo");
  bind(api.CreateContext, "clCreateContext");
  bind(api.ReleaseContext, "clReleaseContext");
  bind(api.CreateCommandQueue, "clCreateCommandQueue");
  bind(api.ReleaseCommandQueue, "clReleaseCommandQueue");
  bind(api.CreateBuffer, "clCreateBuffer");
  bind(api.CreateSubBuffer, "clCreateSubBuffer");
  bind(api.ReleaseMemObject, "clReleaseMemObject");
}

void bind_programs(Binder& bind, Api& api) {
  bind(api.CreateProgramWithSource, "clCreateProgramWithSource");
  bind(api.CreateProgramWithBinary, "clCreateProgramWithBinary");
  bind(api.BuildProgram, "clBuildProgram");
  bind(api.GetProgramInfo, "clGetProgramInfo");
  bind(api.GetProgramBuildInfo, "clGetProgramBuildInfo");
  bind(api.ReleaseProgram, "clReleaseProgram");
  bind(api.CreateKernel, "clCreateKernel");
  bind(api.SetKernelArg, "clSetKernelArg");
  bind(api.GetKernelInfo, "clGetKernelInfo");
  bind(api.GetKernelArgInfo, "clGetKernelArgInfo");
  bind(api.GetKernelWorkGroupInfo, "clGetKernelWorkGroupInfo");
  bind(api.ReleaseKernel, "clReleaseKernel");
}

void bind_queues(Binder& bind, Api& api) {
  bind(api.WaitForEvents, "clWaitForEvents");
  bind(api.GetEventInfo, "clGetEventInfo");
  bind(api.GetEventProfilingInfo, "clGetEventProfilingInfo");
  bind(api.ReleaseEvent, "clReleaseEvent");
  bind(api.Flush, "clFlush");
  bind(api.Finish, "clFinish");
  bind(api.EnqueueReadBuffer, "clEnqueueReadBuffer");
  bind(api.EnqueueWriteBuffer, "clEnqueueWriteBuffer");
  bind(api.EnqueueCopyBuffer, "clEnqueueCopyBuffer");
  bind(api.EnqueueReadBufferRect, "clEnqueueReadBufferRect");
  bind(api.EnqueueWriteBufferRect, "clEnqueueWriteBufferRect");
  bind(api.EnqueueCopyBufferRect, "clEnqueueCopyBufferRect");
  bind(api.EnqueueFillBuffer, "clEnqueueFillBuffer");
  bind(api.EnqueueMapBuffer, "clEnqueueMapBuffer");
  bind(api.EnqueueUnmapMemObject, "clEnqueueUnmapMemObject");
  bind(api.EnqueueMigrateMemObjects, "clEnqueueMigrateMemObjects");
  bind(api.EnqueueNDRangeKernel, "clEnqueueNDRangeKernel");
  bind(api.EnqueueMarkerWithWaitList, "clEnqueueMarkerWithWaitList");
  bind(api.EnqueueBarrierWithWaitList, "clEnqueueBarrierWithWaitList");
}

struct Loaded {
  Api api;
  std::string note;
  bool ok = false;
  Loaded() : ok(load(kLibrary, api, note)) {}
};

// Never closed: drivers keep threads that outlive any order of destruction.
const Loaded& loaded() {
  static const Loaded state;
  return state;
}

}  // namespace

bool load(const char* library, Api& api, std::string& note) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    note = fmt::format("OpenCL: {} not found; apt install ocl-icd-libopencl1 pocl-opencl-icd", library);
    return false;
  }
  Binder bind(handle);
  bind_setup(bind, api);
  bind_programs(bind, api);
  bind_queues(bind, api);
  if (!bind.missing().empty()) {
    note = fmt::format("OpenCL: {} is older than OpenCL 1.2 (it has no {}); apt install ocl-icd-libopencl1", library,
                       bind.missing());
    dlclose(handle);
    return false;
  }
  return true;
}

bool available(std::string& note) {
  note = loaded().note;
  return loaded().ok;
}

const Api& api() { return loaded().api; }

}  // namespace ridge::detail::opencl
