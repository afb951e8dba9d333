// Looks for the driver and NVRTC, and binds their functions by name.
#include "device/cuda/loader.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace ridge::detail {
namespace {

namespace fs = std::filesystem;

template <class Function>
bool bind(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::string last_loader_error() {
  const char* text = dlerror();
  return text ? text : "unknown reason";
}

// Name of the first function that the library lacks, or null.
const char* bind_driver(void* library, CudaDriver& driver) {
  const char* missing = nullptr;
  auto need = [&](const char* name, auto& function) {
    if (!bind(library, name, function) && !missing) missing = name;
  };
  need("cuInit", driver.init);
  need("cuDriverGetVersion", driver.driver_get_version);
  need("cuGetErrorName", driver.get_error_name);
  need("cuGetErrorString", driver.get_error_string);
  need("cuDeviceGetCount", driver.device_get_count);
  need("cuDeviceGet", driver.device_get);
  need("cuDeviceGetName", driver.device_get_name);
  need("cuDeviceTotalMem_v2", driver.device_total_mem);
  need("cuDeviceGetAttribute", driver.device_get_attribute);
  need("cuDeviceGetPCIBusId", driver.device_get_pci_bus_id);
  need("cuDevicePrimaryCtxRetain", driver.primary_context_retain);
  need("cuDevicePrimaryCtxRelease_v2", driver.primary_context_release);
  need("cuCtxGetCurrent", driver.context_get_current);
  need("cuCtxSetCurrent", driver.context_set_current);
  need("cuCtxSynchronize", driver.context_synchronize);
  need("cuMemGetInfo_v2", driver.mem_get_info);
  need("cuMemAlloc_v2", driver.mem_alloc);
  need("cuMemFree_v2", driver.mem_free);
  need("cuMemHostAlloc", driver.mem_host_alloc);
  need("cuMemFreeHost", driver.mem_free_host);
  need("cuMemHostGetDevicePointer_v2", driver.mem_host_get_device_pointer);
  need("cuPointerGetAttributes", driver.pointer_get_attributes);
  need("cuStreamCreate", driver.stream_create);
  need("cuStreamDestroy_v2", driver.stream_destroy);
  need("cuStreamSynchronize", driver.stream_synchronize);
  need("cuStreamWaitEvent", driver.stream_wait_event);
  need("cuMemcpyHtoDAsync_v2", driver.memcpy_host_to_device);
  need("cuMemcpyDtoHAsync_v2", driver.memcpy_device_to_host);
  need("cuMemcpyAsync", driver.memcpy_any);
  need("cuMemcpy3DAsync_v2", driver.memcpy_box);
  need("cuMemsetD8Async", driver.memset_bytes);
  need("cuLaunchKernel", driver.launch_kernel);
  need("cuLaunchCooperativeKernel", driver.launch_cooperative);
  need("cuEventCreate", driver.event_create);
  need("cuEventDestroy_v2", driver.event_destroy);
  need("cuEventRecord", driver.event_record);
  need("cuEventQuery", driver.event_query);
  need("cuEventSynchronize", driver.event_synchronize);
  // The first version, which every driver so far has; the second takes the same arguments.
  if (!bind(library, "cuEventElapsedTime", driver.event_elapsed_time)) {
    need("cuEventElapsedTime_v2", driver.event_elapsed_time);
  }
  need("cuModuleLoadDataEx", driver.module_load_data);
  need("cuModuleUnload", driver.module_unload);
  need("cuModuleGetFunction", driver.module_get_function);
  need("cuFuncGetAttribute", driver.function_get_attribute);
  need("cuFuncSetAttribute", driver.function_set_attribute);
  bind(library, "cuLaunchKernelEx", driver.launch_kernel_with);
  bind(library, "cuStreamBeginCapture_v2", driver.stream_begin_capture);
  bind(library, "cuStreamEndCapture", driver.stream_end_capture);
  bind(library, "cuGraphDestroy", driver.graph_destroy);
  bind(library, "cuGraphInstantiateWithFlags", driver.graph_instantiate);
  bind(library, "cuGraphExecDestroy", driver.graph_exec_destroy);
  bind(library, "cuGraphLaunch", driver.graph_launch);
  bind(library, "cuTensorMapEncodeTiled", driver.tensor_map_encode);
  bind(library, "cuFuncGetParamInfo", driver.function_get_param_info);
  return missing;
}

struct LoadedDriver {
  CudaDriver driver;
  bool usable = false;
  std::string why_not;
};

LoadedDriver load_driver() {
  LoadedDriver loaded;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const std::string reason = last_loader_error();
    const bool absent = reason.starts_with("libcuda.so.1:") && reason.find("No such file") != std::string::npos;
    loaded.why_not = absent ? "libcuda.so.1 not found: no NVIDIA driver on this machine"
                            : fmt::format("libcuda.so.1 could not be loaded: {}", reason);
    return loaded;
  }
  if (const char* missing = bind_driver(library, loaded.driver)) {
    loaded.why_not = fmt::format("libcuda.so.1 lacks {}: the NVIDIA driver is older than CUDA 11", missing);
    return loaded;
  }
  loaded.usable = true;
  return loaded;
}

const LoadedDriver& loaded_driver() {
  static const LoadedDriver* loaded = new LoadedDriver(load_driver());
  return *loaded;
}

std::vector<fs::path> nvrtc_folders() {
  std::vector<fs::path> folders;
  auto add_root = [&](const fs::path& root) {
    folders.push_back(root / "lib64");
    folders.push_back(root / "lib");
  };
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable); root && *root) add_root(root);
  }
  add_root("/usr/local/cuda");
  add_root(fs::path(RIDGE_CUDA_HEADERS).parent_path());
  return folders;
}

// In the order they are tried: the system's search path first, then the toolkit's folders.
std::vector<std::string> nvrtc_candidates() {
  const std::vector<std::string> names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
  std::vector<std::string> candidates = names;
  for (const fs::path& folder : nvrtc_folders()) {
    for (const std::string& name : names) {
      std::error_code ignored;
      if (fs::exists(folder / name, ignored)) candidates.push_back((folder / name).string());
    }
  }
  return candidates;
}

bool bind_nvrtc(void* library, Nvrtc& nvrtc) {
  return bind(library, "nvrtcVersion", nvrtc.version_function) &&
         bind(library, "nvrtcGetErrorString", nvrtc.get_error_string) &&
         bind(library, "nvrtcGetNumSupportedArchs", nvrtc.get_num_supported_archs) &&
         bind(library, "nvrtcGetSupportedArchs", nvrtc.get_supported_archs) &&
         bind(library, "nvrtcCreateProgram", nvrtc.create_program) &&
         bind(library, "nvrtcDestroyProgram", nvrtc.destroy_program) &&
         bind(library, "nvrtcCompileProgram", nvrtc.compile_program) &&
         bind(library, "nvrtcGetProgramLogSize", nvrtc.get_program_log_size) &&
         bind(library, "nvrtcGetProgramLog", nvrtc.get_program_log) &&
         bind(library, "nvrtcGetPTXSize", nvrtc.get_ptx_size) && bind(library, "nvrtcGetPTX", nvrtc.get_ptx) &&
         bind(library, "nvrtcGetCUBINSize", nvrtc.get_cubin_size) && bind(library, "nvrtcGetCUBIN", nvrtc.get_cubin);
}

bool ask_nvrtc(Nvrtc& nvrtc) {
  int count = 0;
  if (nvrtc.version_function(&nvrtc.major, &nvrtc.minor) != NVRTC_SUCCESS) return false;
  if (nvrtc.get_num_supported_archs(&count) != NVRTC_SUCCESS || count <= 0) return false;
  nvrtc.architectures.resize(static_cast<std::size_t>(count));
  if (nvrtc.get_supported_archs(nvrtc.architectures.data()) != NVRTC_SUCCESS) return false;
  std::sort(nvrtc.architectures.begin(), nvrtc.architectures.end());
  return true;
}

// CUDA version of the driver, 0 if there is none. Needs no cuInit.
int driver_major() {
  int version = 0;
  const LoadedDriver& loaded = loaded_driver();
  if (loaded.usable) loaded.driver.driver_get_version(&version);
  return version / 1000;
}

struct LoadedNvrtc {
  Nvrtc nvrtc;
  bool usable = false;
  std::string why_not;
};

// A driver loads code of its own major version and older ones, so an NVRTC newer than the driver is used only if there
// is no other.
LoadedNvrtc load_nvrtc() {
  LoadedNvrtc best;
  std::string too_old;
  const int newest = driver_major();
  for (const std::string& candidate : nvrtc_candidates()) {
    void* library = dlopen(candidate.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!library) continue;
    LoadedNvrtc loaded;
    if (!bind_nvrtc(library, loaded.nvrtc) || !ask_nvrtc(loaded.nvrtc)) {
      too_old = candidate;
      dlclose(library);
      continue;
    }
    loaded.nvrtc.path = candidate;
    loaded.usable = true;
    const bool suits = newest == 0 || loaded.nvrtc.major <= newest;
    if (suits) return loaded;
    if (!best.usable) best = std::move(loaded);
  }
  if (!best.usable) {
    const std::string found = too_old.empty() ? "NVRTC not found" : too_old + " is older than CUDA 11.2";
    best.why_not = found +
                   ": install libnvrtc of the CUDA toolkit (package cuda-nvrtc-13-0 or cuda-nvrtc-12-x of NVIDIA, "
                   "libnvrtc11.2 of Debian) or set CUDA_HOME to the toolkit's folder";
  }
  return best;
}

const LoadedNvrtc& loaded_nvrtc() {
  static const LoadedNvrtc* loaded = new LoadedNvrtc(load_nvrtc());
  return *loaded;
}

}  // namespace

std::string Nvrtc::version() const { return fmt::format("{}.{}", major, minor); }

const CudaDriver* cuda_driver(std::string& why_not) {
  const LoadedDriver& loaded = loaded_driver();
  why_not = loaded.why_not;
  return loaded.usable ? &loaded.driver : nullptr;
}

const Nvrtc* nvrtc(std::string& why_not) {
  const LoadedNvrtc& loaded = loaded_nvrtc();
  why_not = loaded.why_not;
  return loaded.usable ? &loaded.nvrtc : nullptr;
}

}  // namespace ridge::detail
