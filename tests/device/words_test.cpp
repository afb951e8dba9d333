// The dialect's functions for bytes, bits, powers, matrices and atomics, on every device with kernels.
#include <gtest/gtest.h>
#include <ridge/device.hpp>
#include <ridge/half.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "support/devices.hpp"

namespace ridge {
namespace {

class Words : public test::NeedsAccelerator<> {};

std::uint32_t bytes_apart(std::uint32_t a, std::uint32_t b) {
  std::uint32_t apart = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    const int difference = static_cast<int>(a >> shift & 255) - static_cast<int>(b >> shift & 255);
    apart |= static_cast<std::uint32_t>(std::abs(difference)) << shift;
  }
  return apart;
}

std::uint32_t bytes_dot(std::uint32_t a, std::uint32_t b, std::uint32_t start) {
  for (int shift = 0; shift < 32; shift += 8) start += (a >> shift & 255) * (b >> shift & 255);
  return start;
}

int signed_bytes_dot(std::uint32_t a, std::uint32_t b) {
  int sum = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    sum += static_cast<std::int8_t>(a >> shift & 255) * static_cast<std::int8_t>(b >> shift & 255);
  }
  return sum;
}

TEST_F(Words, ByteBitPowerAndRoundingFunctionsAreExact) {
  constexpr std::uint32_t n = 512;
  std::mt19937 random(5);
  std::vector<std::uint32_t> a(n), b(n);
  std::vector<float> f(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    a[i] = static_cast<std::uint32_t>(random());
    b[i] = static_cast<std::uint32_t>(random());
    f[i] = static_cast<float>(static_cast<int>(i) - 256) * 0.5f;  // every second value is halfway between integers
  }
  a[0] = 0xff00ff00u;
  b[0] = 0x00ff00ffu;  // 255 in every byte of |a - b|
  for (const Device& device : test::accelerators()) {
    SCOPED_TRACE(device.id());
    const Kernel kernel = device
                              .compile({.name = "words", .text = R"(
KERNEL void words(GLOBAL const uint* a, GLOBAL const uint* b, GLOBAL const float* f, GLOBAL uint* apart,
                  GLOBAL uint* dot, GLOBAL float* back, GLOBAL float* power, GLOBAL int* rounded,
                  GLOBAL int* signed_dot) {
  const uint i = GLOBAL_ID(0);
  apart[i] = BYTES_ABSDIFF(a[i], b[i]);
  dot[i] = BYTES_DOT(a[i], b[i], 0x4b000000u);
  back[i] = FLOAT_OF(BITS_OF(f[i]) ^ 0x80000000u);
  power[i] = EXP2_FAST(f[i]);
  rounded[i] = ROUND_EVEN(f[i]);
  signed_dot[i] = BYTES_DOT_SIGNED(a[i], b[i], -7);
}
)"})
                              .kernel("words");
    Queue queue = device.queue();
    std::vector<Buffer> buffers;
    for (int i = 0; i < 9; ++i) buffers.push_back(device.buffer(n * 4));
    queue.upload(std::span<const std::uint32_t>(a), buffers[0]);
    queue.upload(std::span<const std::uint32_t>(b), buffers[1]);
    queue.upload(std::span<const float>(f), buffers[2]);
    queue.launch(
        kernel, {.groups = {n / 64}, .items = {64}},
        {buffers[0], buffers[1], buffers[2], buffers[3], buffers[4], buffers[5], buffers[6], buffers[7], buffers[8]});
    std::vector<std::uint32_t> apart(n), dot(n);
    std::vector<float> back(n), power(n);
    std::vector<int> rounded(n), signed_dot(n);
    queue.download(buffers[3], std::span(apart));
    queue.download(buffers[4], std::span(dot));
    queue.download(buffers[5], std::span(back));
    queue.download(buffers[6], std::span(power));
    queue.download(buffers[7], std::span(rounded));
    queue.download(buffers[8], std::span(signed_dot));
    queue.finish();
    for (std::uint32_t i = 0; i < n; ++i) {
      ASSERT_EQ(apart[i], bytes_apart(a[i], b[i])) << i;
      ASSERT_EQ(dot[i], bytes_dot(a[i], b[i], 0x4b000000u)) << i;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(back[i]), std::bit_cast<std::uint32_t>(-f[i])) << i;
      ASSERT_EQ(signed_dot[i], signed_bytes_dot(a[i], b[i]) - 7) << i;
      ASSERT_EQ(rounded[i], std::lrint(f[i])) << f[i];
      if (f[i] < -126) continue;  // may be flushed
      ASSERT_LE(std::fabs(power[i] / std::exp2(static_cast<double>(f[i])) - 1), 1e-6) << f[i];
    }
  }
}

bool same_or_nan(float a, float b) { return std::isnan(a) ? std::isnan(b) : a == b; }

// Every 16-bit number converts to its float; values in between round to the nearest, ties to even.
TEST_F(Words, SixteenBitFloatsAreConvertedExactly) {
  constexpr std::uint32_t n = 1 << 16;
  std::vector<std::uint16_t> bits(n);
  for (std::uint32_t i = 0; i < n; ++i) bits[i] = static_cast<std::uint16_t>(i);
  std::vector<float> between(n);
  std::mt19937 random(3);
  for (std::uint32_t i = 0; i < n; ++i) {
    // Either format: an exact number, the midpoint to the next one, or any bits.
    const std::uint32_t pattern = i % 4 == 0   ? i << 16
                                  : i % 4 == 1 ? i << 16 | 0x8000u
                                  : i % 4 == 2 ? std::bit_cast<std::uint32_t>(from_float16(bits[i])) | 0x1000u
                                               : static_cast<std::uint32_t>(random());
    between[i] = std::bit_cast<float>(pattern);
  }
  for (const Device& device : test::accelerators()) {
    SCOPED_TRACE(device.id());
    const Kernel kernel = device
                              .compile({.name = "convert_16_bit", .text = R"(
KERNEL void convert_16_bit(GLOBAL const ushort* bits, GLOBAL const float* between, GLOBAL float* half_floats, GLOBAL float* brain_floats,
                   GLOBAL ushort* half_bits, GLOBAL ushort* brain_bits) {
  const uint i = GLOBAL_ID(0);
  half_floats[i] = FLOAT_OF_HALF(bits[i]);
  brain_floats[i] = FLOAT_OF_BFLOAT(bits[i]);
  half_bits[i] = HALF_OF_FLOAT(between[i]);
  brain_bits[i] = BFLOAT_OF_FLOAT(between[i]);
}
)"})
                              .kernel("convert_16_bit");
    Queue queue = device.queue();
    const Buffer from = device.buffer(n * 2), floats = device.buffer(n * 4), half = device.buffer(n * 4),
                 brain = device.buffer(n * 4), half_out = device.buffer(n * 2), brain_out = device.buffer(n * 2);
    queue.upload(std::span<const std::uint16_t>(bits), from);
    queue.upload(std::span<const float>(between), floats);
    queue.launch(kernel, {.groups = {n / 64}, .items = {64}}, {from, floats, half, brain, half_out, brain_out});
    std::vector<float> half_floats(n), brain_floats(n);
    std::vector<std::uint16_t> half_bits(n), brain_bits(n);
    queue.download(half, std::span<float>(half_floats));
    queue.download(brain, std::span<float>(brain_floats));
    queue.download(half_out, std::span<std::uint16_t>(half_bits));
    queue.download(brain_out, std::span<std::uint16_t>(brain_bits));
    queue.finish();
    for (std::uint32_t i = 0; i < n; ++i) {
      ASSERT_TRUE(same_or_nan(from_float16(bits[i]), half_floats[i])) << i;
      ASSERT_TRUE(same_or_nan(from_bfloat16(bits[i]), brain_floats[i])) << i;
      ASSERT_TRUE(same_or_nan(from_float16(to_float16(between[i])), from_float16(half_bits[i]))) << between[i];
      ASSERT_TRUE(same_or_nan(from_bfloat16(to_bfloat16(between[i])), from_bfloat16(brain_bits[i]))) << between[i];
    }
  }
}

// Two sub-groups, each with its own matrices: 16 x 8 by 8 x 8, twice, of numbers that 11 bits hold.
TEST_F(Words, MatrixProductsAreExact) {
  for (const Device& device : test::accelerators()) {
    SCOPED_TRACE(device.id());
    const Kernel kernel = device
                              .compile({.name = "matrices", .text = R"(
KERNEL WORK_GROUP(64, 1, 1) void matrices(GLOBAL const float* a, GLOBAL const float* b, GLOBAL float* d) {
  MATRIX_SCRATCH(scratch, 64);
  const int sub_group = LOCAL_ID(0) >> 5, g = LOCAL_ID(0) >> 2 & 7, t = LOCAL_ID(0) & 3;
  float sums[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  for (int k = 0; k < 2; ++k) {
    GLOBAL const float* left = a + 128 * (2 * sub_group + k);
    GLOBAL const float* right = b + 64 * (2 * sub_group + k);
    MATRIX_TF32(scratch, sums, left[8 * g + t], left[8 * g + 64 + t], left[8 * g + t + 4], left[8 * g + 68 + t],
                right[8 * t + g], right[8 * t + 32 + g]);
  }
  for (int i = 0; i < 4; ++i) d[128 * sub_group + 8 * (g + 8 * (i >> 1)) + 2 * t + (i & 1)] = sums[i];
}
)"})
                              .kernel("matrices");
    std::vector<float> a(512), b(256), d(256);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 37 % 101) - 50;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 53 % 89) - 40;
    Queue queue = device.queue();
    const Buffer left = device.buffer(2048), right = device.buffer(1024), product = device.buffer(1024);
    queue.upload(std::span<const float>(a), left);
    queue.upload(std::span<const float>(b), right);
    queue.launch(kernel, {.groups = {1}, .items = {64}}, {left, right, product});
    queue.download(product, std::span(d));
    queue.finish();
    for (std::size_t s = 0; s < 2; ++s) {
      for (std::size_t r = 0; r < 16; ++r) {
        for (std::size_t c = 0; c < 8; ++c) {
          double sum = static_cast<double>(1 + 2 * (r / 8) + c % 2);
          for (std::size_t k = 0; k < 16; ++k) {
            sum += double{a[128 * (2 * s + k / 8) + 8 * r + k % 8]} * double{b[64 * (2 * s + k / 8) + 8 * (k % 8) + c]};
          }
          ASSERT_EQ(d[128 * s + 8 * r + c], sum) << s << " " << r << " " << c;
        }
      }
    }
  }
}

// Products of pairs of float16, 16 x 16 by 16 x 8, and bytes selected from two words.
TEST_F(Words, ProductsOfFloat16AndChosenBytes) {
  for (const Device& device : test::accelerators()) {
    SCOPED_TRACE(device.id());
    const Kernel kernel = device
                              .compile({.name = "float16_products", .text = R"(
KERNEL WORK_GROUP(64, 1, 1) void float16_products(GLOBAL const uint* a, GLOBAL const uint* b, GLOBAL float* d, GLOBAL uint* chosen) {
  MATRIX_SCRATCH(scratch, 64);
  const int sub_group = LOCAL_ID(0) >> 5, g = LOCAL_ID(0) >> 2 & 7, t = LOCAL_ID(0) & 3;
  float sums[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  GLOBAL const uint* left = a + 128 * sub_group;
  GLOBAL const uint* right = b + 64 * sub_group;
  MATRIX_F16(scratch, sums, left[8 * g + t], left[8 * g + 64 + t], left[8 * g + t + 4], left[8 * g + 68 + t],
             right[8 * g + t], right[8 * g + t + 4], sums);
  for (int i = 0; i < 4; ++i) d[128 * sub_group + 8 * (g + 8 * (i >> 1)) + 2 * t + (i & 1)] = sums[i];
  chosen[LOCAL_ID(0)] = BYTE_PERMUTE(0x33221100u, 0x77665544u, (uint)LOCAL_ID(0) * 0x111u & 0x7777u);
}
)"})
                              .kernel("float16_products");
    std::vector<std::uint32_t> a(256), b(128), chosen(64);
    std::vector<float> d(256);
    const auto left = [](std::size_t i) { return static_cast<float>(i * 37 % 101) - 50; };
    const auto right = [](std::size_t i) { return static_cast<float>(i * 53 % 89) / 4 - 10; };
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = to_float16(left(2 * i)) | to_float16(left(2 * i + 1)) << 16;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = to_float16(right(2 * i)) | to_float16(right(2 * i + 1)) << 16;
    Queue queue = device.queue();
    const Buffer lefts = device.buffer(1024), rights = device.buffer(512), product = device.buffer(1024),
                 bytes = device.buffer(256);
    queue.upload(std::span<const std::uint32_t>(a), lefts);
    queue.upload(std::span<const std::uint32_t>(b), rights);
    queue.launch(kernel, {.groups = {1}, .items = {64}}, {lefts, rights, product, bytes});
    queue.download(product, std::span(d));
    queue.download(bytes, std::span(chosen));
    queue.finish();
    for (std::size_t s = 0; s < 2; ++s) {
      for (std::size_t r = 0; r < 16; ++r) {
        for (std::size_t c = 0; c < 8; ++c) {
          double sum = static_cast<double>(1 + 2 * (r / 8) + c % 2);
          for (std::size_t k = 0; k < 16; ++k)
            sum += double{left(256 * s + 16 * r + k)} * double{right(128 * s + 16 * c + k)};
          ASSERT_EQ(d[128 * s + 8 * r + c], sum) << s << " " << r << " " << c;
        }
      }
    }
    for (std::uint32_t i = 0; i < 64; ++i) {
      for (std::uint32_t e = 0; e < 4; ++e)
        ASSERT_EQ(chosen[i] >> 8 * e & 255, (i * 0x111 >> 4 * e & 7) * 0x11) << i << " " << e;
    }
  }
}

// Products of bytes, 16 x 32 by 32 x 8; the left ones signed and unsigned.
TEST_F(Words, ProductsOfBytes) {
  for (const Device& device : test::accelerators()) {
    SCOPED_TRACE(device.id());
    const Kernel kernel = device
                              .compile({.name = "bytes", .text = R"(
KERNEL WORK_GROUP(32, 1, 1) void bytes(GLOBAL const uint* a, GLOBAL const uint* b, GLOBAL int* d) {
  MATRIX_SCRATCH(scratch, 32);
  const int g = LOCAL_ID(0) >> 2, t = LOCAL_ID(0) & 3;
  const int start[4] = {1, 2, 3, 4};
  int sums[4];
  MATRIX_U8(scratch, sums, a[8 * g + t], a[8 * g + 64 + t], a[8 * g + t + 4], a[8 * g + 68 + t], b[8 * g + t],
            b[8 * g + t + 4], start);
  for (int i = 0; i < 4; ++i) d[8 * (g + 8 * (i >> 1)) + 2 * t + (i & 1)] = sums[i];
  MATRIX_S8(scratch, sums, a[8 * g + t], a[8 * g + 64 + t], a[8 * g + t + 4], a[8 * g + 68 + t], b[8 * g + t],
            b[8 * g + t + 4], sums);
  for (int i = 0; i < 4; ++i) d[128 + 8 * (g + 8 * (i >> 1)) + 2 * t + (i & 1)] = sums[i];
}
)"})
                              .kernel("bytes");
    std::vector<std::uint8_t> a(512), b(256);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::uint8_t>(i * 37 + i / 7);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::uint8_t>(i * 53 + i / 3);
    std::vector<int> d(256);
    Queue queue = device.queue();
    const Buffer left = device.buffer(512), right = device.buffer(256), product = device.buffer(1024);
    queue.upload(std::span<const std::uint8_t>(a), left);
    queue.upload(std::span<const std::uint8_t>(b), right);
    queue.launch(kernel, {.groups = {1}, .items = {32}}, {left, right, product});
    queue.download(product, std::span(d));
    queue.finish();
    for (std::size_t r = 0; r < 16; ++r) {
      for (std::size_t c = 0; c < 8; ++c) {
        int plain = static_cast<int>(1 + 2 * (r / 8) + c % 2), with_sign = 0;
        for (std::size_t k = 0; k < 32; ++k) {
          plain += int{a[32 * r + k]} * int{b[32 * c + k]};
          with_sign += int{static_cast<std::int8_t>(a[32 * r + k])} * int{b[32 * c + k]};
        }
        ASSERT_EQ(d[8 * r + c], plain) << r << " " << c;
        ASSERT_EQ(d[128 + 8 * r + c], plain + with_sign) << r << " " << c;
      }
    }
  }
}

TEST_F(Words, AtomicsOfEveryGroup) {
  constexpr int groups = 16, items = 64, n = groups * items;
  for (const Device& device : test::accelerators()) {
    SCOPED_TRACE(device.id());
    const Kernel kernel = device
                              .compile({.name = "atomics", .text = R"(
KERNEL WORK_GROUP(64, 1, 1) void atomics(GLOBAL int* whole, GLOBAL uint* natural, GLOBAL float* real, GLOBAL uint* place) {
  LOCAL_ARRAY(uint, mine, 2);
  LOCAL_ARRAY(int, ends, 2);
  LOCAL_ARRAY(float, sum, 1);
  const int i = (int)GLOBAL_ID(0), t = LOCAL_ID(0);
  if (t == 0) {
    mine[0] = 0;
    ends[0] = 1000000;
    ends[1] = -1000000;
    sum[0] = 0.0f;
  }
  BARRIER();
  const uint before = ATOMIC_ADD(&mine[0], 1u);
  ATOMIC_MIN(&ends[0], 7 * i - 100);
  ATOMIC_MAX(&ends[1], 7 * i - 100);
  ATOMIC_ADD(&sum[0], 0.5f);
  BARRIER();
  if (t == 0) {
    mine[1] = ATOMIC_ADD(&natural[0], mine[0]);
    ATOMIC_MIN(&whole[1], ends[0]);
    ATOMIC_MAX(&whole[2], ends[1]);
    ATOMIC_ADD(&real[1], sum[0]);
  }
  BARRIER();
  ATOMIC_ADD(&whole[0], -i);
  ATOMIC_MIN(&natural[1], (uint)i + 5u);
  ATOMIC_MAX(&natural[2], (uint)i + 5u);
  ATOMIC_ADD(&real[0], (float)i);
  place[mine[1] + before] = (uint)i;
}
)"})
                              .kernel("atomics");
    Queue queue = device.queue();
    const Buffer whole = device.buffer(12), natural = device.buffer(12), real = device.buffer(8),
                 place = device.buffer(n * 4);
    const std::vector<int> no_ints{0, 0, 0};
    const std::vector<std::uint32_t> no_uints{0, 4000000000u, 0};
    const std::vector<float> no_floats{0, 0};
    queue.upload(std::span<const int>(no_ints), whole);
    queue.upload(std::span<const std::uint32_t>(no_uints), natural);
    queue.upload(std::span<const float>(no_floats), real);
    queue.launch(kernel, {.groups = {groups}, .items = {items}}, {whole, natural, real, place});
    std::vector<int> ints(3);
    std::vector<std::uint32_t> uints(3), places(n);
    std::vector<float> floats(2);
    queue.download(whole, std::span(ints));
    queue.download(natural, std::span(uints));
    queue.download(real, std::span(floats));
    queue.download(place, std::span(places));
    queue.finish();
    EXPECT_EQ(ints, (std::vector<int>{-n * (n - 1) / 2, -100, 7 * (n - 1) - 100}));
    EXPECT_EQ(uints, (std::vector<std::uint32_t>{n, 5, n + 4}));
    EXPECT_EQ(floats, (std::vector<float>{n * (n - 1) / 2, n / 2}));  // all exact
    std::vector<int> seen(n, 0);
    for (const std::uint32_t i : places) {
      ASSERT_LT(i, static_cast<std::uint32_t>(n));
      ++seen[i];
    }
    EXPECT_EQ(seen, std::vector<int>(n, 1));
  }
}

}  // namespace
}  // namespace ridge
