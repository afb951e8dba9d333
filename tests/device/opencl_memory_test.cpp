// Buffers, copies, events and errors of every OpenCL device of the machine.
#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <numeric>

#include "device/backend.hpp"
#include "device/opencl_support.hpp"

namespace ridge {
namespace {

using test::thrown_error;
using testing::HasSubstr;

class OpenClMemory : public test::OpenCl {};

constexpr std::array kKinds{MemoryKind::device, MemoryKind::pinned, MemoryKind::mapped};

TEST_F(OpenClMemory, DevicesDescribeThemselves) {
  std::size_t number = 0;
  for (const Device& device : test::opencl_devices()) {
    const DeviceInfo& info = device.info();
    EXPECT_EQ(info.id, "opencl:" + std::to_string(number++));
    EXPECT_FALSE(info.name.empty());
    EXPECT_FALSE(info.vendor.empty());
    EXPECT_FALSE(info.isa.empty());
    EXPECT_THAT(info.driver, HasSubstr("OpenCL"));
    EXPECT_GE(info.limits.work_group, 1u);
    EXPECT_LE(info.limits.work_group_sides[2], info.limits.work_group);
    EXPECT_GE(info.limits.local_memory, 1024u);
    EXPECT_GE(info.limits.constant_memory, 1024u);
    EXPECT_GT(info.limits.memory, 0u);
    EXPECT_LE(info.limits.allocation, info.limits.memory);
    EXPECT_EQ(info.limits.alignment & (info.limits.alignment - 1), 0u);
    EXPECT_EQ(ridge::device(info.id).info().name, info.name);
  }
}

TEST_F(OpenClMemory, CopiesWithOffsetsBetweenEveryTwoKinds) {
  constexpr std::size_t bytes = 1000;
  std::vector<unsigned char> in(bytes);
  std::iota(in.begin(), in.end(), static_cast<unsigned char>(0));
  for (const Device& device : test::opencl_devices()) {
    Queue queue = device.queue();
    for (const MemoryKind from_kind : kKinds) {
      for (const MemoryKind to_kind : kKinds) {
        SCOPED_TRACE(device.id());
        const Buffer from = device.buffer(bytes, {.kind = from_kind, .name = "from"});
        const Buffer to = device.buffer(bytes, {.kind = to_kind, .name = "to"});
        std::vector<unsigned char> out(bytes);
        queue.upload(in.data() + 3, from, bytes - 3, 3);
        queue.upload(in.data(), from, 3);
        queue.fill(to, std::byte{0x5c});
        queue.copy(from, to, 333, 100, 555);
        queue.download(to, out.data() + 1, bytes - 1, 1);
        queue.download(to, out.data(), 1);
        queue.finish();
        for (std::size_t i = 0; i < bytes; ++i) {
          const bool copied = i >= 555 && i < 555 + 333;
          ASSERT_EQ(out[i], copied ? in[i - 555 + 100] : 0x5c) << i;
        }
      }
    }
  }
}

TEST_F(OpenClMemory, CopiesInsideOneBuffer) {
  for (const Device& device : test::opencl_devices()) {
    Queue queue = device.queue();
    const Buffer buffer = device.buffer(64, {.name = "both"});
    std::vector<unsigned char> values(64);
    std::iota(values.begin(), values.end(), static_cast<unsigned char>(0));
    queue.upload(values.data(), buffer, 64);
    queue.copy(buffer, buffer, 32, 0, 32);
    queue.download(buffer, values.data(), 64);
    queue.finish();
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(values[i], i % 32);
  }
}

TEST_F(OpenClMemory, FillsOfOddSizes) {
  for (const Device& device : test::opencl_devices()) {
    Queue queue = device.queue();
    for (const std::size_t bytes : {1, 2, 3, 4, 5, 15, 16, 17, 31, 4095, 4097, 1000003}) {
      const Buffer buffer = device.buffer(bytes, {.name = "odd"});
      queue.fill(buffer, std::byte{0x11});
      queue.fill(buffer, std::byte{0xc3});
      std::vector<unsigned char> out(bytes, 0);
      queue.download(buffer, out.data(), bytes);
      queue.finish();
      EXPECT_EQ(out, std::vector<unsigned char>(bytes, 0xc3)) << bytes;
    }
  }
}

TEST_F(OpenClMemory, PinnedAndMappedBuffersAreVisibleToHostAndDevice) {
  constexpr std::size_t n = 257;
  for (const Device& device : test::opencl_devices()) {
    const Kernel kernel =
        device
            .compile({.name = "increment", .text = "KERNEL void increment(GLOBAL int* v) { v[GLOBAL_ID(0)] += 1; }\n"})
            .kernel("increment");
    for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::mapped}) {
      for (const bool write_combined : {false, true}) {
        SCOPED_TRACE(device.id());
        const Buffer buffer = device.buffer(n * 4, {.kind = kind, .name = "shared", .write_combined = write_combined});
        Queue queue = device.queue();
        {
          const Mapping mapping = buffer.map();
          ASSERT_EQ(mapping.size(), n * 4);
          std::iota(mapping.as<std::int32_t>().begin(), mapping.as<std::int32_t>().end(), 0);
        }
        queue.launch(kernel, {.groups = {n}}, {buffer});
        queue.finish();
        const Mapping first = buffer.map();
        {
          const Mapping second = buffer.map();
          EXPECT_EQ(first.data(), second.data());
        }
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(first.as<std::int32_t>()[i], static_cast<std::int32_t>(i + 1));
      }
    }
  }
}

TEST_F(OpenClMemory, DeviceMemoryCannotBeMapped) {
  for (const Device& device : test::opencl_devices()) {
    const Buffer buffer = device.buffer(16, {.name = "far"});
    const Error error = thrown_error([&] { buffer.map(); });
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("\"far\""));
  }
}

TEST_F(OpenClMemory, EventsMeasureTheTimeOfWork) {
  constexpr std::size_t bytes = 16u << 20;
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    Queue queue = device.queue();
    const Buffer buffer = device.buffer(bytes, {.name = "work"});
    queue.fill(buffer, std::byte{1});
    queue.finish();
    const Event first = queue.record();
    queue.fill(buffer, std::byte{2});
    const Event second = queue.record();
    queue.fill(buffer, std::byte{3});
    const Event third = queue.record();
    third.wait();
    EXPECT_TRUE(first.done());
    EXPECT_TRUE(third.done());
    EXPECT_GT(seconds_between(first, second), 0);
    EXPECT_GT(seconds_between(first, third), seconds_between(first, second));
    EXPECT_LT(seconds_between(first, third), 60);
    EXPECT_EQ(seconds_between(first, first), 0);
  }
}

TEST_F(OpenClMemory, AQueueWaitsForAnEventOfAnother) {
  constexpr std::size_t bytes = 4u << 20;
  for (const Device& device : test::opencl_devices()) {
    Queue producer = device.queue(), consumer = device.queue();
    const Buffer from = device.buffer(bytes, {.name = "from"}), to = device.buffer(bytes, {.name = "to"});
    std::vector<unsigned char> out(bytes);
    for (unsigned char round = 1; round < 8; ++round) {
      producer.fill(from, std::byte{round});
      const Event ready = producer.record();
      consumer.wait_for(ready);
      consumer.copy(from, to, bytes);
      consumer.download(to, out.data(), bytes);
      consumer.finish();
      ASSERT_EQ(out, std::vector<unsigned char>(bytes, round));
    }
  }
}

TEST_F(OpenClMemory, BuffersThatDoNotFitAreNamedWithTheirSize) {
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    for (const MemoryKind kind : kKinds) {
      const Error error =
          thrown_error([&] { device.buffer(std::size_t{1} << 60, {.kind = kind, .name = "everything"}); });
      EXPECT_EQ(error.kind(), ErrorKind::out_of_memory) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("\"everything\""));
      EXPECT_THAT(error.what(), HasSubstr(device.id()));
    }
  }
}

// Buffers that fit one by one but not together: PoCL would allocate them all and get the process killed at first touch.
TEST_F(OpenClMemory, TogetherBuffersCannotExceedTheDevice) {
  const bool was_checking = checking();
  set_checking(false);  // checking mode would touch them all
  for (const Device& device : test::opencl_devices()) {
    // A GPU would really allocate them and leave nothing to concurrent tests.
    if (!device.info().shares_host_memory) continue;
    SCOPED_TRACE(device.id());
    const std::size_t each = device.limits().allocation;
    const std::size_t most = device.limits().memory / each;
    std::vector<Buffer> buffers;
    const auto take = [&] { buffers.push_back(device.buffer(each, {.name = "share"})); };
    const Error error = thrown_error([&] {
      for (std::size_t i = 0; i <= most; ++i) take();
    });
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("\"share\""));
    ASSERT_FALSE(buffers.empty());
    EXPECT_LE(buffers.size(), most);
    buffers.pop_back();
    EXPECT_NO_THROW(take()) << "freed memory can be allocated again";
  }
  set_checking(was_checking);
}

// Checking mode must detect an overrun of one element on either side, so fences and the caller's bytes must be kept
// apart.
TEST_F(OpenClMemory, AnOverrunNamesKernelAndBuffer) {
  const bool was_checking = checking();
  set_checking(true);
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    const Kernel kernel =
        device.compile({.name = "stray", .text = "KERNEL void stray(GLOBAL float* v, int at) { v[at] = 1.0f; }\n"})
            .kernel("stray");
    const Buffer left = device.buffer(40, {.name = "left"}), victim = device.buffer(40, {.name = "victim"});
    Queue queue = device.queue();
    for (const std::int32_t at : {-1, 10}) {
      const Error error = thrown_error([&] { queue.launch(kernel, {}, {victim, at}); });
      EXPECT_EQ(error.kind(), ErrorKind::device);
      EXPECT_THAT(error.what(), HasSubstr("stray"));
      EXPECT_THAT(error.what(), HasSubstr("\"victim\""));
    }
    queue.launch(kernel, {}, {victim, std::int32_t{9}});
    std::array<std::uint32_t, 10> words{};
    queue.download(victim, words.data(), 40);
    queue.finish();
    EXPECT_EQ(words[0], 0xffffffffu) << "new memory is poisoned";
    EXPECT_EQ(words[9], 0x3f800000u);
  }
  set_checking(was_checking);
}

// An out-of-bounds read whose value is discarded damages no fence; the guarded pages after the buffer detect it.
TEST_F(OpenClMemory, AReadPastTheEndNamesKernelAndBuffer) {
  const bool was_checking = checking();
  set_checking(true);
  std::size_t guarded = 0;
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    const Kernel kernel =
        device
            .compile({.name = "peek",
                      .text = "KERNEL void peek(GLOBAL const float2* v, GLOBAL float* out, int at) {\n"
                              "  const float seen = v[at].x;\n"
                              "  out[0] = at < 5 ? seen : 2.0f;\n"
                              "  if (seen == 12345.0f) out[1] = seen;\n"
                              "}\n"})
            .kernel("peek");
    const Buffer victim = device.buffer(40, {.name = "victim"}), out = device.buffer(8, {.name = "out"});
    if (victim.state().allocation->guard() == nullptr) continue;
    ++guarded;
    Queue queue = device.queue();
    queue.fill(victim, std::byte{0});
    queue.launch(kernel, {}, {victim, out, std::int32_t{4}});
    const std::size_t slack =
        victim.state().allocation->guard()->slack();  // bytes that the device's alignment leaves unguarded
    for (const std::int32_t at : {5, 6, 1000, 100000}) {
      if (static_cast<std::size_t>(at - 5) * 8 < slack) continue;
      const Error error = thrown_error([&] { queue.launch(kernel, {}, {victim, out, at}); });
      EXPECT_EQ(error.kind(), ErrorKind::device);
      EXPECT_THAT(error.what(), HasSubstr("peek"));
      EXPECT_THAT(error.what(), HasSubstr("\"victim\""));
      EXPECT_THAT(error.what(), HasSubstr(std::to_string((at - 5) * 8 + 1) + " bytes past its end"));
    }
    queue.launch(kernel, {}, {victim, out, std::int32_t{0}});
  }
  set_checking(was_checking);
  if (guarded == 0) GTEST_SKIP() << "no device that computes in this process";
}

}  // namespace
}  // namespace ridge
