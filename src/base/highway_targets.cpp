// Highway's choice of instruction sets on x86-64, in place of the functions of libhwy. Loading that library takes 3 ms,
// because it measures the resolution of its timer when it is loaded; a process that starts Ridgeline would pay for it.
// Other architectures use libhwy, which the linker drops where nothing needs it.
#include <fmt/format.h>
#include <hwy/targets.h>
#include <ridge/error.hpp>

#include "base/instruction_sets.hpp"

#if defined(__x86_64__)
#include <cpuid.h>

#include <atomic>
#include <cstdint>
#include <initializer_list>

namespace ridge::base {
namespace {

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf) {
  Registers r;
  if (__get_cpuid_count(leaf, 0, &r.a, &r.b, &r.c, &r.d) == 0) return {};
  return r;
}

bool all(unsigned bits, std::initializer_list<int> wanted) {
  for (const int bit : wanted) {
    if ((bits >> bit & 1) == 0) return false;
  }
  return true;
}

// Register sets that the operating system saves.
std::uint64_t saved_state() {
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

std::int64_t detect_targets() {
  const Registers first = cpuid(1), seventh = cpuid(7), extended = cpuid(0x80000001U);
  std::int64_t targets = 0;
  if (!all(first.c, {9})) return targets;  // SSSE3
  targets |= HWY_SSSE3;
  if (!all(first.c, {1, 19, 20, 25})) return targets;  // PCLMUL, SSE4.1, SSE4.2, AES
  targets |= HWY_SSE4;
  const bool has_avx = all(first.c, {12, 27, 28, 29});  // FMA, OSXSAVE, AVX, F16C
  const std::uint64_t saved = has_avx ? saved_state() : 0;
  if ((saved & 0x6) != 0x6 || !all(seventh.b, {3, 5, 8}) || !all(extended.c, {5}))
    return targets;  // BMI, AVX2, BMI2, LZCNT
  targets |= HWY_AVX2;
  if ((saved & 0xe0) != 0xe0 || !all(seventh.b, {16, 17, 28, 30, 31})) return targets;  // AVX-512 F, DQ, CD, BW, VL
  targets |= HWY_AVX3;
  // VBMI, VBMI2, GFNI, VAES, VPCLMULQDQ, VNNI, BITALG, VPOPCNTDQ
  if (all(seventh.c, {1, 6, 8, 9, 10, 11, 12, 14})) targets |= HWY_AVX3_DL;
  return targets;
}

std::atomic<std::int64_t> forced_targets{0};  // 0: none

}  // namespace

void require_built_instructions() {
  if constexpr (HWY_STATIC_TARGET >= HWY_EMU128) return;
  if ((detect_targets() & HWY_STATIC_TARGET) != 0) return;
  throw Error(ErrorKind::unavailable,
              fmt::format("this ridge was built for {} only, which this processor does not have: build it here, or "
                          "anywhere with -DRIDGE_TARGETS=all",
                          hwy::TargetName(HWY_STATIC_TARGET)));
}

}  // namespace ridge::base

// Weak: a program that links Highway's own library statically uses that one.
namespace hwy {

[[gnu::weak]] ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

[[gnu::weak]] int64_t SupportedTargets() {
  static const int64_t detected = ridge::base::detect_targets() | HWY_STATIC_TARGET;
  const int64_t forced = ridge::base::forced_targets.load();
  return forced == 0 ? detected : forced;
}

[[gnu::weak]] void SetSupportedTargetsForTest(int64_t targets) {
  ridge::base::forced_targets.store(targets);
  GetChosenTarget().DeInit();
}

}  // namespace hwy
#else
void ridge::base::require_built_instructions() {}
#endif
