// Chooses the target of NVRTC for a device, its options, and compiles.
#include "device/cuda/compiler.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/dialect.hpp"

namespace ridge::detail {
namespace {

struct Session {
  const Nvrtc& compiler;
  nvrtcProgram program = nullptr;
  explicit Session(const Nvrtc& nvrtc) : compiler(nvrtc) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (program) compiler.destroy_program(&program);
  }
};

void check(const Nvrtc& compiler, nvrtcResult result, const KernelSource& source, const char* what) {
  if (result == NVRTC_SUCCESS) return;
  throw Error(ErrorKind::internal, fmt::format("kernel {}: NVRTC {} failed to {}: {}", source.name, compiler.version(),
                                               what, compiler.get_error_string(result)));
}

// The text sizes that NVRTC returns include the terminating zero.
std::string without_closing_zero(std::string text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

std::string program_log(const Nvrtc& compiler, nvrtcProgram program) {
  std::size_t size = 0;
  if (compiler.get_program_log_size(program, &size) != NVRTC_SUCCESS || size == 0) return {};
  std::string log(size, '\0');
  if (compiler.get_program_log(program, log.data()) != NVRTC_SUCCESS) return {};
  return without_closing_zero(std::move(log));
}

std::string machine_code(const Nvrtc& compiler, nvrtcProgram program, const KernelSource& source) {
  std::size_t size = 0;
  check(compiler, compiler.get_cubin_size(program, &size), source, "return the size of the machine code");
  std::string code(size, '\0');
  check(compiler, compiler.get_cubin(program, code.data()), source, "return the machine code");
  return code;
}

std::string ptx(const Nvrtc& compiler, nvrtcProgram program, const KernelSource& source) {
  std::size_t size = 0;
  check(compiler, compiler.get_ptx_size(program, &size), source, "return the size of the PTX");
  std::string code(size, '\0');
  check(compiler, compiler.get_ptx(program, code.data()), source, "return the PTX");
  return without_closing_zero(std::move(code));
}

}  // namespace

// wgmma exists in this architecture alone and needs its specific target name.
CudaTarget own_target(int compute) { return {fmt::format("sm_{}{}", compute, compute == 90 ? "a" : "")}; }

CudaTarget ptx_target(int compute) { return {fmt::format("compute_{}", compute)}; }

std::optional<CudaTarget> choose_target(const Nvrtc& compiler, int compute) {
  const std::vector<int>& known = compiler.architectures;
  if (std::find(known.begin(), known.end(), compute) != known.end())
    return compiler.major >= 12 ? own_target(compute) : CudaTarget{fmt::format("sm_{}", compute)};
  auto above = std::upper_bound(known.begin(), known.end(), compute);
  if (above == known.begin()) return std::nullopt;
  return ptx_target(*(above - 1));
}

std::string too_old(const Nvrtc& compiler, int compute) {
  return fmt::format("it is sm_{}, and NVRTC {} compiles for sm_{} and newer: set CUDA_HOME to an older toolkit",
                     compute, compiler.version(), compiler.architectures.front());
}

std::vector<std::string> cuda_options(const CudaTarget& target, bool relaxed_math) {
  std::vector<std::string> options = {"--gpu-architecture=" + target.architecture, "--std=c++17",
                                      "--device-as-default-execution-space", "--disable-warnings"};
  if (relaxed_math) options.emplace_back("--use_fast_math");
  // After --use_fast_math, which would enable contraction: kernels write FMAs explicitly.
  options.emplace_back("--fmad=false");
  return options;
}

Compiled compile_cuda(const Nvrtc& compiler, const KernelSource& source, const std::string& assembled,
                      const CudaTarget& target, const std::vector<std::string>& options) {
  Session session(compiler);
  check(compiler,
        compiler.create_program(&session.program, assembled.c_str(), source.name.c_str(), 0, nullptr, nullptr), source,
        "accept the source");
  std::vector<const char*> words;
  words.reserve(options.size());
  for (const std::string& option : options) words.push_back(option.c_str());
  const nvrtcResult result = compiler.compile_program(session.program, static_cast<int>(words.size()), words.data());
  Compiled compiled;
  compiled.log = program_log(compiler, session.program);
  if (result == NVRTC_ERROR_COMPILATION)
    throw Error(ErrorKind::compile, compile_message(source, assembled, compiled.log));
  if (result != NVRTC_SUCCESS) {
    throw Error(ErrorKind::internal,
                fmt::format("kernel {}: NVRTC {} ({}): {}\n{}", source.name, compiler.version(),
                            fmt::join(options, " "), compiler.get_error_string(result), compiled.log));
  }
  compiled.code =
      target.machine_code() ? machine_code(compiler, session.program, source) : ptx(compiler, session.program, source);
  return compiled;
}

}  // namespace ridge::detail
