// The instruction sets that Highway may use are those that Highway's own library finds.
#include <dlfcn.h>

#include <cstdint>

#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace {

TEST(HighwayTargets, AreThoseOfHighwaysLibrary) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "other architectures use Highway's library";
#endif
  void* const library = dlopen("libhwy.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) GTEST_SKIP() << "needs libhwy.so.1";
  auto* const theirs = reinterpret_cast<std::int64_t (*)()>(dlsym(library, "_ZN3hwy16SupportedTargetsEv"));
  ASSERT_NE(theirs, nullptr);
  // Targets of later processors may be missing in either; those that this build compiles must agree. Emulated vectors
  // are not a target of a build for one instruction set.
  constexpr std::int64_t kCompared = HWY_TARGETS & ~(HWY_EMU128 | HWY_SCALAR);
  EXPECT_EQ(theirs() & kCompared, hwy::SupportedTargets() & kCompared);
}

TEST(HighwayTargets, CanBeLimitedForTests) {
  const std::int64_t before = hwy::SupportedTargets();
  hwy::SetSupportedTargetsForTest(HWY_STATIC_TARGET);
  EXPECT_EQ(hwy::SupportedTargets(), HWY_STATIC_TARGET);
  hwy::SetSupportedTargetsForTest(0);
  EXPECT_EQ(hwy::SupportedTargets(), before);
}

}  // namespace
