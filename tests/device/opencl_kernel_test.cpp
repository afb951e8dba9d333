// Kernels of the dialect on every OpenCL device of the machine, through the public interface.
#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <thread>

#include "device/opencl_support.hpp"

namespace ridge {
namespace {

using test::thrown_error;
using testing::HasSubstr;

class OpenClKernels : public test::OpenCl {};

Kernel compiled(const Device& device, const std::string& name, const std::string& text) {
  return device.compile({.name = name, .text = text}).kernel(name);
}

template <class T>
Buffer uploaded(const Device& device, const std::vector<T>& values, const std::string& name) {
  Buffer buffer = device.buffer(values.size() * sizeof(T), {.name = name});
  Queue queue = device.queue();
  queue.upload(std::span<const T>(values), buffer);
  queue.finish();
  return buffer;
}

template <class T>
std::vector<T> downloaded(Queue& queue, const Buffer& buffer) {
  std::vector<T> values(buffer.size() / sizeof(T));
  queue.download(buffer, std::span<T>(values));
  queue.finish();
  return values;
}

TEST_F(OpenClKernels, ScaleAndAdd) {
  constexpr std::size_t n = 1000;
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    std::vector<float> x(n), y(n);
    std::iota(x.begin(), x.end(), 1.0f);
    std::iota(y.begin(), y.end(), -500.0f);
    const Buffer bx = uploaded(device, x, "x"), by = uploaded(device, y, "y");
    const Kernel kernel =
        compiled(device, "saxpy",
                 "KERNEL void saxpy(GLOBAL const float* RESTRICT x, GLOBAL float* RESTRICT y, float a,"
                 " uint n) {\n"
                 "  const uint i = GLOBAL_ID(0);\n"
                 "  if (i < n) y[i] = FMA(a, x[i], y[i]);\n"
                 "}\n");
    EXPECT_GE(kernel.work_group(), 64u);
    Queue queue = device.queue();
    queue.launch(kernel, {.groups = {(n + 63) / 64}, .items = {64}}, {bx, by, 2.5f, std::uint32_t{n}});
    const auto result = downloaded<float>(queue, by);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(result[i], std::fma(2.5f, x[i], y[i])) << i;
  }
}

TEST_F(OpenClKernels, ScalarsOfEveryTypeArriveUnchanged) {
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    const Kernel kernel =
        compiled(device, "scalars",
                 "KERNEL void scalars(GLOBAL long* out, int a, uint b, long c, ulong d, float e,"
                 " uchar f, ushort g) {\n"
                 "  out[0] = a; out[1] = b; out[2] = c; out[3] = (long)d; out[4] = (long)(e * 4.0f);\n"
                 "  out[5] = f; out[6] = g;\n"
                 "}\n");
    const Buffer out = device.buffer(7 * 8, {.name = "out"});
    Queue queue = device.queue();
    queue.launch(kernel, {},
                 {out, std::int32_t{-7}, std::uint32_t{0xfffffff0u}, std::int64_t{-(std::int64_t{1} << 40)},
                  std::uint64_t{1} << 62, 0.75f, std::uint8_t{200}, std::uint16_t{60000}});
    EXPECT_THAT(downloaded<std::int64_t>(queue, out),
                testing::ElementsAre(-7, 0xfffffff0, -(std::int64_t{1} << 40), std::int64_t{1} << 62, 3, 200, 60000));
  }
}

TEST_F(OpenClKernels, Doubles) {
  for (const Device& device : test::opencl_devices()) {
    if (!device.limits().float64) continue;
    SCOPED_TRACE(device.id());
    const Kernel kernel = compiled(device, "doubles",
                                   "KERNEL void doubles(GLOBAL double2* out, double a) {\n"
                                   "  const double2 v = make_double2(a + 1.0, FMA(a, a, -a));\n"
                                   "  STORE_ONCE(out + 1, v);\n"
                                   "  out[0] = LOAD_ONCE(out + 1);\n"
                                   "  STORE_ONCE((GLOBAL double*)(out + 2), LOAD_L2((GLOBAL const double*)out));\n"
                                   "}\n");
    const Buffer out = device.buffer(3 * 16, {.name = "out"});
    Queue queue = device.queue();
    queue.launch(kernel, {}, {out, 1e-10});
    const auto result = downloaded<double>(queue, out);
    EXPECT_EQ(result[0], 1.0 + 1e-10);
    EXPECT_EQ(result[1], std::fma(1e-10, 1e-10, -1e-10));
    EXPECT_EQ(result[3], result[1]);
    EXPECT_EQ(result[4], result[0]);
  }
}

TEST_F(OpenClKernels, VectorsAndStreamingAccesses) {
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    const Kernel kernel =
        compiled(device, "vectors",
                 "CONSTANT_TABLE float weights[4] = {0.5f, 1.5f, 2.5f, 3.5f};\n"
                 "FUNCTION float sum(float4 v) { return v.x + v.y + v.z + v.w; }\n"
                 "KERNEL void vectors(GLOBAL float4* RESTRICT out, GLOBAL const float4* RESTRICT in) {\n"
                 "  const float4 v = LOAD_ONCE(in);\n"
                 "  STORE_ONCE(out, make_float4(v.w, v.z, v.y, v.x));\n"
                 "  const float2 pair = LOAD_CACHED((GLOBAL const float2*)in);\n"
                 "  STORE_ONCE((GLOBAL float2*)(out + 1), make_float2(pair.y, pair.x));\n"
                 "  const int4 i = make_int4(1, -2, 3, -4);\n"
                 "  const uint4 u = make_uint4(1u, 2u, 3u, 4000000000u);\n"
                 "  const int2 j = make_int2(i.y, i.w);\n"
                 "  const uint2 t = make_uint2(u.w, u.x);\n"
                 "  out[2] = make_float4((float)(i.x + j.x), (float)(j.y), (float)t.x, (float)t.y);\n"
                 "  float total = 0.0f;\n"
                 "  UNROLL\n"
                 "  for (int k = 0; k < 4; ++k) total += weights[k];\n"
                 "  STORE_ONCE((GLOBAL float*)(out + 3), total);\n"
                 "  out[4] = make_float4(sum(v), 0.0f, 0.0f, (float)SUB_GROUP_WIDTH);\n"
                 "}\n");
    const Buffer in = uploaded(device, std::vector<float>{1, 2, 3, 4}, "in");
    const Buffer out = device.buffer(5 * 16, {.name = "out"});
    Queue queue = device.queue();
    queue.launch(kernel, {}, {out, in});
    const auto result = downloaded<float>(queue, out);
    EXPECT_EQ(std::vector<float>(result.begin(), result.begin() + 6), (std::vector<float>{4, 3, 2, 1, 2, 1}));
    EXPECT_EQ(std::vector<float>(result.begin() + 8, result.begin() + 13), (std::vector<float>{-1, -4, 4e9f, 1, 8}));
    EXPECT_EQ(result[16], 10);
    EXPECT_EQ(result[19], static_cast<float>(device.limits().sub_group));
  }
}

TEST_F(OpenClKernels, ContractionIsOffAndFmaRoundsOnce) {
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    const Kernel kernel = compiled(device, "rounding",
                                   "KERNEL void rounding(GLOBAL float* out, float a, float b, float c) {\n"
                                   "  out[0] = a * b + c;\n"
                                   "  out[1] = FMA(a, b, c);\n"
                                   "}\n");
    // a * a = 1 + 2^-11 + 2^-24: the last term is lost unless there is a single rounding.
    const float a = 1.0f + 0x1p-12f, c = -(1.0f + 0x1p-11f);
    const Buffer out = device.buffer(8, {.name = "out"});
    Queue queue = device.queue();
    queue.launch(kernel, {}, {out, a, a, c});
    EXPECT_THAT(downloaded<float>(queue, out), testing::ElementsAre(0.0f, 0x1p-24f));
  }
}

TEST_F(OpenClKernels, LocalMemoryReversesEachGroup) {
  constexpr std::size_t groups = 5, items = 64;
  for (const Device& device : test::opencl_devices()) {
    for (const char* local :
         {"LOCAL_ARRAY(float, tile, ITEMS_IN_GROUP);", "LOCAL_BLOCK(float, tile, ITEMS_IN_GROUP);"}) {
      SCOPED_TRACE(device.id() + " " + local);
      const Program program = device.compile({.name = "reverse",
                                              .text = std::string("KERNEL WORK_GROUP(ITEMS_IN_GROUP, 1, 1)\n"
                                                                  "void reverse(GLOBAL float* data) {\n  ") +
                                                      local +
                                                      "\n"
                                                      "  const int i = LOCAL_ID(0);\n"
                                                      "  tile[i] = data[GLOBAL_ID(0)];\n"
                                                      "  BARRIER();\n"
                                                      "  data[GLOBAL_ID(0)] = tile[ITEMS(0) - 1 - i];\n"
                                                      "  BARRIER_GLOBAL();\n"
                                                      "  if (i == 0) data[GLOBAL_ID(0)] += data[GLOBAL_ID(0) + 1];\n"
                                                      "}\n",
                                              .defines = {{"ITEMS_IN_GROUP", std::to_string(items)}}});
      std::vector<float> values(groups * items);
      std::iota(values.begin(), values.end(), 0.0f);
      const Buffer data = uploaded(device, values, "data");
      Queue queue = device.queue();
      queue.launch(program.kernel("reverse"),
                   {.groups = {groups}, .items = {items}, .local_bytes = items * sizeof(float)}, {data});
      const auto result = downloaded<float>(queue, data);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t group = i / items, k = i % items;
        const float mirrored = values[group * items + items - 1 - k];
        ASSERT_EQ(result[i], k == 0 ? mirrored + mirrored - 1 : mirrored) << i;
      }
    }
  }
}

TEST_F(OpenClKernels, IdsOfThreeAxes) {
  const Extent groups{3, 2, 4}, items{4, 5, 2};
  const std::size_t all = 3 * 4 * 2 * 5 * 4 * 2;
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    const Kernel kernel = compiled(device, "ids",
                                   "KERNEL void ids(GLOBAL uint* out) {\n"
                                   "  const uint width = GROUPS(0) * ITEMS(0), height = GROUPS(1) * ITEMS(1);\n"
                                   "  const uint at = GLOBAL_ID(0) + width * (GLOBAL_ID(1) + height * GLOBAL_ID(2));\n"
                                   "  uint value = 0;\n"
                                   "  for (int d = 0; d < 3; ++d) {\n"
                                   "    value = value * 8 + GROUP_ID(d);\n"
                                   "    value = value * 8 + (uint)LOCAL_ID(d);\n"
                                   "    value = value * 8 + GROUPS(d);\n"
                                   "  }\n"
                                   "  out[at] = value;\n"
                                   "}\n");
    const Buffer out = device.buffer(all * 4, {.name = "out"});
    Queue queue = device.queue();
    queue.launch(kernel, {.groups = groups, .items = items}, {out});
    const auto result = downloaded<std::uint32_t>(queue, out);
    for (std::size_t at = 0; at < all; ++at) {
      const std::array<std::size_t, 3> id{at % 12, at / 12 % 10, at / 120};
      std::uint32_t value = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        value = static_cast<std::uint32_t>(value * 8 + id[d] / items[d]);
        value = static_cast<std::uint32_t>(value * 8 + id[d] % items[d]);
        value = static_cast<std::uint32_t>(value * 8 + groups[d]);
      }
      ASSERT_EQ(result[at], value) << at;
    }
  }
}

TEST_F(OpenClKernels, ShufflesWithinASubGroup) {
  bool tried = false;
  for (const Device& device : test::opencl_devices()) {
    const std::size_t width = device.limits().sub_group;
    if (width == 0) continue;
    tried = true;
    SCOPED_TRACE(device.id());
    const Program program = device.compile({.name = "shuffles",
                                            .text = "KERNEL WORK_GROUP(64, 1, 1) void shuffles(GLOBAL float* out) {\n"
                                                    "  const int i = LOCAL_ID(0), lane = i % SUB_GROUP_WIDTH;\n"
                                                    "  out[i] = SHUFFLE((float)i, (lane + 3) % SUB_GROUP_WIDTH);\n"
                                                    "  out[64 + i] = (float)SHUFFLE_XOR(i, 1);\n"
                                                    "  const uint up = SHUFFLE_UP((uint)i, 1);\n"
                                                    "  out[128 + i] = lane == 0 ? -1.0f : (float)up;\n"
                                                    "  const float down = SHUFFLE_DOWN((float)i, 2);\n"
                                                    "  out[192 + i] = lane + 2 >= SUB_GROUP_WIDTH ? -1.0f : down;\n"
                                                    "}\n"});
    const Buffer out = device.buffer(256 * 4, {.name = "out"});
    Queue queue = device.queue();
    queue.launch(program.kernel("shuffles"), {.items = {64}}, {out});
    const auto result = downloaded<float>(queue, out);
    for (std::size_t i = 0; i < 64; ++i) {
      const std::size_t lane = i % width, first = i - lane;
      EXPECT_EQ(result[i], static_cast<float>(first + (lane + 3) % width)) << i;
      EXPECT_EQ(result[64 + i], static_cast<float>(i ^ 1)) << i;
      EXPECT_EQ(result[128 + i], lane == 0 ? -1.0f : static_cast<float>(i - 1)) << i;
      EXPECT_EQ(result[192 + i], lane + 2 >= width ? -1.0f : static_cast<float>(i + 2)) << i;
    }
  }
  if (!tried) GTEST_SKIP() << "no OpenCL device here has sub-groups that shuffle";
}

// A kernel's arguments are state of the cl_kernel: without a lock, threads would launch with each other's arguments.
TEST_F(OpenClKernels, TwoThreadsLaunchOneKernel) {
  constexpr int rounds = 2000;
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    const Kernel kernel =
        compiled(device, "add",
                 "KERNEL void add(GLOBAL int* data, int a, int b, int c, int d, int e, int f) {\n"
                 "  data[0] += 1;\n"
                 "  if (a != b || b != c || c != d || d != e || e != f || f != data[1]) data[2] += 1;\n"
                 "}\n");
    std::atomic<int> wrong{0};
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    const bool was_checking = checking();
    set_checking(false);  // checking mode would finish the queue after every launch
    for (std::int32_t t = 1; t <= 2; ++t) {
      threads.emplace_back([&, t] {
        const Buffer data = uploaded(device, std::vector<std::int32_t>{0, t, 0}, "data");
        Queue queue = device.queue();
        ++ready;
        while (ready < 2) std::this_thread::yield();
        for (int i = 0; i < rounds; ++i) queue.launch(kernel, {}, {data, t, t, t, t, t, t});
        if (downloaded<std::int32_t>(queue, data) != std::vector<std::int32_t>{rounds, t, 0}) ++wrong;
      });
    }
    for (std::thread& thread : threads) thread.join();
    set_checking(was_checking);
    EXPECT_EQ(wrong, 0);
  }
}

// PoCL 5 aborted here: it caches the code of a kernel per grid width (see Traits::one_queue).
TEST_F(OpenClKernels, ConcurrentGridsOfDifferentWidths) {
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    const bool was_checking = checking();
    set_checking(false);  // checking mode would serialize the launches
    const Kernel kernel = compiled(device, "add",
                                   "KERNEL void add(GLOBAL int* data, int value) {\n"
                                   "  for (int i = 0; i < 100; ++i) data[GLOBAL_ID(0)] += value;\n"
                                   "}\n");
    constexpr std::size_t rounds = 100, queues = 3;
    std::vector<Queue> all;
    std::vector<Buffer> buffers;
    for (std::size_t q = 0; q < queues; ++q) {
      all.push_back(device.queue());
      buffers.push_back(uploaded(device, std::vector<std::int32_t>(rounds * queues, 0), "numbers"));
    }
    for (std::size_t round = 0; round < rounds; ++round) {
      for (std::size_t q = 0; q < queues; ++q) {
        all[q].launch(kernel, {.groups = {1 + round * queues + q}}, {buffers[q], std::int32_t{1}});
        all[q].record();  // flushes
      }
    }
    for (std::size_t q = 0; q < queues; ++q) {
      const auto numbers = downloaded<std::int32_t>(all[q], buffers[q]);
      EXPECT_EQ(numbers[0], 100 * static_cast<std::int32_t>(rounds));
      EXPECT_EQ(numbers[q + queues], 100 * static_cast<std::int32_t>(rounds - 1));
    }
    set_checking(was_checking);
  }
}

TEST_F(OpenClKernels, WrongArgumentsAreNamed) {
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    const Kernel kernel = compiled(device, "scale",
                                   "KERNEL WORK_GROUP(8, 1, 1) void scale(GLOBAL float* data, ulong n) {\n"
                                   "  if (GLOBAL_ID(0) < n) data[GLOBAL_ID(0)] *= 2.0f;\n"
                                   "}\n");
    const Buffer data = uploaded(device, std::vector<float>(8, 1.0f), "samples");
    Queue queue = device.queue();
    const Launch shape{.items = {8}};
    const auto refused = [&](const Launch& launch, const std::vector<Argument>& arguments) {
      const Error error = thrown_error([&] { queue.launch(kernel, launch, arguments); });
      EXPECT_EQ(error.kind(), ErrorKind::invalid_argument) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("kernel scale"));
      return std::string(error.what());
    };
    EXPECT_THAT(refused(shape, {data}), HasSubstr("takes 2 arguments, 1 were given"));
    EXPECT_THAT(refused(shape, {data, std::uint64_t{8}, 1}), HasSubstr("takes 2 arguments, 3 were given"));
    EXPECT_THAT(refused(shape, {data, data}), HasSubstr("argument 2 of 2 needs a value, got buffer \"samples\""));
    EXPECT_THAT(refused(shape, {std::uint64_t{8}, std::uint64_t{8}}), HasSubstr("argument 1 of 2 needs a buffer"));
    EXPECT_THAT(refused(shape, {data, 8}), HasSubstr("argument 2 of 2"));
    EXPECT_THAT(refused({.items = {4}}, {data, std::uint64_t{8}}), HasSubstr("work-groups of 8x1x1"));
    queue.launch(kernel, shape, {data, std::uint64_t{8}});
    EXPECT_EQ(downloaded<float>(queue, data), std::vector<float>(8, 2.0f));
  }
}

}  // namespace
}  // namespace ridge
