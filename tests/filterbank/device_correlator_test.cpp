// Tests correlators on every device of this machine against the host's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "device/cuda/nvrtc.hpp"
#include "device/traits.hpp"
#include "filterbank/correlator.hpp"
#include "filterbank/device/compiled_bank.hpp"
#include "filterbank/device/correlator/products.hpp"
#include "on_devices.hpp"
#include "support.hpp"
#include "support/hopper.hpp"

namespace ridge::filterbank::test {
namespace {

using namespace on_device;

using ridge::test::accelerators;

TEST_F(BankOnDevices, CorrelatorEqualsTheHostsForAnyPieces) {
  struct Wanted {
    Problem problem;
    Correlation correlation;
    std::size_t times;
  };
  const std::vector<Wanted> all{
      {{.channels = 6, .stations = 3, .centred = true, .order = Order::channel, .output_times = 4},
       {.times = 8, .channels = 2},
       20},
      {{.channels = 3, .stations = 19, .order = Order::channel, .output_times = 16}, {.times = 272}, 544},
      {{.channels = 4, .stations = 5, .polarizations = 1}, {.times = 7}, 16},
  };
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (const Device& device : accelerators()) {
    for (const Wanted& one : all) {
      Correlator on_host(one.problem, one.correlation), whole(device, one.problem, one.correlation),
          cut(device, one.problem, one.correlation);
      const std::size_t each = one.problem.channels * one.problem.stations * one.problem.polarizations;
      Spectra spectra(one.times * each);
      for (auto& value : spectra) value = {normal(random), normal(random)};
      const std::size_t integrations = one.times / one.correlation.times;
      Spectra wanted(integrations * on_host.size()), got(wanted.size()), parts(wanted.size());
      ASSERT_EQ(on_host.push(spectra, wanted), integrations);
      ASSERT_EQ(whole.push(spectra, got), integrations);
      EXPECT_LT(error(got, wanted), 4e-7) << one.problem.stations << " on " << device.id();
      const std::size_t block = one.problem.order == Order::channel ? one.problem.output_times : 1;
      std::size_t written = 0;
      for (std::size_t t = 0; t < one.times; t += block) {
        written += cut.push(std::span(spectra).subspan(t * each, block * each),
                            std::span(parts).subspan(written * cut.size()));
      }
      EXPECT_TRUE(same_bits(parts, got)) << one.problem.stations << " on " << device.id();
      // The same with spectra in device memory.
      Queue queue = device.queue();
      const std::size_t times = integrations * one.correlation.times;
      const Buffer in = uploaded(device, std::span<const std::complex<float>>(spectra), "spectra");
      const Buffer out = device.buffer(got.size() * sizeof got[0]);
      whole.enqueue(queue, in, times, out);
      queue.download(out, std::span(parts));
      queue.finish();
      EXPECT_TRUE(same_bits(parts, got)) << one.problem.stations << " on " << device.id();
      EXPECT_THROW(whole.enqueue(queue, in, times + 1, out), Error);
    }
  }
}

// Rounded values: int8 gives identical integers everywhere, float16 the same products summed in another order.
TEST_F(BankOnDevices, CorrelatorOfRoundedValues) {
  struct Wanted {
    Problem problem;
    Correlation correlation;
    std::size_t times;
  };
  // One block of signals written to the output directly, two blocks, and sums of channels through totals.
  const std::vector<Wanted> all{
      {{.channels = 2, .stations = 35, .order = Order::channel, .output_times = 16},
       {.times = 32, .arithmetic = Arithmetic::float16},
       64},
      {{.channels = 1, .stations = 67, .order = Order::channel, .output_times = 4},
       {.times = 36, .arithmetic = Arithmetic::int8, .scale = 30},
       36},
      {{.channels = 4, .stations = 5, .polarizations = 1},
       {.times = 21, .channels = 2, .arithmetic = Arithmetic::int8, .scale = 30},
       42},
      {{.channels = 3, .stations = 2}, {.times = 20, .arithmetic = Arithmetic::int8, .scale = 30}, 40},
  };
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (const Device& device : accelerators()) {
    for (const Wanted& one : all) {
      const bool bytes = one.correlation.arithmetic == Arithmetic::int8;
      const std::size_t each = one.problem.channels * one.problem.stations * one.problem.polarizations;
      Spectra spectra(one.times * each);
      for (auto& value : spectra) value = {normal(random), normal(random)};
      const Buffer in = uploaded(device, std::span<const std::complex<float>>(spectra), "spectra");
      Correlation floats = one.correlation;
      floats.arithmetic = Arithmetic::float32, floats.scale = 1;
      Correlator on_host(one.problem, one.correlation), plain(one.problem, floats);
      Spectra wanted(one.times / one.correlation.times * on_host.size()), exact(wanted.size()), got(wanted.size());
      on_host.push(spectra, wanted);
      plain.push(spectra, exact);
      EXPECT_LT(error(wanted, exact), bytes ? 2e-2 : 5e-4);
      const double allowed = bytes ? 1e-7 : 1e-6;
      const auto matrix = make_correlator(device, one.problem, one.correlation, true);
      Queue queue = device.queue();
      const Buffer out = device.buffer(got.size() * sizeof got[0]);
      queue.fill(out, std::byte{0xff});
      matrix->enqueue(queue, in, one.times, out);
      queue.download(out, std::span(got));
      queue.finish();
      EXPECT_LE(error(got, wanted), allowed) << one.problem.stations << " stations on matrix units";
      if (one.problem.stations > 30) continue;  // the same kernels, larger
      for (const bool units : {true, false}) {
        std::fill(got.begin(), got.end(), std::complex<float>(NAN, NAN));
        make_correlator(device, one.problem, one.correlation, units)->push(spectra, got.data());
        EXPECT_LE(error(got, wanted), allowed) << one.problem.stations << " stations pushed, matrix units " << units;
      }
    }
  }
}

// Only Hopper has these instructions: whole and partial stages, direct and through totals, pushed, and float16 sums
// that leave the matrix units twice before their end.
TEST_F(BankOnDevices, CorrelatorByWarpGroups) {
  bool any = false;
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const Device& device : accelerators()) {
    if (!detail::has_warp_group_products(device.info().limits)) continue;
    any = true;
    for (const Arithmetic arithmetic : {Arithmetic::float16, Arithmetic::int8}) {
      for (const auto& [times, summed] : {std::pair{176u, 1u}, {176u, 2u}, {2096u, 1u}, {2096u, 2u}}) {
        const Problem problem{.channels = times > 1024 ? 2u : 6u,
                              .stations = 64,
                              .centred = true,
                              .order = Order::channel,
                              .output_times = 16};
        const bool bytes = arithmetic == Arithmetic::int8;
        const Correlation correlation{
            .times = times, .channels = summed, .arithmetic = arithmetic, .scale = bytes ? 30.0f : 1.0f};
        Spectra spectra(2 * times * problem.channels * 128);
        for (auto& value : spectra) value = {normal(random), normal(random)};
        Correlator on_host(problem, correlation);
        Spectra wanted(2 * on_host.size()), got(wanted.size());
        on_host.push(spectra, wanted);
        const auto matrix = make_correlator(device, problem, correlation, true);
        Queue queue = device.queue();
        const Buffer in = uploaded(device, std::span<const std::complex<float>>(spectra), "spectra");
        const Buffer out = device.buffer(got.size() * sizeof got[0]);
        queue.fill(out, std::byte{0xff});
        matrix->enqueue(queue, in, 2 * times, out);
        queue.download(out, std::span(got));
        queue.finish();
        // Matrix units truncate below the last bit of the sum, in steps of 8 times.
        const double bound = bytes ? 1e-7 : 0x1p-23 * std::min(times, 1024u) / 8;
        EXPECT_LE(error(got, wanted), bound) << times << " times, " << summed << " channels summed";
        std::fill(got.begin(), got.end(), std::complex<float>(NAN, NAN));
        matrix->push(spectra, got.data());
        EXPECT_LE(error(got, wanted), bound) << times << " times, " << summed << " channels summed, pushed";
      }
    }
  }
  if (!any) GTEST_SKIP() << "no device has products of warp groups";
}

TEST_F(BankOnDevices, CorrelatorOfPackedRows) {
  const Device device = accelerators().front();
  const Problem problem{.channels = 3, .stations = 4, .order = Order::channel, .output_times = 16};
  const Correlation correlation{.times = 64, .arithmetic = Arithmetic::int8, .scale = 40};
  Spectra spectra(128 * 24);
  std::mt19937 random(6);
  std::normal_distribution<float> normal;
  for (auto& value : spectra) value = {normal(random), normal(random)};
  Correlator correlator(device, problem, correlation);
  EXPECT_EQ(correlator.packed_times(), 32u);
  const Buffer in = uploaded(device, std::span<const std::complex<float>>(spectra), "spectra");
  const Buffer rows = device.buffer(spectra.size() * 2), out = device.buffer(2 * correlator.size() * 8);
  Queue queue = device.queue();
  correlator.pack(queue, in, 128, rows);
  // Packed rows have the layout that the header documents.
  std::vector<std::int8_t> bytes(spectra.size() * 2);
  queue.download(rows, std::span(bytes));
  queue.finish();
  for (const std::size_t t : {0u, 9u, 31u, 32u, 127u}) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      for (std::size_t signal = 0; signal < 8; ++signal) {
        const std::complex<float> value = spectra[((t / 16 * 3 + channel) * 8 + signal) * 16 + t % 16] * 40.0f;
        const std::size_t row = (t / 32 * 3 + channel) * 8 + signal, within = t % 32 * 2;
        const std::size_t at = row * 64 + ((within / 16) ^ (signal / 2 % 4)) * 16 + within % 16;
        EXPECT_EQ(bytes[at], std::nearbyint(std::clamp(value.real(), -127.0f, 127.0f))) << t << ' ' << signal;
        EXPECT_EQ(bytes[at + 1], std::nearbyint(std::clamp(value.imag(), -127.0f, 127.0f))) << t << ' ' << signal;
      }
    }
  }
  correlator.enqueue_packed(queue, rows, 128, out);
  Spectra wanted(2 * correlator.size()), got(wanted.size());
  correlator.push(spectra, wanted);
  queue.download(out, std::span(got));
  queue.finish();
  EXPECT_LE(error(got, wanted), 1e-7);
  EXPECT_THROW(correlator.enqueue_packed(queue, rows, 96, out), Error);
  EXPECT_THROW(correlator.pack(queue, in, 129, rows), Error);
  EXPECT_THROW(Correlator(device, problem, {.times = 64}).packed_times(), Error);
  EXPECT_THROW(Correlator(device, problem, {.times = 64, .scale = 2}), Error);
}

TEST(BankKernels, CorrelatorsCompileForHopper) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  const Geometry geometry = resolve({.channels = 256, .stations = 100});
  for (const Arithmetic arithmetic : {Arithmetic::float16, Arithmetic::int8}) {
    for (const bool direct : {false, true}) {
      const Correlation correlation{.arithmetic = arithmetic};
      const ProductsWanted wanted{.device = ridge::test::hopper(),
                                  .geometry = geometry,
                                  .correlation = correlation,
                                  .baselines = 5050,
                                  .direct = direct};
      for (const KernelSource& source : matrix_products_kernels(wanted)) {
        EXPECT_NO_THROW({ EXPECT_FALSE(detail::compile_for(source, "sm_90").empty()); });
      }
      const Geometry block = resolve({.channels = 256, .stations = 64});
      const KernelSource source = warp_group_kernel({.device = ridge::test::hopper(),
                                                     .geometry = block,
                                                     .correlation = correlation,
                                                     .baselines = 2080,
                                                     .direct = direct});
      for (const auto& kernel : detail::resources_for(source, "sm_90a")) {
        // Without `direct`, a few addresses are spilled, once per sum.
        EXPECT_LE(kernel.spilled_bytes, direct ? 0 : 160) << (arithmetic == Arithmetic::float16 ? "float16" : "bytes");
      }
    }
  }
}

}  // namespace
}  // namespace ridge::filterbank::test
