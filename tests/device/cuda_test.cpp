// The CUDA back end through the public interface. Without a driver only the notes are checked.
#ifdef RIDGE_HAVE_CUDA
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include <ridge/device.hpp>

#include "device/cuda/loader.hpp"
#include "device/tile_map.hpp"

namespace ridge {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

std::optional<Device> first_cuda_device() {
  for (const Device& device : devices().devices) {
    if (device.info().backend == Backend::cuda) return device;
  }
  return std::nullopt;
}

Error cuda_error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::internal, "no error"};
}

std::vector<float> rising(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

std::vector<float> downloaded_floats(Queue& queue, const Buffer& buffer) {
  std::vector<float> values(buffer.size() / sizeof(float));
  queue.download(buffer, values.data(), buffer.size());
  queue.finish();
  return values;
}

Launch over(std::uint64_t items) { return {.groups = {(items + 255) / 256}, .items = {256}}; }

constexpr const char* kSaxpy = R"(
KERNEL WORK_GROUP(256, 1, 1) void saxpy(GLOBAL const float* RESTRICT x, GLOBAL float* RESTRICT y, float a, ulong n) {
  const ulong i = GLOBAL_ID(0);
  if (i < n) y[i] = FMA(a, x[i], y[i]);
}
)";

TEST(CudaNotes, AMissingDriverIsALineOfInformation) {
  if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL)) GTEST_SKIP() << "this machine has an NVIDIA driver";
  EXPECT_FALSE(first_cuda_device());
  EXPECT_THAT(devices().notes, ::testing::Contains("CUDA: libcuda.so.1 not found: no NVIDIA driver on this machine"));
}

class Cuda : public ::testing::Test {
 protected:
  void SetUp() override {
    gpu = first_cuda_device();
    if (!gpu) GTEST_SKIP() << "no CUDA device on this machine";
  }
  Kernel kernel(const char* name, const char* text) { return gpu->compile({.name = name, .text = text}).kernel(name); }
  Buffer floats(std::size_t count, MemoryKind kind = MemoryKind::device, const char* name = "floats") {
    return gpu->buffer(count * sizeof(float), {.kind = kind, .name = name});
  }

  std::optional<Device> gpu;
};

TEST_F(Cuda, DescribesItself) {
  const DeviceInfo& info = gpu->info();
  EXPECT_TRUE(info.isa.starts_with("sm_")) << info.isa;
  EXPECT_FALSE(info.name.empty());
  EXPECT_THAT(info.driver, HasSubstr("CUDA"));  // NVRTC is named if it was opened: shipped kernels need none
  EXPECT_EQ(info.bus.size(), 12u) << info.bus;
  EXPECT_EQ(info.limits.sub_group, 32u);
  EXPECT_GE(info.limits.work_group, 512u);
  EXPECT_GE(info.limits.local_memory, 48u * 1024);
  EXPECT_GE(info.limits.registers, 32u * 1024);
  EXPECT_GT(info.limits.memory, 1u << 28);
  EXPECT_GE(info.limits.compute_units, 1u);
  EXPECT_GE(info.limits.items_per_unit, info.limits.work_group);
}

TEST_F(Cuda, Saxpy) {
  const std::size_t n = 100'003;
  auto queue = gpu->queue();
  const auto values = rising(n);
  const auto x = floats(n), y = floats(n);
  queue.upload(values.data(), x, x.size());
  queue.upload(values.data(), y, y.size());
  queue.launch(kernel("saxpy", kSaxpy), over(n), {x, y, 2.0f, std::uint64_t{n}});
  const auto result = downloaded_floats(queue, y);
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(result[i], 3.0f * values[i]) << i;
}

TEST_F(Cuda, CopiesKeepToTheirOffsets) {
  auto queue = gpu->queue();
  const auto values = rising(64);
  const auto a = floats(64), b = floats(64);
  queue.fill(a, std::byte{0});
  queue.fill(b, std::byte{0});
  queue.upload(values.data(), a, 16 * sizeof(float), 8 * sizeof(float));
  queue.copy(a, b, 8 * sizeof(float), 10 * sizeof(float), 50 * sizeof(float));
  std::vector<float> part(8);
  queue.download(b, part.data(), part.size() * sizeof(float), 50 * sizeof(float));
  const auto whole = downloaded_floats(queue, b);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(part[i], values[i + 2]);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(whole[i], i >= 50 && i < 58 ? values[i - 50 + 2] : 0.0f) << i;
}

TEST_F(Cuda, EveryKindOfMemoryIsFilledAndCopiedToEveryOther) {
  auto queue = gpu->queue();
  const auto values = rising(1000);
  const MemoryKind kinds[] = {MemoryKind::device, MemoryKind::pinned, MemoryKind::mapped};
  for (const MemoryKind from_kind : kinds) {
    for (const MemoryKind to_kind : kinds) {
      const auto from = floats(1000, from_kind), to = floats(1000, to_kind);
      queue.fill(to, std::byte{0});
      EXPECT_THAT(downloaded_floats(queue, to), Each(0.0f));
      queue.upload(values.data(), from, from.size());
      queue.copy(from, to, from.size());
      EXPECT_EQ(downloaded_floats(queue, to), values);
    }
  }
}

TEST_F(Cuda, MappedMemoryIsVisibleToHostAndDevice) {
  constexpr const char* text = "KERNEL void twice(GLOBAL float* x) { x[GLOBAL_ID(0)] = 2.0f * x[GLOBAL_ID(0)]; }";
  auto queue = gpu->queue();
  const auto buffer = floats(256, MemoryKind::mapped);
  for (std::size_t i = 0; i < 256; ++i) buffer.map().as<float>()[i] = static_cast<float>(i);
  queue.launch(kernel("twice", text), over(256), {buffer});
  queue.finish();
  const auto mapping = buffer.map();
  for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(mapping.as<float>()[i], 2.0f * static_cast<float>(i));
}

TEST_F(Cuda, WriteCombinedMemoryReachesTheDevice) {
  auto queue = gpu->queue();
  const auto values = rising(4096);
  for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::mapped}) {
    const auto from = gpu->buffer(values.size() * sizeof(float), {.kind = kind, .name = "wc", .write_combined = true});
    const auto y = floats(values.size());
    std::copy(values.begin(), values.end(), from.map().as<float>().begin());
    queue.fill(y, std::byte{0});
    if (kind == MemoryKind::mapped) {
      queue.launch(kernel("saxpy", kSaxpy), over(values.size()), {from, y, 1.0f, std::uint64_t{values.size()}});
    } else {
      queue.copy(from, y, y.size());
    }
    EXPECT_EQ(downloaded_floats(queue, y), values);
  }
}

TEST_F(Cuda, DeviceMemoryIsNotMapped) {
  const Error error = cuda_error_of([&] { floats(16).map(); });
  EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
}

TEST_F(Cuda, ALocalBlockMayBeLargerThan48Kilobytes) {
  constexpr const char* text = R"(
KERNEL WORK_GROUP(256, 1, 1) void reverse(GLOBAL float* x, int n) {
  LOCAL_BLOCK(float, tile, 25600);
  const uint start = GROUP_ID(0) * (uint)n;
  for (int i = LOCAL_ID(0); i < n; i += ITEMS(0)) tile[i] = x[start + i];
  BARRIER();
  for (int i = LOCAL_ID(0); i < n; i += ITEMS(0)) x[start + i] = tile[n - 1 - i];
}
)";
  if (gpu->limits().local_memory < 102'400) GTEST_SKIP() << "this device has less than 100 KB of local memory";
  auto queue = gpu->queue();
  const auto reverse = kernel("reverse", text);
  for (const int n : {25'600, 16'000, 25'600, 100}) {
    const std::size_t groups = 5;
    const auto values = rising(groups * static_cast<std::size_t>(n));
    const auto x = floats(values.size());
    queue.upload(values.data(), x, x.size());
    queue.launch(reverse,
                 {.groups = {groups}, .items = {256}, .local_bytes = static_cast<std::size_t>(n) * sizeof(float)},
                 {x, n});
    const auto result = downloaded_floats(queue, x);
    for (std::size_t g = 0; g < groups; ++g) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        const std::size_t start = g * static_cast<std::size_t>(n);
        ASSERT_EQ(result[start + i], values[start + static_cast<std::size_t>(n) - 1 - i]) << n << " " << g << " " << i;
      }
    }
  }
}

TEST_F(Cuda, TilesAreLoadedAndStoredByTensorMaps) {
  if (!gpu->limits().tensor_maps) GTEST_SKIP() << "needs Hopper or later";
  constexpr const char* text = R"(
KERNEL WORK_GROUP(32, 1, 1) void move(TILE_MAP(from), TILE_MAP(to)) {
  LOCAL_BLOCK(float, tile, 516);
  LOCAL ulong* const arrived = (LOCAL ulong*)(tile + 512);
  const int item = LOCAL_ID(0);
  if (item == 0) COPY_BARRIER_INIT(arrived);
  BARRIER();
  if (item == 0) {
    COPY_BARRIER_EXPECT(arrived, 2048u);
    TMA_LOAD_TILE(arrived, tile, from, 16, 32, 1);
  }
  MBARRIER_WAIT(arrived, 0);
  for (int i = item; i < 512; i += 32) tile[i] += 0.5f;
  TILE_STORE_FENCE();
  BARRIER();
  if (item == 0) {
    TMA_STORE_TILE(to, 0, 8, 2, tile);
    TILE_STORE_WAIT();
  }
}
)";
  const std::size_t columns = 48, rows = 64, arrays = 3;
  const auto values = rising(columns * rows * arrays);
  const Buffer from = floats(values.size()), to = floats(values.size());
  auto queue = gpu->queue();
  queue.upload(values.data(), from, from.size());
  queue.fill(to, std::byte{0});
  const detail::TileMapShape shape{.columns = columns,
                                   .rows = rows,
                                   .row = columns * 4,
                                   .arrays = arrays,
                                   .array = columns * rows * 4,
                                   .box_columns = 16,
                                   .box_rows = 32};
  const detail::TileMap in = detail::tile_map(from, shape), out = detail::tile_map(to, shape);
  queue.launch(kernel("move", text), {.groups = {1}, .items = {32}, .local_bytes = 2064},
               {in.first, in.rest, out.first, out.rest});
  const auto result = downloaded_floats(queue, to);
  std::vector<float> expected(values.size(), 0.0f);
  for (std::size_t row = 0; row < 32; ++row) {
    for (std::size_t column = 0; column < 16; ++column) {
      expected[(2 * rows + 8 + row) * columns + column] = values[(rows + 32 + row) * columns + 16 + column] + 0.5f;
    }
  }
  EXPECT_EQ(result, expected);
}

TEST_F(Cuda, FunctionsOfTheDialectComputeTheirDefinition) {
  constexpr const char* text = R"(
CONSTANT_TABLE float table[4] = {10.0f, 20.0f, 30.0f, 40.0f};
KERNEL WORK_GROUP(8, 4, 2) void words(GLOBAL float* out, GLOBAL const float4* in) {
  const int item = LOCAL_ID(0) + 8 * (LOCAL_ID(1) + 4 * LOCAL_ID(2));
  const int lane = item % SUB_GROUP_WIDTH;
  const uint group = GROUP_ID(0) + GROUPS(0) * (GROUP_ID(1) + GROUPS(1) * GROUP_ID(2));
  GLOBAL float* mine = out + (group * 64 + item) * 8;
  mine[0] = SHUFFLE(lane, 5);
  mine[1] = SHUFFLE_UP((float)lane, 2);
  mine[2] = SHUFFLE_DOWN((uint)lane, 3);
  mine[3] = SHUFFLE_XOR(lane, 16);
  mine[4] = GLOBAL_ID(0) + 100 * GLOBAL_ID(1) + 10000 * GLOBAL_ID(2);
  mine[5] = ITEMS(0) + 10 * ITEMS(1) + 100 * ITEMS(2);
  const float4 four = LOAD_ONCE(in);
  mine[6] = table[item & 3] + four.w;
  STORE_ONCE(mine + 7, LOAD_CACHED(in + 1).z);
}
)";
  auto queue = gpu->queue();
  const auto in = floats(8), out = floats(8 * 64 * 12);
  const auto values = rising(8);
  queue.upload(values.data(), in, in.size());
  queue.launch(kernel("words", text), {.groups = {2, 3, 2}, .items = {8, 4, 2}}, {out, in});
  const auto result = downloaded_floats(queue, out);
  for (std::size_t group = 0; group < 12; ++group) {
    for (std::size_t item = 0; item < 64; ++item) {
      const float* mine = result.data() + (group * 64 + item) * 8;
      const std::size_t lane = item % 32;
      const std::size_t x = group % 2 * 8 + item % 8, y = group / 2 % 3 * 4 + item / 8 % 4,
                        z = group / 6 * 2 + item / 32;
      ASSERT_EQ(mine[0], 5.0f);
      ASSERT_EQ(mine[1], static_cast<float>(lane < 2 ? lane : lane - 2));
      if (lane < 29) {
        ASSERT_EQ(mine[2], static_cast<float>(lane + 3));
      }
      ASSERT_EQ(mine[3], static_cast<float>(lane ^ 16));
      ASSERT_EQ(mine[4], static_cast<float>(x + 100 * y + 10'000 * z));
      ASSERT_EQ(mine[5], 248.0f);
      ASSERT_EQ(mine[6], static_cast<float>(10 * (item % 4 + 1)) + values[3]);
      ASSERT_EQ(mine[7], values[6]);
    }
  }
}

TEST_F(Cuda, EventsMeasureTheTimeBetweenThem) {
  auto queue = gpu->queue();
  const auto x = floats(1 << 22), y = floats(1 << 22);
  queue.fill(x, std::byte{0});
  queue.fill(y, std::byte{0});
  const auto saxpy = kernel("saxpy", kSaxpy);
  const auto first = queue.record();
  for (int i = 0; i < 3; ++i) queue.launch(saxpy, over(1 << 22), {x, y, 1.0f, std::uint64_t{1 << 22}});
  const auto last = queue.record();
  last.wait();
  EXPECT_TRUE(first.done());
  EXPECT_TRUE(last.done());
  EXPECT_GT(seconds_between(first, last), 0.0);
}

TEST_F(Cuda, AQueueWaitsForAnotherQueuesEvent) {
  const bool before = checking();
  set_checking(false);  // checking mode waits after every launch and would hide the asynchrony tested here
  const std::size_t n = 1 << 22;
  auto writer = gpu->queue(), reader = gpu->queue();
  const auto x = floats(n), y = floats(n), z = floats(n);
  const auto saxpy = kernel("saxpy", kSaxpy);
  const std::vector<float> ones(n, 1.0f);
  writer.upload(ones.data(), x, x.size());
  writer.fill(y, std::byte{0});
  for (int i = 0; i < 50; ++i) writer.launch(saxpy, over(n), {x, y, 1.0f, std::uint64_t{n}});
  reader.wait_for(writer.record());
  reader.copy(y, z, y.size());
  EXPECT_THAT(downloaded_floats(reader, z), Each(50.0f));
  set_checking(before);
}

TEST_F(Cuda, SeveralThreadsWorkAtOnce) {
  const auto saxpy = kernel("saxpy", kSaxpy);
  std::vector<std::thread> threads;
  std::vector<float> sums(4);
  for (std::size_t t = 0; t < sums.size(); ++t) {
    threads.emplace_back([&, t] {
      auto queue = gpu->queue();
      const std::vector<float> values(1000, static_cast<float>(t));
      const auto x = floats(1000), y = floats(1000);
      queue.upload(values.data(), x, x.size());
      queue.fill(y, std::byte{0});
      for (int i = 0; i < 10; ++i) queue.launch(saxpy, over(1000), {x, y, 1.0f, std::uint64_t{1000}});
      const auto result = downloaded_floats(queue, y);
      sums[t] = std::accumulate(result.begin(), result.end(), 0.0f);
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t t = 0; t < sums.size(); ++t) EXPECT_EQ(sums[t], 10'000.0f * static_cast<float>(t));
}

TEST_F(Cuda, WrongArgumentsAreRefused) {
  std::string why_not;
  if (!detail::cuda_driver(why_not)->function_get_param_info)
    GTEST_SKIP() << "this driver does not report parameters (before 12.4)";
  auto queue = gpu->queue();
  const auto saxpy = kernel("saxpy", kSaxpy);
  const auto x = floats(256);
  const Error count = cuda_error_of([&] { queue.launch(saxpy, over(256), {x, x, 1.0f}); });
  EXPECT_EQ(count.kind(), ErrorKind::invalid_argument);
  EXPECT_THAT(count.what(), HasSubstr("saxpy takes 4 arguments, 3 were given"));
  const Error size = cuda_error_of([&] { queue.launch(saxpy, over(256), {x, x, 1.0f, 256}); });
  EXPECT_EQ(size.kind(), ErrorKind::invalid_argument);
  EXPECT_THAT(size.what(), HasSubstr("argument 3 takes 8 bytes, a value of 4 was given"));
}

TEST_F(Cuda, AGridTooLongAlongItsSecondAxisIsRefused) {
  auto queue = gpu->queue();
  const auto x = floats(256);
  const Error error = cuda_error_of([&] {
    queue.launch(kernel("saxpy", kSaxpy), {.groups = {1, 70'000}, .items = {256}}, {x, x, 1.0f, std::uint64_t{1}});
  });
  EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
  EXPECT_THAT(error.what(), HasSubstr("70000 work-groups along axis 1"));
}

TEST_F(Cuda, TheWorkGroupOfAKernelIsALimit) {
  auto queue = gpu->queue();
  const auto saxpy = kernel("saxpy", kSaxpy);
  EXPECT_EQ(saxpy.work_group(), 256u);
  EXPECT_GT(saxpy.registers(), 0u);
  EXPECT_EQ(saxpy.private_bytes(), 0u);
  const auto x = floats(512);
  const Error error = cuda_error_of([&] { queue.launch(saxpy, {.items = {512}}, {x, x, 1.0f, std::uint64_t{512}}); });
  EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
}

TEST_F(Cuda, ABufferLargerThanTheDeviceOrTheFreeMemoryIsRefused) {
  const std::size_t memory = gpu->limits().memory;
  const Error larger = cuda_error_of([&] { gpu->buffer(2 * memory, {.name = "giant"}); });
  EXPECT_EQ(larger.kind(), ErrorKind::out_of_memory);
  EXPECT_THAT(larger.what(), HasSubstr("giant"));
  // The context itself takes memory, so not all of it can be free.
  const Error all = cuda_error_of([&] { gpu->buffer(memory, {.name = "everything"}); });
  EXPECT_EQ(all.kind(), ErrorKind::out_of_memory);
  EXPECT_THAT(all.what(), HasSubstr("everything"));
  EXPECT_THAT(all.what(), HasSubstr("free"));
  EXPECT_THAT(all.what(), HasSubstr(gpu->id()));
  EXPECT_TRUE(floats(16)) << "the device remains usable after the refusal";
}

TEST_F(Cuda, AMissingKernelAndASyntaxErrorAreNamed) {
  const auto program = gpu->compile({.name = "saxpy", .text = kSaxpy});
  const Error missing = cuda_error_of([&] { program.kernel("daxpy"); });
  EXPECT_EQ(missing.kind(), ErrorKind::invalid_argument);
  EXPECT_THAT(missing.what(), HasSubstr("daxpy"));
  const Error broken = cuda_error_of([&] { gpu->compile({.name = "broken", .text = "KERNEL void f( {}"}); });
  EXPECT_EQ(broken.kind(), ErrorKind::compile);
  EXPECT_THAT(broken.what(), HasSubstr("broken"));
}

TEST_F(Cuda, TheSecondCompilationComesFromTheCache) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const KernelSource source{.name = "saxpy", .text = kSaxpy, .defines = {{"UNIQUE", std::to_string(now)}}};
  EXPECT_FALSE(gpu->compile(source).from_cache());
  const auto again = gpu->compile(source);
  EXPECT_TRUE(again.from_cache());
  EXPECT_EQ(again.kernel("saxpy").work_group(), 256u);
}

TEST_F(Cuda, CheckingModeNamesTheKernelAndTheBufferOfAnOverrun) {
  set_checking(true);
  constexpr const char* text = "KERNEL void overrun(GLOBAL float* x, int n) { x[n] = 1.0f; }";
  auto queue = gpu->queue();
  const auto x = floats(100, MemoryKind::device, "samples");
  EXPECT_TRUE(std::isnan(downloaded_floats(queue, x)[50]));
  const Error error = cuda_error_of([&] { queue.launch(kernel("overrun", text), {}, {x, 101}); });
  EXPECT_EQ(error.kind(), ErrorKind::device);
  EXPECT_THAT(error.what(), HasSubstr("kernel overrun"));
  EXPECT_THAT(error.what(), HasSubstr("\"samples\""));
}

// The fault makes the device unusable for the process, so it is provoked in a child.
TEST_F(Cuda, AFaultNamesTheLastKernel) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto trespass = [&] {
    constexpr const char* text = "KERNEL void trespass(GLOBAL float* x, ulong far) { x[far] = 1.0f; }";
    const Error error = cuda_error_of([&] {
      auto queue = gpu->queue();
      const auto x = floats(16);
      queue.launch(kernel("trespass", text), {}, {x, std::uint64_t{1} << 44});
      queue.finish();
    });
    std::fprintf(stderr, "%s\n", error.what());
    std::_Exit(error.kind() == ErrorKind::device ? 0 : 1);
  };
  EXPECT_EXIT(trespass(), ::testing::ExitedWithCode(0), "last kernel launched was trespass");
}

}  // namespace
}  // namespace ridge
#endif
