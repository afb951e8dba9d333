// Compiles and loads CUDA modules; looks up kernels and checks their arguments.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "device/compile_cache.hpp"
#include "device/cuda/state.hpp"
#include "device/dialect.hpp"
#include "device/kernel_pack.hpp"
#include "device/kernel_text.hpp"

namespace ridge::detail {
namespace {

constexpr std::size_t kLocalMemoryWithoutAsking = 48 * 1024;

struct Loaded {
  CUresult result = CUDA_SUCCESS;
  std::shared_ptr<CudaModule> module;
  std::string log;  // log of the driver's compiler if it had to compile PTX
};

Loaded load_module(const std::shared_ptr<CudaDevice>& device, const char* code) {
  std::array<char, 8192> log{};
  std::array<CUjit_option, 2> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size() - 1)};
  CUmodule module = nullptr;
  Loaded loaded;
  loaded.result = device->driver.module_load_data(&module, code, static_cast<unsigned>(options.size()), options.data(),
                                                  values.data());
  loaded.log = log.data();
  if (loaded.result == CUDA_SUCCESS) loaded.module = std::make_shared<CudaModule>(device, module);
  return loaded;
}

int attribute(CudaDevice& device, CUfunction function, CUfunction_attribute which) {
  int value = 0;
  device.check(device.driver.function_get_attribute(&value, which, function), "reading a kernel's attributes");
  return value;
}

std::size_t size_attribute(CudaDevice& device, CUfunction function, CUfunction_attribute which) {
  const int value = attribute(device, function, which);
  return value > 0 ? static_cast<std::size_t>(value) : 0;
}

// Sizes of a kernel's parameters; empty with drivers that cannot report them. Their number is not queried: the driver
// reports the end by an error, which compute-sanitizer counts.
std::optional<std::vector<std::size_t>> parameter_sizes(const CudaDriver& driver, CUfunction function,
                                                        const std::optional<std::size_t>& count) {
  if (!driver.function_get_param_info || !count) return std::nullopt;
  std::vector<std::size_t> sizes(*count);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::size_t offset = 0;
    if (driver.function_get_param_info(function, i, &offset, &sizes[i]) != CUDA_SUCCESS) return std::nullopt;
  }
  return sizes;
}

}  // namespace

std::shared_ptr<ProgramState> CudaDevice::compile(const KernelSource& source) {
  make_current();
  int first_line = 0;
  const std::string assembled = assemble(cuda_prelude(), source, first_line);
  auto program = std::make_shared<CudaProgram>();
  program->name = source.name;
  program->source = {.name = {}, .text = source.text, .defines = source.defines};
  const auto take = [&](const char* code) {
    program->module = load_module(shared_from_this(), code).module;
    program->from_cache = program->module != nullptr;
    return program->from_cache;
  };
  if (shipped_kernels()) {
    for (const CudaTarget& target : shipped_targets(compute)) {
      const auto found = shipped_kernels().find(shipped_key(target, source, assembled));
      if (found && take(found->data())) return program;
    }
  }
  const Nvrtc& compiler = needed_nvrtc();
  const std::optional<CudaTarget> target = choose_target(compiler, compute);
  if (!target) throw Error(ErrorKind::unavailable, label() + " cannot compile kernels: " + too_old(compiler, compute));
  const std::vector<std::string> options = cuda_options(*target, source.relaxed_math);
  const std::string key = compile_key(info.fingerprint(), "nvrtc " + compiler.version(),
                                      fmt::format("{}", fmt::join(options, " ")), assembled);
  if (const std::optional<std::string> found = find_compiled(key); found && take(found->c_str())) return program;
  const std::string code = compile_cuda(compiler, source, assembled, *target, options).code;
  Loaded loaded = load_module(shared_from_this(), code.c_str());
  if (!loaded.module) {
    const std::string newer = fmt::format(
        "; NVRTC {} ({}) may be newer than the driver ({}): update the driver or set CUDA_HOME to an older toolkit",
        compiler.version(), compiler.path, info.driver);
    const std::string log = loaded.log.empty() ? "" : "\n" + loaded.log;
    fail(loaded.result, fmt::format("loading the code of program {}{}{}", source.name, newer, log));
  }
  program->module = std::move(loaded.module);
  store_compiled(key, code);
  return program;
}

// Kernels of the module may still run; the driver does not guarantee to wait for them.
CudaModule::~CudaModule() {
  if (!device->make_current_quietly()) return;
  device->driver.context_synchronize();
  device->driver.module_unload(handle);
}

std::shared_ptr<KernelState> CudaProgram::kernel(const std::string& kernel_name) {
  std::lock_guard lock(kernels_mutex_);
  if (const auto found = kernels_.find(kernel_name); found != kernels_.end()) return found->second;
  CudaDevice& device = *module->device;
  device.make_current();
  CUfunction function = nullptr;
  const CUresult result = device.driver.module_get_function(&function, module->handle, kernel_name.c_str());
  if (result == CUDA_ERROR_NOT_FOUND) {
    throw Error(ErrorKind::invalid_argument, fmt::format("program {} has no kernel \"{}\"", name, kernel_name));
  }
  if (result != CUDA_SUCCESS) device.fail(result, fmt::format("looking for kernel {}", kernel_name));
  auto kernel = std::make_shared<CudaKernel>(module, function, kernel_name, parameter_count(source, kernel_name));
  kernel->early = device.driver.launch_kernel_with != nullptr && device.info.limits.architecture >= 90 &&
                  source.text.find("AFTER_PREVIOUS_KERNEL();") != std::string::npos;
  kernel->together = std::any_of(source.defines.begin(), source.defines.end(),
                                 [](const auto& define) { return define.first == "TOGETHER"; });
  kernels_.emplace(kernel_name, kernel);
  return kernel;
}

CudaKernel::CudaKernel(std::shared_ptr<CudaModule> owner, CUfunction handle, const std::string& kernel_name,
                       std::optional<std::size_t> parameters)
    : module(std::move(owner)), function(handle), shared_name(std::make_shared<const std::string>(kernel_name)) {
  CudaDevice& cuda = *module->device;
  name = kernel_name;
  device = module->device;
  registers = size_attribute(cuda, function, CU_FUNC_ATTRIBUTE_NUM_REGS);
  private_bytes = size_attribute(cuda, function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  work_group = size_attribute(cuda, function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  local_array_bytes_ = size_attribute(cuda, function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  // Clusters of more than eight groups must be enabled, like large local memory.
  int cluster = 0;
  constexpr int kPortableCluster = 8;
  if (cuda.driver.function_get_attribute(&cluster, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, function) !=
      CUDA_SUCCESS) {
    cluster = 0;
  }
  if (cluster > 1) {  // hint: distribute the groups over compute units (3 to 6 % on an H200)
    cuda.driver.function_set_attribute(function, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
                                       CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
  }
  if (cluster > kPortableCluster) {
    cuda.check(cuda.driver.function_set_attribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
               "allowing a large cluster");
  }
  local_block_allowed_ =
      kLocalMemoryWithoutAsking > local_array_bytes_ ? kLocalMemoryWithoutAsking - local_array_bytes_ : 0;
  if (auto sizes = parameter_sizes(cuda.driver, function, parameters)) {
    parameters_known = true;
    parameter_bytes = std::move(*sizes);
  }
}

void CudaKernel::check_arguments(const std::vector<Argument>& arguments) const {
  if (!parameters_known) return;
  if (arguments.size() != parameter_bytes.size()) {
    throw Error(ErrorKind::invalid_argument, fmt::format("kernel {} takes {} arguments, {} were given", name,
                                                         parameter_bytes.size(), arguments.size()));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool buffer = arguments[i].buffer() != nullptr;
    const std::size_t given = buffer ? sizeof(CUdeviceptr) : arguments[i].bytes().size();
    if (given == parameter_bytes[i]) continue;
    throw Error(ErrorKind::invalid_argument,
                fmt::format("kernel {}: argument {} takes {} bytes, {} of {} was given", name, i, parameter_bytes[i],
                            buffer ? "a buffer's address" : "a value", given));
  }
}

void CudaKernel::allow_local_memory(std::size_t bytes) {
  if (bytes <= local_block_allowed_.load(std::memory_order_acquire)) return;
  std::lock_guard lock(local_block_mutex_);
  if (bytes <= local_block_allowed_.load(std::memory_order_relaxed)) return;
  CudaDevice& cuda = *module->device;
  const CUresult result = cuda.driver.function_set_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                             static_cast<int>(bytes));
  if (result == CUDA_ERROR_INVALID_VALUE) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("kernel {}: {} bytes of local memory and {} of its own arrays, {} has {}", name, bytes,
                            local_array_bytes_, cuda.label(), cuda.info.limits.local_memory));
  }
  cuda.check(result, "raising the limit of local memory");
  local_block_allowed_.store(bytes, std::memory_order_release);
}

}  // namespace ridge::detail
