// Tests that the kernels of the device probes do the work they are timed for: every result is compared with the host's.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <ridge/machine.hpp>

#include "device/cuda/nvrtc.hpp"
#include "machine/device/bench.hpp"
#include "machine/device/kernels.hpp"
#include "machine/device/probes.hpp"
#include "support/devices.hpp"

namespace ridge::machine {
namespace {

// Runs a probe's kernels on every device except the host.
class DeviceKernels : public test::NeedsAccelerator<> {
 protected:
  void on_every_device(const std::function<void()>& body) {
    for (const Device& device : test::accelerators()) {
      SCOPED_TRACE(device.id() + ", " + device.info().name);
      bench = std::make_unique<DeviceBench>(device, true);
      body();
      bench.reset();
    }
  }
  template <class T>
  std::vector<T> download(const Buffer& buffer, std::size_t count) {
    std::vector<T> values(count);
    bench->queue().download(buffer, values.data(), count * sizeof(T));
    bench->queue().finish();
    return values;
  }
  template <class T>
  Buffer upload(const std::vector<T>& values, const char* name) {
    Buffer buffer = bench->device().buffer(values.size() * sizeof(T), {.name = name});
    bench->queue().upload(values.data(), buffer, values.size() * sizeof(T));
    bench->queue().finish();
    return buffer;
  }
  std::unique_ptr<DeviceBench> bench;
};

TEST_F(DeviceKernels, EveryCopyShapeCopiesAllAndNothingElse) {
  on_every_device([&] {
    const std::size_t items = std::min<std::size_t>(64, bench->limits().work_group);
    for (const int vectors : kVectors) {
      for (const char* once : {"", "_once"}) {
        const std::size_t tiles = 5, count = tiles * items * static_cast<std::size_t>(vectors) * 4;
        std::vector<float> values(count);
        std::iota(values.begin(), values.end(), 1.0f);
        const Buffer from = upload(values, "from"), to = upload(std::vector<float>(count, -1), "to");
        const Kernel kernel = bench->kernel("copy_" + std::to_string(vectors) + once);
        for (const std::uint64_t groups : {5, 2}) {  // one tile per group, and groups that loop over tiles
          bench->queue().fill(to, std::byte{0});
          bench->queue().launch(kernel, {.groups = {groups}, .items = {items}}, {from, to, std::uint32_t{tiles}});
          ASSERT_EQ(download<float>(to, count), values) << vectors << once << ", " << groups << " groups";
        }
      }
    }
  });
}

TEST_F(DeviceKernels, EveryWriteShapeWritesAll) {
  on_every_device([&] {
    const std::size_t items = std::min<std::size_t>(64, bench->limits().work_group);
    for (const int vectors : kVectors) {
      for (const char* once : {"", "_once"}) {
        const std::size_t tiles = 3, count = tiles * items * static_cast<std::size_t>(vectors) * 4;
        const Buffer to = upload(std::vector<float>(count, -1), "to");
        bench->queue().launch(bench->kernel("write_" + std::to_string(vectors) + once),
                              {.groups = {2}, .items = {items}}, {to, std::uint32_t{tiles}, 2.5f});
        ASSERT_EQ(download<float>(to, count), std::vector<float>(count, 2.5f)) << vectors << once;
      }
    }
  });
}

TEST_F(DeviceKernels, WindowKernelsVisitTheirTiles) {
  on_every_device([&] {
    const std::size_t items = std::min<std::size_t>(32, bench->limits().work_group), groups = 3, range = 5, rounds = 12;
    const std::size_t tile = items * kWindowVectors * 4;  // words
    std::vector<std::uint32_t> words(groups * range * tile);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(i * 2654435761u);
    const Buffer from = upload(words, "from"), out = upload(std::vector<std::uint32_t>(groups * items), "out");
    const std::uint32_t base_step = 5, start_step = 2, step = 3;
    const std::vector<Argument> parameters{base_step, start_step, std::uint32_t{range}, step, std::uint32_t{rounds}};
    std::vector<Argument> arguments{from, out};
    arguments.insert(arguments.end(), parameters.begin(), parameters.end());
    std::vector<std::uint32_t> expected(groups * items, 0);
    for (std::size_t group = 0; group < groups; ++group) {
      std::size_t at = group * start_step % range;
      for (std::size_t round = 0; round < rounds; ++round, at = (at + step) % range)
        for (std::size_t item = 0; item < items; ++item)
          for (std::size_t k = 0; k < kWindowVectors; ++k)
            for (std::size_t word = 0; word < 4; ++word)
              expected[group * items + item] += words[(group * base_step + at) * tile + (k * items + item) * 4 + word];
    }
    for (const char* kernel : {"window_read", "window_read_l2"}) {
      bench->queue().launch(bench->kernel(kernel), {.groups = {groups}, .items = {items}}, arguments);
      EXPECT_EQ(download<std::uint32_t>(out, groups * items), expected) << kernel;
    }

    const Buffer to = upload(std::vector<std::uint32_t>(words.size(), 0), "to");
    arguments[1] = Argument(to);
    bench->queue().launch(bench->kernel("window_copy"), {.groups = {groups}, .items = {items}}, arguments);
    EXPECT_EQ(download<std::uint32_t>(to, words.size()), words) << "steps of 3 visit all 5 tiles";
  });
}

TEST_F(DeviceKernels, LocalReadsSumTheBlock) {
  on_every_device([&] {
    const std::uint32_t rounds = 3;
    const std::size_t items = std::min<std::size_t>(256, bench->most_items(bench->kernel("local_read")));
    const Buffer out = upload(std::vector<std::uint32_t>(items), "out");
    bench->queue().launch(bench->kernel("local_read"), {.groups = {1}, .items = {items}}, {out, rounds});
    std::vector<std::uint32_t> expected(items);
    for (std::size_t item = 0; item < items; ++item) {
      std::size_t at = item;
      for (std::uint32_t visit = 0; visit < rounds * kLocalVisits; ++visit, at = (at + items) % kLocalVectors)
        expected[item] += static_cast<std::uint32_t>(at) + 6;
      expected[item] += static_cast<std::uint32_t>(item);
    }
    EXPECT_EQ(download<std::uint32_t>(out, items), expected);
  });
}

template <class T>
void expect_fma(DeviceBench& bench, const std::vector<T>& ends, std::size_t items, std::uint32_t rounds) {
  const T b = static_cast<T>(kFmaFactors[0]), c = static_cast<T>(kFmaFactors[1]);
  for (std::size_t item = 0; item < items; item += 17) {
    for (int chain = 0; chain < kFmaChains; ++chain) {
      T a = static_cast<T>(item % 64) + static_cast<T>(chain);
      for (std::uint32_t link = 0; link < rounds * kFmaUnrolled; ++link) a = std::fma(b, c, a);
      ASSERT_EQ(ends[item * kFmaChains + static_cast<std::size_t>(chain)], a)
          << bench.device().id() << " item " << item << " chain " << chain;
    }
  }
}

TEST_F(DeviceKernels, FmaChainsEndWhereTheHostsDo) {
  on_every_device([&] {
    const std::size_t items = std::min<std::size_t>(64, bench->limits().work_group), groups = 2;
    const std::uint32_t rounds = 9;
    launch_fma(*bench, bench->queue(), false, items, groups, rounds);
    expect_fma(*bench, download<float>(bench->results(), items * groups * kFmaChains), items * groups, rounds);
    if (!bench->limits().float64) return;
    launch_fma(*bench, bench->queue(), true, items, groups, rounds);
    expect_fma(*bench, download<double>(bench->results(), items * groups * kFmaChains), items * groups, rounds);
  });
}

TEST_F(DeviceKernels, AccessReadsTheByteOfThePattern) {
  on_every_device([&] {
    const auto table = access_table();
    const Buffer from = upload(table, "table");
    const std::size_t items = std::min<std::size_t>(kAccessItems, bench->most_items(bench->kernel("access_global")));
    const Buffer out = upload(std::vector<std::uint8_t>(2 * items), "out");
    struct Pattern {
      std::uint32_t mask, shift, stride;
    };
    for (const Pattern p : {Pattern{7, 0, 1}, Pattern{1023, 0, 16}, Pattern{~0u, 3, 16}, Pattern{~0u, 10, 1}}) {
      std::vector<std::uint8_t> expected(2 * items);
      for (std::uint32_t i = 0; i < expected.size(); ++i) {
        const auto tid = static_cast<std::uint32_t>(i % items);
        expected[i] = table[((tid & p.mask) >> p.shift) * p.stride];
      }
      for (const char* space : {"global", "cached", "local", "constant"}) {
        const std::string name = std::string("access_") + space;
        if (items > bench->most_items(bench->kernel(name))) continue;
        bench->queue().fill(out, std::byte{0});
        std::vector<Argument> arguments{out, p.mask, p.shift, p.stride};
        if (std::string(space) != "constant") arguments.insert(arguments.begin(), Argument(from));
        bench->queue().launch(bench->kernel(name), {.groups = {2}, .items = {items}}, arguments);
        ASSERT_EQ(download<std::uint8_t>(out, expected.size()), expected) << name << " shift " << p.shift;
      }
    }
  });
}

TEST_F(DeviceKernels, PoisonOverwritesAndSpinSpins) {
  on_every_device([&] {
    const Buffer buffer = upload(std::vector<std::uint32_t>(4 * 100, 1), "buffer");
    bench->queue().launch(bench->kernel("poison"), {.groups = {2}, .items = {16}},
                          {buffer, std::uint32_t{100}, std::uint32_t{77}});
    EXPECT_EQ(download<std::uint32_t>(buffer, 400), std::vector<std::uint32_t>(400, 77));
    bench->queue().launch(bench->kernel("spin"), {.groups = {2}, .items = {16}}, {buffer, std::uint32_t{1000}});
    const auto spun = download<std::uint32_t>(buffer, 32);
    for (std::uint32_t item = 0; item < 32; ++item) EXPECT_EQ(spun[item], spin_value(item, 1000));
  });
}

TEST(ProbeKernels, CompileForHopper) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  for (const KernelSource& source : all_probe_kernels())
    EXPECT_NO_THROW(detail::compile_for(source, "sm_90")) << source.name;
}

#ifdef RIDGE_HAVE_CUDA
// The peak needs every chain in registers; a spill would measure the cache.
TEST(ProbeKernels, NothingSpillsOnHopper) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  for (const KernelSource& source : all_probe_kernels()) {
    const auto resources = detail::resources_for(source, "sm_90");
    EXPECT_FALSE(resources.empty()) << source.name;
    for (const auto& kernel : resources) {
      EXPECT_EQ(kernel.spilled_bytes, 0) << kernel.kernel;
      EXPECT_EQ(kernel.stack_bytes, 0) << kernel.kernel;
      EXPECT_LE(kernel.registers, 64) << kernel.kernel << ": 1024 items must fit in a multiprocessor";
    }
  }
}
#endif

}  // namespace
}  // namespace ridge::machine
