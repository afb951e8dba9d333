// Tests KEEPS_DENORMALS: if it is 1, arithmetic on floats below 2^-126 is exact. It is 1 on NVIDIA devices.
#include <gtest/gtest.h>
#include <ridge/device.hpp>

#include <bit>
#include <cstdint>
#include <vector>

#include "support/devices.hpp"

namespace ridge {
namespace {

class Denormals : public test::NeedsAccelerator<> {};

TEST_F(Denormals, AreKeptWhereTheDialectSaysSo) {
  // Loaded, stored, scaled up and down by powers of two, added, and multiplied with one rounding.
  constexpr const char* kText = R"(
KERNEL void denormals(GLOBAL const float* in, GLOBAL float* out, GLOBAL int* keeps) {
  keeps[0] = KEEPS_DENORMALS;
  const float x = in[0], small = in[1];
  out[0] = x;
  out[1] = x * 0.5f;
  out[2] = small * 0.25f;
  out[3] = x + x;
  out[4] = FMA(small, 0.25f, x);
  out[5] = x * 16777216.0f;
}
)";
  const float smallest = 0x1p-126f, x = std::bit_cast<float>(std::uint32_t{0x00012344});
  const std::vector<float> in = {x, smallest};
  const std::vector<float> expected = {x, x * 0.5f, smallest * 0.25f, x + x, smallest * 0.25f + x, x * 16777216.0f};
  ASSERT_GT(expected[1], 0.0f) << "the host flushes denormals";
  for (const Device& device : test::accelerators()) {
    SCOPED_TRACE(device.id());
    const Kernel kernel = device.compile({.name = "denormals", .text = kText}).kernel("denormals");
    Queue queue = device.queue();
    const Buffer from = device.buffer(in.size() * sizeof(float)), keeps = device.buffer(sizeof(int));
    const Buffer to = device.buffer(expected.size() * sizeof(float));
    queue.upload(std::span<const float>(in), from);
    queue.launch(kernel, {.groups = {1}, .items = {1}}, {from, to, keeps});
    std::vector<float> got(expected.size(), -1);
    std::vector<int> kept(1, -1);
    queue.download(to, std::span(got));
    queue.download(keeps, std::span(kept));
    queue.finish();
    if (device.info().backend == Backend::cuda) {
      EXPECT_EQ(kept[0], 1);
    }
    if (kept[0] == 0) continue;
    ASSERT_EQ(kept[0], 1);
    EXPECT_EQ(got, expected);
  }
}

}  // namespace
}  // namespace ridge
