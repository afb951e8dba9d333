// Reads RIDGE_SIMD and disables Highway's newer instruction sets.
#include "base/instruction_sets.hpp"

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>

#include <fmt/format.h>
#include <hwy/targets.h>
#include <ridge/error.hpp>
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace ridge::base {
namespace {

std::string named_set() {
  const char* name = std::getenv("RIDGE_SIMD");
  return name == nullptr ? "" : name;
}

}  // namespace

void limit_instruction_sets() {
  static std::once_flag once;
  std::call_once(once, [] {
    const std::string name = named_set();
    if (name.empty() || name == "fcma" || name == "neon") return;
    // Highway gives better targets lower bits.
    std::int64_t last = 0;
    if (name == "sse4") last = HWY_SSE4;
    if (name == "avx2") last = HWY_AVX2;
    if (name == "avx512") last = HWY_AVX3;
    if (last == 0) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("RIDGE_SIMD={}: unknown instruction set; use sse4, avx2, avx512, neon or fcma", name));
    }
    if (last > HWY_STATIC_TARGET) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("RIDGE_SIMD={}: this build has kernels for {} only; configure it "
                              "with -DRIDGE_TARGETS=all",
                              name, hwy::TargetName(HWY_STATIC_TARGET)));
    }
    // DisableTargets() would be undone by Highway's next query of the supported targets.
    hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(last - 1));
  });
}

bool has_fcma() {
#if defined(__aarch64__)
  constexpr unsigned long kFcma = 1ul << 14;  // HWCAP_FCMA, absent from older headers
  static const bool there = (getauxval(AT_HWCAP) & kFcma) != 0 && named_set() != "neon";
  return there;
#else
  return false;
#endif
}

bool has_fma() {
#if defined(__x86_64__)
  limit_instruction_sets();
  return (hwy::SupportedTargets() & (HWY_AVX2 | (HWY_AVX2 - 1))) != 0;  // better targets have lower bits
#else
  return false;
#endif
}

}  // namespace ridge::base
