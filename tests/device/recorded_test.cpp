// Recorded devices plan and explain without a driver and run nothing. AmdKernels compiles their kernels.
#include <gmock/gmock.h>

#include <set>

#include <ridge/device.hpp>
#include <ridge/fft.hpp>

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
    const Error error = test::thrown_error([&] { plan.enqueue_forward(queue, in, out); });
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    EXPECT_THAT(error.what(), HasSubstr("plans and explains"));
  }
  EXPECT_THAT(test::thrown_error([] { ridge::device("recorded:abacus"); }).what(), HasSubstr("recorded:mi300x"));
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

}  // namespace
}  // namespace ridge
