// Builds OpenCL programs, quotes the source in compile errors, and creates kernels.
#include "device/opencl/program.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "device/compile_cache.hpp"
#include "device/dialect.hpp"
#include "device/kernel_text.hpp"
#include "device/opencl/device.hpp"
#include "device/traits.hpp"

namespace ridge::detail::opencl {
namespace {

// Contraction is disabled by the prelude's pragma, and no option may enable it unless the caller asked for relaxed
// arithmetic. Division and square root are IEEE if the compiler offers it, as in CUDA.
std::string build_options(const ClDevice& device, const KernelSource& source) {
  std::string options = "-cl-std=CL1.2";
  const Traits& traits = device.traits();
  if (!traits.nvidia && device.info.limits.sub_group > 0) {
    options = traits.version >= 30 ? "-cl-std=CL3.0" : "-cl-std=CL2.0";
  }
  options += " -cl-kernel-arg-info -w";  // no warnings: PoCL prints their number on stderr
  if (source.relaxed_math) {
    options += " -cl-fast-relaxed-math -cl-denorms-are-zero";
  } else if (traits.correctly_rounded) {
    options += " -cl-fp32-correctly-rounded-divide-sqrt";
  }
  if (device.without_ptx) options += " -DRIDGE_NO_PTX";
  // OpenCL cannot express it in the source.
  const Limits& limits = device.info.limits;
  const std::size_t registers = limits.registers > 0 ? limits.registers : unit_capacity(limits).registers;
  const int bound = traits.nvidia ? register_bound(source.text, registers) : 0;
  if (bound > 0) options += fmt::format(" -cl-nv-maxrregcount={}", bound);
  return options;
}

std::string assembled_source(const ClDevice& device, const KernelSource& source) {
  int first_line = 0;
  return assemble(opencl_prelude(device.info), source, first_line);
}

std::string build_log(cl_program program, cl_device_id device) {
  std::size_t size = 0;
  if (api().GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS) return "";
  std::string log(size, '\0');
  if (api().GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) != CL_SUCCESS) {
    return "";
  }
  const auto end = log.find('\0');
  if (end != std::string::npos) log.resize(end);
  return log;
}

struct Build {
  Owned<cl_program> program;
  cl_int status = CL_SUCCESS;
  std::string log;  // set on failure
};

Build build_from_source(ClDevice& device, const std::string& text, const std::string& options) {
  Build build;
  const char* start = text.data();
  const std::size_t length = text.size();
  build.program = Owned<cl_program>(api().CreateProgramWithSource(device.context(), 1, &start, &length, &build.status));
  check(build.status, device.info.id, "creating a program");
  const cl_device_id id = device.device();
  build.status = api().BuildProgram(build.program.get(), 1, &id, options.c_str(), nullptr, nullptr);
  if (build.status != CL_SUCCESS) build.log = build_log(build.program.get(), id);
  return build;
}

// Nothing if the driver does not accept the binary.
std::optional<Owned<cl_program>> build_from_binary(ClDevice& device, const std::string& binary,
                                                   const std::string& options) {
  const cl_device_id id = device.device();
  const std::size_t size = binary.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  cl_int loaded = CL_SUCCESS;
  cl_int status = CL_SUCCESS;
  Owned<cl_program> program(api().CreateProgramWithBinary(device.context(), 1, &id, &size, &bytes, &loaded, &status));
  if (status != CL_SUCCESS || loaded != CL_SUCCESS) return std::nullopt;
  if (api().BuildProgram(program.get(), 1, &id, options.c_str(), nullptr, nullptr) != CL_SUCCESS) return std::nullopt;
  return program;
}

// Empty if the driver does not provide it; then nothing is cached.
std::string binary_of(cl_program program) {
  std::size_t size = 0;
  if (api().GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS) return "";
  std::string binary(size, '\0');
  char* target = binary.data();
  if (size == 0 || api().GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof target, &target, nullptr) != CL_SUCCESS) {
    return "";
  }
  return binary;
}

// Called after a build has failed on NVIDIA: decides between an error in the source and a driver that refuses inline
// PTX.
bool takes_ptx(ClDevice& device) {
  const KernelSource probe{.name = "inline PTX",
                           .text =
                               "KERNEL void probe(GLOBAL float4* RESTRICT out, GLOBAL const float4* RESTRICT in) {\n"
                               "  STORE_ONCE(out, LOAD_ONCE(in));\n"
                               "  STORE_ONCE(out + 1, LOAD_CACHED(in + 1));\n"
                               "#if SUB_GROUP_WIDTH > 0\n"
                               "  out[2].x = SHUFFLE_XOR(in[2].x, 1);\n"
                               "#endif\n"
                               "}\n"};
  return build_from_source(device, assembled_source(device, probe), build_options(device, probe)).status == CL_SUCCESS;
}

// Uses the declarations of builtins.cl instead of Clang's header, whose guard is _OPENCL_H_. They are the
// functions of OpenCL C 1.2; sub-groups need a later version.
Build build_with_few_builtins(ClDevice& device, const KernelSource& source, const std::string& text) {
  return build_from_source(device, kernel_text("device/builtins") + text,
                           build_options(device, source) + " -D_OPENCL_H_");
}

Build build_with_all_builtins(ClDevice& device, const KernelSource& source, const std::string& text) {
  Build build = build_from_source(device, text, build_options(device, source));
  if (build.status == CL_SUCCESS || !device.traits().nvidia || device.without_ptx || takes_ptx(device)) return build;
  device.without_ptx = true;
  base::warn(
      fmt::format("{}: this driver's compiler refuses inline PTX; kernels run without sub-group shuffles and "
                  "streaming accesses",
                  device.info.id));
  return build_from_source(device, text, build_options(device, source));
}

Build build_program(ClDevice& device, const KernelSource& source, const std::string& text) {
  const bool few = device.traits().reads_clang_header && device.info.limits.sub_group == 0 && !device.all_builtins;
  if (few) {
    Build build = build_with_few_builtins(device, source, text);
    if (build.status == CL_SUCCESS) return build;
  }
  Build build = build_with_all_builtins(device, source, text);
  if (!few || build.status != CL_SUCCESS) return build;
  // Either this program needs another function, or the compiler does not accept these declarations.
  const KernelSource probe{.name = "few built-in functions",
                           .text = "KERNEL void probe(GLOBAL int* p) { *p = LOCAL_ID(0); }\n"};
  device.all_builtins = build_with_few_builtins(device, probe, assembled_source(device, probe)).status != CL_SUCCESS;
  return build;
}

std::string key_of(const ClDevice& device, const KernelSource& source, const std::string& text) {
  return compile_key(device.info.fingerprint(), device.info.driver, build_options(device, source), text);
}

std::string kernel_names(cl_program program) {
  std::size_t size = 0;
  if (api().GetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size) != CL_SUCCESS || size < 2)
    return "none";
  std::string names(size, '\0');
  if (api().GetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, size, names.data(), nullptr) != CL_SUCCESS) return "none";
  names.resize(names.find('\0') == std::string::npos ? size : names.find('\0'));
  std::string list;
  for (const char c : names) list += c == ';' ? std::string(", ") : std::string(1, c);
  return list;
}

}  // namespace

std::string program_key(const ClDevice& device, const KernelSource& source) {
  return key_of(device, source, assembled_source(device, source));
}

std::shared_ptr<ProgramState> compile_program(const std::shared_ptr<ClDevice>& device, const KernelSource& source) {
  const std::string text = assembled_source(*device, source), key = key_of(*device, source, text);
  const bool caches = !device->traits().keeps_compiled || compile_cache_takes_all();
  const auto state = [&](KeptProgram program, bool cached) {
    return std::make_shared<ClProgram>(device, std::move(program), source.name, cached);
  };
  const bool keeps = !caches && !compile_cache_is_off();
  if (keeps) {
    if (KeptProgram program = device->kept(key)) return state(std::move(program), true);
  }
  if (const auto binary = caches ? find_compiled(key) : std::nullopt) {
    if (auto program = build_from_binary(*device, *binary, build_options(*device, source))) {
      return state(std::make_shared<const Owned<cl_program>>(std::move(*program)), true);
    }
  }
  Build build = build_program(*device, source, text);
  if (build.status == CL_BUILD_PROGRAM_FAILURE) {
    throw Error(ErrorKind::compile, compile_message(source, text, build.log));
  }
  check(build.status, device->info.id, fmt::format("compiling \"{}\"", source.name));
  if (const std::string binary = caches ? binary_of(build.program.get()) : ""; !binary.empty()) {
    store_compiled(key, binary);
  }
  auto program = std::make_shared<const Owned<cl_program>>(std::move(build.program));
  if (keeps) device->keep(key, program);
  return state(std::move(program), false);
}

ClProgram::ClProgram(std::shared_ptr<ClDevice> device, KeptProgram program, const std::string& program_name,
                     bool cached)
    : device_(std::move(device)), program_(std::move(program)) {
  name = program_name;
  from_cache = cached;
}

std::shared_ptr<KernelState> ClProgram::kernel(const std::string& kernel_name) {
  cl_int status = CL_SUCCESS;
  Owned<cl_kernel> kernel(api().CreateKernel(program_->get(), kernel_name.c_str(), &status));
  if (status == CL_INVALID_KERNEL_NAME) {
    throw Error(ErrorKind::invalid_argument, fmt::format("program \"{}\" has no kernel \"{}\"; its kernels are: {}",
                                                         name, kernel_name, kernel_names(program_->get())));
  }
  check(status, device_->info.id, fmt::format("creating kernel \"{}\" from program \"{}\"", kernel_name, name));
  return std::make_shared<ClKernel>(device_, std::move(kernel), kernel_name);
}

}  // namespace ridge::detail::opencl
