// Random fills, and device plans run on host memory.
#include "device/staging.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "device/random.hpp"

namespace {

using ridge::Buffer;
using ridge::Numbers;
using ridge::Queue;

template <class T>
std::vector<T> random_values(std::size_t count, Numbers numbers, std::uint64_t seed = 1) {
  std::vector<T> values(count);
  ridge::fill_random(std::as_writable_bytes(std::span(values)), numbers, seed);
  return values;
}

TEST(Random, NumbersAreInRangeAndUniform) {
  for (const float value : random_values<float>(10001, Numbers::float32)) ASSERT_LE(std::abs(value), 1);
  double sum = 0, squares = 0;
  const auto values = random_values<double>(300000, Numbers::float64);  // filled by more than one thread
  for (const double value : values) {
    ASSERT_TRUE(value >= -1 && value < 1);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 300000, 0, 0.01);
  EXPECT_NEAR(squares / 300000, 1.0 / 3, 0.01);
  EXPECT_EQ(values, random_values<double>(300000, Numbers::float64));
  EXPECT_NE(values, random_values<double>(300000, Numbers::float64, 2));
}

TEST(Random, OddEndsAreFilledAndNotOverrun) {
  for (const std::size_t bytes : {0, 1, 3, 7, 9, 4099}) {
    std::vector<std::byte> memory(bytes + 8, std::byte{0x77});
    ridge::fill_random(std::span(memory).first(bytes), Numbers::bits);
    EXPECT_TRUE(std::all_of(memory.begin() + static_cast<std::ptrdiff_t>(bytes), memory.end(),
                            [](std::byte value) { return value == std::byte{0x77}; }));
  }
}

TEST(Random, FillsBuffersOfEveryDeviceAsTheHost) {
  for (const ridge::Device& device : ridge::devices().devices) {
    for (const std::size_t count : {5u, 1000003u, (1u << 22) + 3}) {  // more than 16 MiB: by a kernel
      Queue queue = device.queue();
      const Buffer buffer = device.buffer(count * sizeof(float), {.name = "random"});
      ridge::fill_random(queue, buffer, Numbers::float32, 7);
      std::vector<float> values(count);
      queue.download(buffer, std::span(values));
      queue.finish();
      EXPECT_TRUE(values == random_values<float>(count, Numbers::float32, 7)) << device.id() << " " << count;
    }
  }
}

TEST(Staging, UploadsAndDownloadsOnEveryDevice) {
  for (const ridge::Device& device : ridge::devices().devices) {
    const ridge::Staging staging(device, "test");
    for (const std::size_t count : {16u, 1000u, 8u}) {  // longer than the existing buffers, then shorter
      const auto in = random_values<float>(count, Numbers::float32, count);
      std::vector<float> out(count, -7);
      // Writes all but the last value, which keeps the caller's data.
      staging.run(
          {.in = in.data(), .in_bytes = count * 4, .out = out.data(), .out_bytes = count * 4, .output_first = true},
          [&](Queue& queue, const Buffer& from, const Buffer& to) { queue.copy(from, to, (count - 1) * 4); });
      EXPECT_TRUE(std::equal(in.begin(), in.end() - 1, out.begin())) << device.id();
      EXPECT_EQ(out.back(), -7) << device.id();

      std::vector<float> data = in;
      staging.run(
          {.in = data.data(), .in_bytes = count * 4, .out = data.data(), .out_bytes = count * 4, .in_place = true},
          [&](Queue& queue, const Buffer& from, const Buffer& to) {
            EXPECT_EQ(&from.state(), &to.state());
            queue.fill(to, std::byte{0});
          });
      EXPECT_EQ(std::count(data.begin(), data.end(), 0.0F), static_cast<std::ptrdiff_t>(count)) << device.id();
    }
  }
}

// Sizes around those of pieces and of the parts of threads; bytes around the array keep their values.
TEST(PinnedTransfer, CopiesEveryByteInBothDirections) {
  for (const ridge::Device& device : ridge::devices().devices) {
    ridge::PinnedTransfer transfer(device, 0, true);
    for (const std::size_t bytes : {1u, 4097u, (2u << 20) - 1, (4u << 20) + 8195, (70u << 20) + 3}) {
      Queue queue = device.queue();
      const std::size_t offset = 128, all = bytes + 2 * offset;
      const Buffer buffer = device.buffer(all, {.name = "array"});
      queue.fill(buffer, std::byte{0x77});  // the transfers wait for it
      const auto from = random_values<std::uint8_t>(bytes, Numbers::bits, bytes);
      transfer.upload(queue, from.data(), buffer, bytes, offset);
      std::vector<std::uint8_t> direct(all), back(all, 0x55);
      queue.download(buffer, std::span(direct));
      queue.finish();
      EXPECT_TRUE(std::equal(from.begin(), from.end(), direct.begin() + offset)) << device.id() << " " << bytes;
      EXPECT_EQ(std::count(direct.begin(), direct.begin() + offset, 0x77), static_cast<std::ptrdiff_t>(offset));
      EXPECT_EQ(std::count(direct.end() - offset, direct.end(), 0x77), static_cast<std::ptrdiff_t>(offset));
      transfer.download(queue, buffer, back.data() + offset, bytes, offset);
      EXPECT_TRUE(std::equal(from.begin(), from.end(), back.begin() + offset)) << device.id() << " " << bytes;
      EXPECT_EQ(std::count(back.begin(), back.begin() + offset, 0x55), static_cast<std::ptrdiff_t>(offset));
      EXPECT_EQ(std::count(back.end() - offset, back.end(), 0x55), static_cast<std::ptrdiff_t>(offset));
    }
  }
}

}  // namespace
