// Tests that the host probes do the work they are timed for and that their figures are consistent.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include <ridge/machine.hpp>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/threads.hpp"
#include "machine/host/caches.hpp"
#include "machine/host/kernels.hpp"
#include "machine/host/probes.hpp"
#include "machine/measure.hpp"

namespace ridge::machine {
namespace {

namespace fs = std::filesystem;

// Lanes x (0 + 1 + ... + chains - 1) at the start, plus x * x per lane and iteration.
double expected_sum(const FmaShape& shape, std::size_t iterations, double x) {
  const double chains = static_cast<double>(shape.chains);
  return static_cast<double>(shape.lanes) *
         (chains * (chains - 1) / 2 + chains * x * x * static_cast<double>(iterations));
}

TEST(HostKernels, FmaChainsRunEveryIterationOfEveryChain) {
  for (const std::size_t iterations : {0, 1, 7, 1000}) {
    EXPECT_EQ(fma_chains_float(iterations, 0.5f), expected_sum(fma_shape_float(), iterations, 0.5));
    EXPECT_EQ(fma_chains_double(iterations, 0.25), expected_sum(fma_shape_double(), iterations, 0.25));
  }
  EXPECT_GE(fma_shape_float().chains, 10u);
  EXPECT_GE(fma_shape_float().lanes, fma_shape_double().lanes);
}

// An independent loop in assembly, and its flops per iteration.
#if defined(__aarch64__)
constexpr double kOwnFlops = 2.0 * 4 * 16;
bool has_own_loop() { return true; }
void own_loop(std::size_t iterations) {
  const float factor[4] = {0.75f, 0.75f, 0.75f, 0.75f};
  asm volatile(
      "1:\n ldr q31, [%1]\n"
      "fmla v0.4s, v31.4s, v31.4s\n fmla v1.4s, v31.4s, v31.4s\n fmla v2.4s, v31.4s, v31.4s\n"
      "fmla v3.4s, v31.4s, v31.4s\n fmla v4.4s, v31.4s, v31.4s\n fmla v5.4s, v31.4s, v31.4s\n"
      "fmla v6.4s, v31.4s, v31.4s\n fmla v7.4s, v31.4s, v31.4s\n fmla v16.4s, v31.4s, v31.4s\n"
      "fmla v17.4s, v31.4s, v31.4s\n fmla v18.4s, v31.4s, v31.4s\n fmla v19.4s, v31.4s, v31.4s\n"
      "fmla v20.4s, v31.4s, v31.4s\n fmla v21.4s, v31.4s, v31.4s\n fmla v22.4s, v31.4s, v31.4s\n"
      "fmla v23.4s, v31.4s, v31.4s\n subs %0, %0, #1\n b.ne 1b\n"
      : "+r"(iterations)
      : "r"(factor)
      : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22",
        "v23", "v31");
}
#elif defined(__x86_64__)
constexpr double kOwnFlops = 2.0 * 16 * 12;
bool has_own_loop() { return __builtin_cpu_supports("avx512f"); }
void own_loop(std::size_t iterations) {
  asm volatile(
      "vpxord %%zmm16, %%zmm16, %%zmm16\n vpxord %%zmm17, %%zmm17, %%zmm17\n"
      "vpxord %%zmm18, %%zmm18, %%zmm18\n vpxord %%zmm19, %%zmm19, %%zmm19\n"
      "vpxord %%zmm20, %%zmm20, %%zmm20\n vpxord %%zmm21, %%zmm21, %%zmm21\n"
      "vpxord %%zmm22, %%zmm22, %%zmm22\n vpxord %%zmm23, %%zmm23, %%zmm23\n"
      "vpxord %%zmm24, %%zmm24, %%zmm24\n vpxord %%zmm25, %%zmm25, %%zmm25\n"
      "vpxord %%zmm26, %%zmm26, %%zmm26\n vpxord %%zmm27, %%zmm27, %%zmm27\n"
      "vpxord %%zmm31, %%zmm31, %%zmm31\n 1:\n"
      "vfmadd231ps %%zmm31, %%zmm31, %%zmm16\n vfmadd231ps %%zmm31, %%zmm31, %%zmm17\n"
      "vfmadd231ps %%zmm31, %%zmm31, %%zmm18\n vfmadd231ps %%zmm31, %%zmm31, %%zmm19\n"
      "vfmadd231ps %%zmm31, %%zmm31, %%zmm20\n vfmadd231ps %%zmm31, %%zmm31, %%zmm21\n"
      "vfmadd231ps %%zmm31, %%zmm31, %%zmm22\n vfmadd231ps %%zmm31, %%zmm31, %%zmm23\n"
      "vfmadd231ps %%zmm31, %%zmm31, %%zmm24\n vfmadd231ps %%zmm31, %%zmm31, %%zmm25\n"
      "vfmadd231ps %%zmm31, %%zmm31, %%zmm26\n vfmadd231ps %%zmm31, %%zmm31, %%zmm27\n"
      "dec %0\n jnz 1b\n"
      : "+r"(iterations)
      :
      : "cc", "xmm0");  // a compiler without AVX-512 does not know zmm16 to zmm31 and does not use them
}
#else
constexpr double kOwnFlops = 1;
bool has_own_loop() { return false; }
void own_loop(std::size_t) {}
#endif

TEST(HostKernels, FmaChainsAreAsFastAsALoopInAssembly) {
  if (!has_own_loop()) GTEST_SKIP() << "no loop for this processor";
#ifndef __OPTIMIZE__
  GTEST_SKIP() << "built without optimization";
#endif
  const std::size_t ours = 20'000, own = 30'000;
  double sum = 0;
  const auto seconds = base::best_seconds_interleaved(
      {[&] { sum += fma_chains_float(ours, 0.75f); }, [&] { own_loop(own); }}, {.seconds = 0.1, .at_least = 50});
  EXPECT_GT(sum, 0);
  const double rate = fma_shape_float().flops() * static_cast<double>(ours) / seconds[0];
  const double own_rate = kOwnFlops * static_cast<double>(own) / seconds[1];
  RecordProperty("gflops", std::to_string(rate * 1e-9));
  EXPECT_GT(rate, 0.8 * own_rate) << rate * 1e-9 << " of " << own_rate * 1e-9 << " GFLOP/s";
}

class HostStreams : public testing::TestWithParam<std::size_t> {
 protected:
  HostStreams() : from(GetParam() + 64), to(GetParam() + 64) {
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 31 + i / 251);
    std::memset(to.data(), 0x55, to.size());
  }
  // The first `bytes` are copied and later ones are untouched.
  void expect_copied() {
    EXPECT_EQ(std::memcmp(from.data(), to.data(), GetParam()), 0);
    expect_end_untouched();
  }
  void expect_end_untouched() {
    for (std::size_t i = GetParam(); i < to.size(); ++i) ASSERT_EQ(to[i], std::byte{0x55}) << i;
  }
  base::AlignedArray<std::byte> from, to;
};

TEST_P(HostStreams, CopyMovesAllBytes) {
  copy_bytes(from.data(), to.data(), GetParam());
  expect_copied();
}

TEST_P(HostStreams, StreamingCopyMovesAllBytes) {
  copy_bytes_streaming(from.data(), to.data(), GetParam());
  expect_copied();
}

TEST_P(HostStreams, WritesFillAllWords) {
  for (const bool streaming : {false, true}) {
    const std::uint64_t word = streaming ? 0x0123456789abcdefu : 0xfedcba9876543210u;
    (streaming ? write_bytes_streaming : write_bytes)(to.data(), GetParam(), word);
    for (std::size_t i = 0; i < GetParam(); i += 8) ASSERT_EQ(std::memcmp(to.data() + i, &word, 8), 0) << i;
    expect_end_untouched();
  }
}

TEST_P(HostStreams, ReadSeesEveryWord) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < GetParam(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, from.data() + i, 8);
    all ^= word;
  }
  EXPECT_EQ(read_bytes(from.data(), GetParam()), all);
  if (GetParam() == 0) return;
  from[GetParam() - 1] ^= std::byte{1};
  EXPECT_NE(read_bytes(from.data(), GetParam()), all);
}

INSTANTIATE_TEST_SUITE_P(Sizes, HostStreams, testing::Values(0, 8, 64, 120, 1024, 4104, 65536));

class FakeCaches : public testing::Test {
 protected:
  FakeCaches() : folder(fs::temp_directory_path() / ("ridge-caches-" + std::to_string(getpid()))) {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  ~FakeCaches() override { fs::remove_all(folder); }
  void add(int index, const std::string& type, const std::string& level, const std::string& size,
           const std::string& sharers) {
    const fs::path cache = folder / ("index" + std::to_string(index));
    fs::create_directories(cache);
    std::ofstream(cache / "type") << type << "\n";
    std::ofstream(cache / "level") << level << "\n";
    std::ofstream(cache / "size") << size << "\n";
    std::ofstream(cache / "shared_cpu_list") << sharers << "\n";
  }
  fs::path folder;
};

TEST_F(FakeCaches, ReadsDataAndUnifiedCachesNearestFirst) {
  add(0, "Unified", "3", "32768K", "0-3,8-11");
  add(1, "Instruction", "1", "64K", "0");
  add(2, "Data", "1", "48K", "0");
  add(3, "Unified", "2", "1M", "0");
  const auto caches = host_caches(folder);
  ASSERT_EQ(caches.size(), 3u);
  EXPECT_EQ(caches[0].size, 48u << 10);
  EXPECT_EQ(caches[1].size, 1u << 20);
  EXPECT_EQ(caches[2].size, 32u << 20);
  EXPECT_EQ(caches[2].shared_by, std::min<std::size_t>(8, base::hardware_threads()));
}

TEST_F(FakeCaches, InvalidAndMissingFilesGiveDefaultSizes) {
  add(0, "Data", "1", "-5K", "0");
  add(1, "Data", "99", "64K", "0");
  add(2, "Unified", "2", "99999999999999999999K", "0");
  for (const fs::path& path : {folder, folder / "missing"}) {
    const auto caches = host_caches(path);
    ASSERT_EQ(caches.size(), 3u) << path;
    EXPECT_EQ(caches[0].size, 32u << 10);
    EXPECT_GT(caches[2].size, caches[1].size);
  }
}

TEST(HostProbes, BlocksAreSeparateAndAligned) {
  HostPieces pieces(3, 100'000);
  for (std::size_t thread = 0; thread < 3; ++thread) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pieces.from(thread)) % base::kAlignment, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pieces.to(thread)) % base::kAlignment, 0u);
    EXPECT_GE(pieces.to(thread), pieces.from(thread) + pieces.half());
    if (thread > 0) {
      EXPECT_GE(pieces.from(thread), pieces.to(thread - 1) + pieces.half());
    }
  }
}

TEST(Timetable, GivesEachStepItsShareAndReportsProgress) {
  Timetable table;
  std::vector<double> given;
  const auto keep = [&](double seconds, const Tick& tick) {
    given.push_back(seconds);
    tick(0.5);
  };
  table.add("one", 1, keep);
  table.add("two", 3, keep);
  std::vector<double> shares;
  std::vector<std::string> names;
  table.run(40, [&](double share, const std::string& what) {
    shares.push_back(share);
    names.push_back(what);
  });
  ASSERT_EQ(given.size(), 2u);
  EXPECT_NEAR(given[0], 10, 0.5);
  EXPECT_NEAR(given[1], 40, 0.5);  // the first step used none of its time, which is left to the second
  EXPECT_EQ(shares, (std::vector<double>{0, 0.125, 0.25, 0.625, 1}));
  EXPECT_EQ(names.front(), "one");
}

TEST(Timetable, LateStepsGetAMinimum) {
  Timetable table;
  double given = -1;
  table.add("late", 1, [&](double seconds, const Tick&) { given = seconds; });
  table.run(0, nullptr);
  EXPECT_GT(given, 0);
}

void expect_rate(double rate, const std::string& what) {
  EXPECT_TRUE(std::isfinite(rate)) << what;
  EXPECT_GT(rate, 0) << what;
}

TEST(Measure, HostCeilingsArePositiveAndConsistent) {
  const Profile profile = measure({.devices = {"host"}, .studies = false, .seconds = 2, .progress = {}});
  ASSERT_EQ(profile.devices.size(), 1u);
  const Ceilings& c = profile.devices[0].ceilings;
  EXPECT_TRUE(c.measured);
  EXPECT_EQ(profile.devices[0].id, "host");
  EXPECT_FALSE(profile.hardware.empty());
  EXPECT_EQ(profile.measured_at.size(), 20u) << profile.measured_at;
  expect_rate(c.flops_float, "float");
  expect_rate(c.flops_double, "double");
  expect_rate(c.flops_float_one, "float, one core");
  expect_rate(c.flops_double_one, "double, one core");
  expect_rate(c.launch_seconds, "fork and join");
  ASSERT_GE(c.levels.size(), 2u);
  for (const Level& level : c.levels) {
    for (const Bandwidth& b : {level.all, level.one}) {
      expect_rate(b.read, level.name + " read");
      expect_rate(b.write, level.name + " write");
      expect_rate(b.copy, level.name + " copy");
      EXPECT_EQ(b.copy_streaming > 0, has_streaming_stores()) << level.name;
      EXPECT_EQ(b.write_streaming > 0, has_streaming_stores()) << level.name;
    }
    EXPECT_GT(level.capacity, 0u) << level.name;
  }
  EXPECT_EQ(c.memory().name, "memory");
  EXPECT_GE(c.memory().all.copy, c.memory().all.copy_streaming);
  // Loose bound: other processes may run beside the tests.
  EXPECT_GT(c.levels[0].one.copy, 0.5 * c.memory().one.copy);
  EXPECT_LT(c.memory().all.copy, 4 * (c.memory().all.read + c.memory().all.write));
  EXPECT_TRUE(c.energy.counter.empty() != c.energy.why_not.empty()) << "a counter or the reason there is none";
  EXPECT_EQ(c.copy_while_others_busy, 0) << "there is no other device here";
}

}  // namespace
}  // namespace ridge::machine
