// Compiles a kernel text for a target, and reads registers and spills from the log of ptxas.
#include "device/cuda/nvrtc.hpp"

#include <fmt/format.h>

#include <charconv>
#include <sstream>
#include <string_view>

#include "device/compile_cache.hpp"
#include "device/cuda/compiler.hpp"
#include "device/dialect.hpp"

namespace ridge::detail {
namespace {

CudaTarget required_target(const Nvrtc& compiler, const std::string& architecture) {
  int compute = 0;
  const std::size_t number = architecture.find('_') + 1;  // of "sm_90a" and "compute_90"
  const bool named = number > 0;
  const char* end = architecture.data() + architecture.size();
  if (named) std::from_chars(architecture.data() + number, end, compute);
  for (int known : compiler.architectures) {
    if (named && compute == known) return {architecture};
  }
  throw Error(ErrorKind::unavailable,
              fmt::format("NVRTC {} does not compile for {}: it knows sm_{}", compiler.version(), architecture,
                          fmt::join(compiler.architectures, ", sm_")));
}

Compiled compile(const KernelSource& source, const std::string& architecture, const std::vector<std::string>& extra) {
  const Nvrtc& compiler = needed_nvrtc();
  const CudaTarget target = required_target(compiler, architecture);
  int first_line = 0;
  const std::string assembled = assemble(cuda_prelude(), source, first_line);
  std::vector<std::string> options = cuda_options(target, source.relaxed_math);
  options.insert(options.end(), extra.begin(), extra.end());
  return compile_cuda(compiler, source, assembled, target, options);
}

// Number before (or after) a phrase: "16 bytes spill stores", "Used 24 registers".
int number_before(std::string_view line, std::string_view phrase) {
  const std::size_t at = line.find(phrase);
  if (at == std::string_view::npos) return 0;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int number = 0;
  std::from_chars(line.data() + begin, line.data() + at, number);
  return number;
}

// ptxas names a kernel on one line and describes it on the lines that follow.
std::vector<KernelResources> read_resources(const std::string& log) {
  std::vector<KernelResources> kernels;
  std::istringstream lines(log);
  constexpr std::string_view opening = "Compiling entry function '";
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t at = line.find(opening); at != std::string::npos) {
      const std::size_t begin = at + opening.size();
      kernels.push_back({.kernel = line.substr(begin, line.find('\'', begin) - begin)});
    } else if (!kernels.empty()) {
      KernelResources& kernel = kernels.back();
      kernel.stack_bytes += number_before(line, " bytes stack frame");
      kernel.spilled_bytes += number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
      kernel.registers += number_before(line, " registers");
      kernel.local_array_bytes += number_before(line, " bytes smem");
    }
  }
  return kernels;
}

}  // namespace

const Nvrtc& needed_nvrtc() {
  std::string why_not;
  if (const Nvrtc* compiler = nvrtc(why_not)) return *compiler;
  throw Error(ErrorKind::unavailable, "a kernel must be compiled: " + why_not);
}

PackKey shipped_key(const CudaTarget& target, const KernelSource& source, std::string_view assembled) {
  const std::string text =
      compile_key("cuda", "", fmt::format("{}", fmt::join(cuda_options(target, source.relaxed_math), " ")), assembled);
  return {hash_of(text), hash_of(text, 0x2545f4914f6cdd1du)};
}

std::vector<CudaTarget> shipped_targets(int compute) {
  std::vector<CudaTarget> targets{own_target(compute)};
  for (const int base : {100, 90, 89, 86, 80}) {
    if (base <= compute) targets.push_back(ptx_target(base));
  }
  return targets;
}

std::pair<PackKey, std::string> shipped_kernel(const KernelSource& source, int compute, ShippedCode kind) {
  const CudaTarget target = kind == ShippedCode::ptx ? ptx_target(compute) : own_target(compute);
  int first_line = 0;
  const PackKey key = shipped_key(target, source, assemble(cuda_prelude(), source, first_line));
  std::string code = compile(source, target.architecture, {}).code;
  if (kind == ShippedCode::ptx) code.push_back('\0');  // the driver reads up to a zero
  return {key, std::move(code)};
}

bool nvrtc_available() {
  std::string why_not;
  return nvrtc(why_not) != nullptr;
}

std::string compile_for(const KernelSource& source, const std::string& architecture) {
  return compile(source, architecture, {"--ptxas-options=-O1"}).code;
}

std::vector<KernelResources> resources_for(const KernelSource& source, const std::string& architecture) {
  // NVRTC 13 caches its results if there is a driver, and reports nothing about cached kernels.
  std::vector<std::string> options = {"--ptxas-options=-v"};
  if (needed_nvrtc().major >= 13) options.emplace_back("--no-cache");
  return read_resources(compile(source, architecture, options).log);
}

}  // namespace ridge::detail
