// Loads the CUDA driver and NVRTC at run time. The toolkit provides only the headers, so one binary works with and
// without either, and NVRTC works without a driver.
//
// Names carry the version suffix that the header's type has, written out: cuda.h renames functions to the newest
// version it knows by #define, and an older driver would not have that one.
#pragma once
#include <cuda.h>
#include <nvrtc.h>

#include <string>
#include <vector>

namespace ridge::detail {

struct CudaDriver {
  decltype(&cuInit) init = nullptr;
  decltype(&cuDriverGetVersion) driver_get_version = nullptr;
  decltype(&cuGetErrorName) get_error_name = nullptr;
  decltype(&cuGetErrorString) get_error_string = nullptr;

  decltype(&cuDeviceGetCount) device_get_count = nullptr;
  decltype(&cuDeviceGet) device_get = nullptr;
  decltype(&cuDeviceGetName) device_get_name = nullptr;
  decltype(&cuDeviceTotalMem_v2) device_total_mem = nullptr;
  decltype(&cuDeviceGetAttribute) device_get_attribute = nullptr;
  decltype(&cuDeviceGetPCIBusId) device_get_pci_bus_id = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) primary_context_retain = nullptr;
  decltype(&cuDevicePrimaryCtxRelease_v2) primary_context_release = nullptr;
  decltype(&cuCtxGetCurrent) context_get_current = nullptr;
  decltype(&cuCtxSetCurrent) context_set_current = nullptr;
  CUresult (*context_synchronize)() = nullptr;

  decltype(&cuMemGetInfo_v2) mem_get_info = nullptr;
  decltype(&cuMemAlloc_v2) mem_alloc = nullptr;
  decltype(&cuMemFree_v2) mem_free = nullptr;
  decltype(&cuMemHostAlloc) mem_host_alloc = nullptr;
  decltype(&cuMemFreeHost) mem_free_host = nullptr;
  decltype(&cuMemHostGetDevicePointer_v2) mem_host_get_device_pointer = nullptr;
  decltype(&cuPointerGetAttributes) pointer_get_attributes = nullptr;

  decltype(&cuStreamCreate) stream_create = nullptr;
  decltype(&cuStreamDestroy_v2) stream_destroy = nullptr;
  decltype(&cuStreamSynchronize) stream_synchronize = nullptr;
  decltype(&cuStreamWaitEvent) stream_wait_event = nullptr;
  decltype(&cuMemcpyHtoDAsync_v2) memcpy_host_to_device = nullptr;
  decltype(&cuMemcpyDtoHAsync_v2) memcpy_device_to_host = nullptr;
  decltype(&cuMemcpyAsync) memcpy_any = nullptr;
  decltype(&cuMemcpy3DAsync_v2) memcpy_box = nullptr;
  decltype(&cuMemsetD8Async) memset_bytes = nullptr;
  decltype(&cuLaunchKernel) launch_kernel = nullptr;
  decltype(&cuLaunchKernelEx) launch_kernel_with = nullptr;  // null before CUDA 11.8
  decltype(&cuLaunchCooperativeKernel) launch_cooperative = nullptr;

  decltype(&cuStreamBeginCapture_v2) stream_begin_capture = nullptr;
  decltype(&cuStreamEndCapture) stream_end_capture = nullptr;
  decltype(&cuGraphDestroy) graph_destroy = nullptr;
  decltype(&cuGraphInstantiateWithFlags) graph_instantiate = nullptr;  // null before CUDA 11.4
  decltype(&cuGraphExecDestroy) graph_exec_destroy = nullptr;
  decltype(&cuGraphLaunch) graph_launch = nullptr;

  decltype(&cuEventCreate) event_create = nullptr;
  decltype(&cuEventDestroy_v2) event_destroy = nullptr;
  decltype(&cuEventRecord) event_record = nullptr;
  decltype(&cuEventQuery) event_query = nullptr;
  decltype(&cuEventSynchronize) event_synchronize = nullptr;
  CUresult (*event_elapsed_time)(float*, CUevent, CUevent) = nullptr;

  decltype(&cuModuleLoadDataEx) module_load_data = nullptr;
  decltype(&cuModuleUnload) module_unload = nullptr;
  decltype(&cuModuleGetFunction) module_get_function = nullptr;
  decltype(&cuFuncGetAttribute) function_get_attribute = nullptr;
  decltype(&cuFuncSetAttribute) function_set_attribute = nullptr;
  // From driver 12.0 on; null before.
  decltype(&cuTensorMapEncodeTiled) tensor_map_encode = nullptr;
  // From driver 12.4 on; null before.
  CUresult (*function_get_param_info)(CUfunction, std::size_t, std::size_t*, std::size_t*) = nullptr;
};

struct Nvrtc {
  decltype(&nvrtcVersion) version_function = nullptr;
  decltype(&nvrtcGetErrorString) get_error_string = nullptr;
  decltype(&nvrtcGetNumSupportedArchs) get_num_supported_archs = nullptr;
  decltype(&nvrtcGetSupportedArchs) get_supported_archs = nullptr;
  decltype(&nvrtcCreateProgram) create_program = nullptr;
  decltype(&nvrtcDestroyProgram) destroy_program = nullptr;
  decltype(&nvrtcCompileProgram) compile_program = nullptr;
  decltype(&nvrtcGetProgramLogSize) get_program_log_size = nullptr;
  decltype(&nvrtcGetProgramLog) get_program_log = nullptr;
  decltype(&nvrtcGetPTXSize) get_ptx_size = nullptr;
  decltype(&nvrtcGetPTX) get_ptx = nullptr;
  decltype(&nvrtcGetCUBINSize) get_cubin_size = nullptr;
  decltype(&nvrtcGetCUBIN) get_cubin = nullptr;

  int major = 0, minor = 0;
  std::vector<int> architectures;  // 75, 80, ... 90; rising
  std::string path;                // path of the loaded library
  std::string version() const;     // "13.0"
};

// Loaded once and kept until the process ends (objects with static storage may still call it then). Null if it is not
// installed; `why_not` then holds the reason.
const CudaDriver* cuda_driver(std::string& why_not);
const Nvrtc* nvrtc(std::string& why_not);

}  // namespace ridge::detail
