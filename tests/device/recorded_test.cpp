// Recorded devices plan and explain without a driver and run nothing; their kernels compile for AMD's processors by
// clang, without registers spilled to memory.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <ridge/device.hpp>
#include <ridge/fft.hpp>

#include "base/files.hpp"
#include "device/dialect.hpp"
#include "device/opencl_support.hpp"
#include "device/registry.hpp"

namespace ridge {
namespace {

using testing::HasSubstr;

TEST(RecordedDevices, PlanEveryLengthAndRunNothing) {
  for (const std::string& id : detail::recorded_devices()) {
    const Device device = ridge::device(id);
    EXPECT_TRUE(device.info().recorded);
    for (const std::size_t n : {1, 2, 1000, 1009, 4096, 65536}) {
      const fft::Plan<float> plan(device, {.shape = {n}, .batch = 8});
      EXPECT_THAT(plan.explain(), HasSubstr(id)) << n;
      EXPECT_FALSE(plan.kernels().empty()) << n;
    }
    const fft::Plan<float> plan(device, {.shape = {64}});
    Queue queue = device.queue();
    const Buffer in = device.buffer(64 * 8, {.name = "in"}), out = device.buffer(64 * 8, {.name = "out"});
    const Error error = test::error_of([&] { plan.enqueue_forward(queue, in, out); });
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    EXPECT_THAT(error.what(), HasSubstr("plans and explains"));
  }
  EXPECT_THAT(test::error_of([] { ridge::device("recorded:abacus"); }).what(), HasSubstr("recorded:mi300x"));
}

TEST(RecordedDevices, RefuseFeaturesTheyLack) {
  const auto allowed = [](const char* id, std::size_t n) {
    std::set<std::string> names;
    for (const planner::Candidate& one : fft::candidates<float>(ridge::device(id), n)) {
      if (one.refusal.empty()) names.insert(one.variant);
    }
    return names;
  };
  for (const char* id : {"recorded:mi300x", "recorded:a100"}) {  // neither has clusters nor TMA
    EXPECT_EQ(allowed(id, 1 << 16).count("cluster"), 0u) << id;
    EXPECT_EQ(allowed(id, 1 << 16).count("two_pass_tma"), 0u) << id;
    EXPECT_FALSE(allowed(id, 1 << 16).empty()) << id;
  }
  for (const std::string& id : detail::recorded_devices()) {  // any length: no butterflies for its prime factors
    EXPECT_FALSE(allowed(id.c_str(), 3'025'003).empty()) << id;
  }
  EXPECT_THROW(fft::Plan<double>(ridge::device("recorded:a770"), {.shape = {64}}), Error);  // no double
}

// A clang that compiles OpenCL C for AMD; empty if there is none.
std::string amd_compiler() {
  for (const char* name : {"clang-19", "clang-20", "clang-18", "clang-17", "clang-16"}) {
    const std::string command = fmt::format(
        "command -v {0} >/dev/null && {0} -x cl -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib -S /dev/null -o "
        "/dev/null "
        "2>/dev/null",
        name);
    if (std::system(command.c_str()) == 0) return name;
  }
  return "";
}

// The number after a key of the compiler's report, summed over the kernels of a text.
std::size_t reported(const std::string& text, const std::string& key) {
  std::size_t sum = 0;
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
    sum += std::strtoul(text.c_str() + at + key.size(), nullptr, 10);
  }
  return sum;
}

TEST(RecordedDevices, KernelsCompileForAmd) {
  const std::string compiler = amd_compiler();
  if (compiler.empty()) GTEST_SKIP() << "no clang for AMD's gfx942 on this machine";
  const test::FreshCache cache;
  const std::filesystem::path scratch = cache.kernels();
  std::filesystem::create_directories(scratch);
  std::set<std::string> seen;
  for (const char* id : {"recorded:mi300x", "recorded:mi250x", "recorded:rx7900"}) {
    const Device device = ridge::device(id);
    for (const std::size_t n : {std::size_t{1024}, std::size_t{1009}, std::size_t{1} << 16}) {
      for (const KernelSource& source : fft::Plan<float>(device, {.shape = {n}, .batch = 64}).kernels()) {
        int first_line = 0;
        const std::string text = detail::assemble(detail::opencl_prelude(device.info()), source, first_line);
        if (!seen.insert(id + text).second) continue;
        const std::string in = scratch / "kernel.cl", out = scratch / "kernel.s", log = scratch / "log";
        std::ofstream(in) << text;
        const std::string command = fmt::format(
            "{} -x cl -cl-std=CL2.0 -Xclang -finclude-default-header -target amdgcn-amd-amdhsa -mcpu={} -nogpulib -O2 "
            "-w -S {} -o {} >{} 2>&1",
            compiler, device.info().isa, in, out, log);
        ASSERT_EQ(std::system(command.c_str()), 0)
            << id << " " << n << " " << base::read_file(log, 1 << 20).value_or("");
        const std::string report = base::read_file(out, 1 << 26).value_or("");
        EXPECT_GT(reported(report, ".vgpr_count:"), 0u) << id << " " << n;
        EXPECT_EQ(reported(report, ".vgpr_spill_count:"), 0u) << id << " " << n << " " << source.name;
      }
    }
  }
  EXPECT_GT(seen.size(), 6u);
}

}  // namespace
}  // namespace ridge
