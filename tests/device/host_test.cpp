// The host device, the registry and the override file; needs no GPU and no OpenCL.
#include <gtest/gtest.h>
#include <ridge/device.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "device/registry.hpp"
#include "device/tile_map.hpp"

namespace ridge {
namespace {

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Devices, TheHostIsAlwaysThereAndFirst) {
  ASSERT_FALSE(devices().devices.empty());
  EXPECT_EQ(devices().devices.front().id(), "host");
  EXPECT_TRUE(devices().devices.front().info().runs_on_host_cores);
  for (const Device& device : devices().devices) {  // false for CUDA, true for PoCL
    const bool on_cores = device.info().runs_on_host_cores;
    EXPECT_FALSE(on_cores && device.info().backend == Backend::cuda) << device.id();
    EXPECT_TRUE(on_cores || device.limits().private_arrays_in_registers) << device.id();
  }
  EXPECT_TRUE(host().is_host());
  EXPECT_EQ(device("HOST").id(), "host");
  EXPECT_GE(host().limits().compute_units, 1u);
  EXPECT_GT(host().limits().memory, 0u);
  EXPECT_FALSE(host().info().name.empty());
}

TEST(Devices, AnUnknownNameListsTheDevices) {
  for (const char* name :
       {"cuda:99", "opencl:nonsense", "gpu", "host:1", "opencl:999999999999999999999", ":", "cuda:-1"}) {
    try {
      device(name);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unavailable);
      EXPECT_TRUE(error.callers_mistake());
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("available: host"), std::string::npos);
    }
  }
}

TEST(HostDevice, CopiesFillsAndMaps) {
  Queue queue = host().queue();
  Buffer a = host().buffer(64, {.name = "a"}), b = host().buffer(64, {.name = "b"});
  std::vector<unsigned char> in(64), out(64);
  for (std::size_t i = 0; i < 64; ++i) in[i] = static_cast<unsigned char>(i);
  queue.upload(in.data(), a, 64);
  queue.fill(b, std::byte{7});
  queue.copy(a, b, 16, 8, 32);
  queue.download(b, out.data(), 64);
  queue.finish();
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i >= 32 && i < 48 ? i - 24 : 7);
  EXPECT_EQ(b.map().as<unsigned char>()[32], 8);
  const Event first = queue.record(), second = queue.record();
  EXPECT_TRUE(first.done());
  EXPECT_GE(seconds_between(first, second), 0);
}

TEST(HostDevice, RefusesImpossibleRequests) {
  Queue queue = host().queue();
  Buffer a = host().buffer(64, {.name = "samples"});
  char byte = 0;
  EXPECT_NE(message_of([&] { queue.upload(&byte, a, 65); }).find("\"samples\""), std::string::npos);
  EXPECT_NE(
      message_of([&] { queue.upload(&byte, a, 1, std::numeric_limits<std::size_t>::max()); }).find("past the end"),
      std::string::npos);
  EXPECT_NE(message_of([&] { queue.copy(a, a, 32, 0, 16); }).find("overlaps"), std::string::npos);
  EXPECT_NE(message_of([&] { queue.download(a, nullptr, 1); }).find("null"), std::string::npos);
  EXPECT_NE(message_of([&] { host().buffer(0, {.name = "none"}); }).find("\"none\""), std::string::npos);
  EXPECT_NE(message_of([&] { host().buffer(std::size_t{1} << 60, {.name = "huge"}); }).find("\"huge\""),
            std::string::npos);
  EXPECT_NE(message_of([&] { Buffer().size(); }).find("empty buffer"), std::string::npos);
  EXPECT_NE(message_of([&] { host().compile({.name = "k", .text = ""}); }).find("C++ kernels"), std::string::npos);
  EXPECT_NE(message_of([&] { detail::tile_map(a, {}); }).find("host: needs TMA"), std::string::npos);
}

TEST(Checking, NewMemoryIsPoisonedWithNaN) {
  set_checking(true);
  Buffer a = host().buffer(1000 * sizeof(double));
  for (double v : a.map().as<double>()) ASSERT_TRUE(std::isnan(v));
  for (float v : a.map().as<float>()) ASSERT_TRUE(std::isnan(v));
}

TEST(Overrides, LimitsShrinkAndChangeTheFingerprint) {
  DeviceInfo info;
  info.id = "opencl:0";
  info.backend = Backend::opencl;
  info.limits.work_group = 1024;
  info.limits.work_group_sides = {1024, 1024, 64};
  info.limits.local_memory = 48 << 10;
  const std::string before = info.fingerprint();
  detail::apply_overrides(
      R"({"opencl": {"work_group": 128}, "opencl:0": {"local_memory": 16384}, "cuda:0": {"work_group": 1}})", info);
  EXPECT_EQ(info.limits.work_group, 128u);
  EXPECT_EQ(info.limits.work_group_sides, (std::array<std::size_t, 3>{128, 128, 64}));
  EXPECT_EQ(info.limits.local_memory, 16384u);
  EXPECT_EQ(info.overrides.size(), 2u);
  EXPECT_NE(info.fingerprint(), before);
}

TEST(Overrides, AHostileFileChangesNothing) {
  DeviceInfo info;
  info.id = "opencl:0";
  info.backend = Backend::opencl;
  info.limits.work_group = 1024;
  const std::string before = info.fingerprint();
  const std::string deep(100000, '[');
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), deep, std::string(R"({"*": 3})"),
        std::string(R"({"*": {"work_group": -5}})"), std::string(R"({"*": {"work_group": 1e999}})"),
        std::string(R"({"*": {"work_group": 0}})"), std::string(R"({"*": {"work_group": 2048}})"),
        std::string(R"({"*": {"work_group": "128"}})"), std::string(R"({"*": {"work_group": NaN}})"),
        std::string(R"({"*": {"work_group": 128, "no_such_limit": 1}})"), std::string("\0\xff\xfe", 3)}) {
    EXPECT_THROW(detail::apply_overrides(text, info), Error) << text.substr(0, 60);
    EXPECT_EQ(info.fingerprint(), before) << text.substr(0, 60);
    EXPECT_EQ(info.limits.work_group, 1024u);
  }
}

}  // namespace
}  // namespace ridge
