// VkFFT for CUDA, with driver and NVRTC calls resolved at run time.
#include "bench/peers/vkfft.hpp"
// Everything that vkFFT.h includes, so that its includes have no effect inside the namespace.
#include <cuComplex.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <memory.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/loader.hpp"

namespace ridge::cli::vkfft_cuda {

const detail::CudaDriver* driver = nullptr;
const detail::Nvrtc* compiler = nullptr;
std::string architecture;           // "sm_90"
CUstream current_stream = nullptr;  // of the transform being planned or run

// Shadow the functions of the same names that the headers declare and that are not linked. Runtime API calls are
// implemented with the driver API.
decltype(&::cuDeviceGetAttribute) cuDeviceGetAttribute = nullptr;
decltype(&::cuFuncSetAttribute) cuFuncSetAttribute = nullptr;
decltype(&::cuLaunchKernel) cuLaunchKernel = nullptr;
decltype(&::cuModuleGetFunction) cuModuleGetFunction = nullptr;
decltype(&::cuModuleGetGlobal) cuModuleGetGlobal = nullptr;
decltype(&::cuModuleLoadDataEx) cuModuleLoadDataEx = nullptr;
decltype(&::cuModuleUnload) cuModuleUnload = nullptr;

// Copies in stream order: VkFFT changes the kernels' constants between launches, and our streams do not synchronize
// with the default stream it would use.
constexpr auto cuMemcpyHtoD = [](CUdeviceptr to, const void* from, std::size_t bytes) {
  return driver->memcpy_host_to_device(to, from, bytes, current_stream);
};

cudaError_t error_of(CUresult result) { return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorUnknown; }

constexpr auto cudaMalloc = [](void** memory, std::size_t bytes) {
  CUdeviceptr address = 0;
  const CUresult result = driver->mem_alloc(&address, bytes);
  *memory = reinterpret_cast<void*>(address);
  return error_of(result);
};
constexpr auto cudaFree = [](void* memory) {
  return error_of(driver->mem_free(reinterpret_cast<CUdeviceptr>(memory)));
};
constexpr auto cudaMemcpy = [](void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {  // host to device only
  return error_of(cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(to), from, bytes));
};
constexpr auto cudaDeviceSynchronize = [] { return error_of(driver->context_synchronize()); };
constexpr auto cudaEventCreate = [](cudaEvent_t* event) {
  return error_of(driver->event_create(event, CU_EVENT_DEFAULT));
};
constexpr auto cudaEventDestroy = [](cudaEvent_t event) { return error_of(driver->event_destroy(event)); };
constexpr auto cudaEventRecord = [](cudaEvent_t event, cudaStream_t stream) {
  return error_of(driver->event_record(event, stream));
};
constexpr auto cudaEventSynchronize = [](cudaEvent_t event) { return error_of(driver->event_synchronize(event)); };

// Compiles to machine code for this device instead of VkFFT's PTX for the oldest architecture, which is slower.
constexpr auto nvrtcCreateProgram = [](nvrtcProgram* program, const char* text, const char* name, int, const void*,
                                       const void*) {
  return compiler->create_program(program, text, name, 0, nullptr, nullptr);
};
constexpr auto nvrtcCompileProgram = [](nvrtcProgram program, int, const void*) {
  const std::string option = "--gpu-architecture=" + architecture;
  const char* options[] = {option.c_str()};
  return compiler->compile_program(program, 1, options);
};
constexpr auto nvrtcDestroyProgram = [](nvrtcProgram* program) { return compiler->destroy_program(program); };
constexpr auto nvrtcGetErrorString = [](nvrtcResult result) { return compiler->get_error_string(result); };
constexpr auto nvrtcGetProgramLog = [](nvrtcProgram program, char* log) {
  return compiler->get_program_log(program, log);
};
constexpr auto nvrtcGetPTXSize = [](nvrtcProgram program, std::size_t* bytes) {
  return compiler->get_cubin_size(program, bytes);
};
constexpr auto nvrtcGetPTX = [](nvrtcProgram program, char* code) { return compiler->get_cubin(program, code); };
[[maybe_unused]] constexpr auto nvrtcAddNameExpression = [](nvrtcProgram, const char*) { return NVRTC_SUCCESS; };

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

bool load(std::string& why_not) {
  static const std::string reason = []() -> std::string {
    std::string text;
    driver = detail::cuda_driver(text);
    compiler = detail::nvrtc(text);
    if (driver == nullptr || compiler == nullptr) return text;
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const bool all =
        library != nullptr && find(library, "cuDeviceGetAttribute", cuDeviceGetAttribute) &&
        find(library, "cuFuncSetAttribute", cuFuncSetAttribute) && find(library, "cuLaunchKernel", cuLaunchKernel) &&
        find(library, "cuModuleGetFunction", cuModuleGetFunction) &&
        find(library, "cuModuleGetGlobal_v2", cuModuleGetGlobal) &&
        find(library, "cuModuleLoadDataEx", cuModuleLoadDataEx) && find(library, "cuModuleUnload", cuModuleUnload);
    return all ? "" : "libcuda.so.1 lacks a function that VkFFT needs";
  }();
  why_not = reason;
  return reason.empty();
}

#define VKFFT_BACKEND 1
#include <vkFFT.h>

struct Transform {
  CUdevice device = 0;
  cudaStream_t stream = nullptr;
  void *in = nullptr, *out = nullptr;
  std::uint64_t in_bytes = 0, out_bytes = 0;
  VkFFTApplication application = {};
  ~Transform() { deleteVkFFT(&application); }
};

}  // namespace ridge::cli::vkfft_cuda

namespace ridge::cli {

PeerRun vkfft_on_cuda(const PeerProblem& problem, const Buffer& in, const Buffer& out, Queue& queue) {
  using namespace vkfft_cuda;
  std::string why_not;
  if (!load(why_not)) throw Error(ErrorKind::unavailable, why_not);
  const DeviceInfo& info = queue.device().info();
  architecture = info.isa;
  const auto transform = std::make_shared<Transform>();
  // "cuda:3" is device 3 of the driver.
  if (driver->device_get(&transform->device, std::stoi(info.id.substr(info.id.find(':') + 1))) != CUDA_SUCCESS) {
    throw Error(ErrorKind::unavailable, "the CUDA driver does not find " + info.id);
  }
  transform->stream = reinterpret_cast<cudaStream_t>(queue.native());
  current_stream = transform->stream;
  VkFFTConfiguration wanted = {};
  describe_to_vkfft(problem, in, out, *transform, wanted);
  wanted.device = &transform->device;
  wanted.stream = &transform->stream;
  wanted.num_streams = 1;
  if (const auto made = initializeVkFFT(&transform->application, wanted); made != VKFFT_SUCCESS) {
    throw Error(ErrorKind::unavailable, fmt::format("VkFFT returned error {}", static_cast<int>(made)));
  }
  return [transform] {
    current_stream = transform->stream;
    VkFFTLaunchParams launch = {};
    launch.inputBuffer = &transform->in;
    launch.buffer = &transform->out;
    if (const auto done = VkFFTAppend(&transform->application, -1, &launch); done != VKFFT_SUCCESS) {
      throw Error(ErrorKind::device, fmt::format("VkFFT returned error {}", static_cast<int>(done)));
    }
  };
}

}  // namespace ridge::cli
