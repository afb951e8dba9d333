// A batch divided over several devices gives the results of one device, for any division.
#include <atomic>
#include <random>
#include <system_error>

#include <gtest/gtest.h>
#include <ridge/fft/hybrid.hpp>

#include "fft/device_support.hpp"
#include "fft/multi_device/spinning_pool.hpp"
#include "fft/multi_device/worker.hpp"

namespace ridge::fft {
namespace {

std::vector<std::complex<float>> noise(std::size_t n) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  std::vector<std::complex<float>> out(n);
  for (auto& value : out) value = {uniform(random), uniform(random)};
  return out;
}

using fft::device_tests::LineErrors;
using fft::device_tests::part;

// The largest error of any line, relative to the limit.
double gated(const std::vector<std::complex<float>>& in, const std::vector<std::complex<float>>& out, std::size_t n,
             bool inverse = false, double scale = 1) {
  LineErrors errors(n, reference::error_gate<float>(n));
  for (std::size_t first = 0; first < in.size(); first += n) {
    auto expected = nd_dft(wide(part(in, first, n)), {n}, inverse);
    for (auto& value : expected) value *= scale;
    errors.add(distance(part(out, first, n), expected));
  }
  return errors.value();
}

std::vector<Device> some_devices() {
  std::vector<Device> out{host()};
  if (const auto others = test::accelerators(); !others.empty()) out.push_back(others.front());
  return out;
}

TEST(FftHybrid, GivesWhatOneDeviceGives) {
  const auto list = some_devices();
  if (list.size() < 2) GTEST_SKIP() << "no OpenCL or CUDA device beside the host";
  const Problem problem{.shape = {360}, .batch = 257, .scale_inverse = 1.0 / 360};
  const HybridPlan<float> hybrid(list, problem, {.seconds = 0.05});
  const auto in = noise(360 * 257);
  std::vector<std::complex<float>> out(in.size()), back(in.size());
  hybrid.forward(in, out);
  EXPECT_LE(gated(in, out, 360), 1);
  hybrid.inverse(out, back);
  EXPECT_LE(gated(out, back, 360, true, 1.0 / 360), 1);
  std::size_t all = 0;
  for (const auto& share : hybrid.shares()) {
    all += share.transforms;
    EXPECT_GT(share.alone_seconds, 0);
    EXPECT_LE(hybrid.seconds(), share.alone_seconds) << "a hybrid plan is never slower than one side alone";
  }
  EXPECT_EQ(all, problem.batch);
  EXPECT_NE(hybrid.explain().find(list[1].id()), std::string::npos);
}

// Every division of the batch, not only the measured one, and blocks that do not divide it.
TEST(FftHybrid, EveryDivisionGivesTheSameResult) {
  const auto list = some_devices();
  if (list.size() < 2) GTEST_SKIP() << "no OpenCL or CUDA device beside the host";
  const Problem problem{.shape = {64}, .batch = 37};
  const auto in = noise(64 * 37);
  const auto near = host_worker<float>(list[0], problem, {});
  // Direct and through staging by one to three threads; two transforms per block, so that some blocks are incomplete.
  for (const CallersMemory memory : {CallersMemory::pinned, CallersMemory::pageable}) {
    const auto far = device_worker<float>(list[1], problem, {.memory = memory, .piece_bytes = 1024});
    for (const std::size_t cut : {0, 17, 20, 37}) {
      std::vector<std::complex<float>> out(in.size());
      near->assign(cut, {0, 1});
      far->assign(37 - cut, {1, 1 + cut % 3});
      const auto* from = reinterpret_cast<const std::byte*>(in.data());
      auto* to = reinterpret_cast<std::byte*>(out.data());
      near->run(Direction::forward, from, to, 0);
      far->run(Direction::forward, from, to, cut);
      EXPECT_LE(gated(in, out, 64), 1) << "cut at " << cut;
    }
  }
}

TEST(FftHybrid, PinnedMemoryAndCappedCores) {
  const auto list = some_devices();
  if (list.size() < 2) GTEST_SKIP() << "no OpenCL or CUDA device beside the host";
  const Problem problem{.shape = {64}, .batch = 64};
  const auto hybrid =
      plan<float>({list[1], list[0]}, problem,  // the host need not be first
                  {.memory = CallersMemory::pinned, .cores = 1, .units = 3, .pin = false, .seconds = 0.02});
  const auto in = noise(64 * 64);
  std::vector<std::complex<float>> out(in.size());
  hybrid.forward(in, out);
  EXPECT_LE(gated(in, out, 64), 1);
  double rate = 0;
  for (const auto& share : hybrid.shares()) {
    EXPECT_LE(share.cores, 1U);
    EXPECT_EQ(share.cores > 0, share.transforms > 0);
    rate += share.rate;
  }
  EXPECT_NEAR(hybrid.ideal_seconds(), 64 / rate, 1e-9);
  EXPECT_LE(hybrid.best_seconds(), hybrid.seconds());
}

TEST(FftHybrid, RealTransforms) {
  const auto list = some_devices();
  const std::size_t n = 100, half = 51, batch = 40;
  const Problem problem{.shape = {n}, .batch = batch, .kind = Kind::real, .scale_inverse = 0.01};
  const HybridPlan<float> hybrid(list, problem, {.seconds = 0.03});
  std::vector<float> in(n * batch), back(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = std::sin(0.37F * static_cast<float>(i * i % 1001));
  std::vector<std::complex<float>> out(half * batch);
  hybrid.forward(in, out);
  hybrid.inverse(out, back);
  const double gate = reference::error_gate<float>(n);
  LineErrors there(n, gate), round_trip(n, 2 * gate);
  for (std::size_t line = 0; line < batch; ++line) {
    const auto samples = part(in, line * n, n);
    auto expected = nd_dft({samples.begin(), samples.end()}, {n}, false);
    expected.resize(half);
    there.add(distance(part(out, line * half, half), expected));
    round_trip.add(distance(part(back, line * n, n), samples));
  }
  EXPECT_LE(there.value(), 1);
  EXPECT_LE(round_trip.value(), 1);
}

// A thread that cannot start must neither end the process nor leave earlier threads waiting.
TEST(FftHybrid, ThreadsThatCannotStartAreAnError) {
  std::size_t started = 0;
  const auto two_at_most = [&](std::function<void()> work) {
    if (started == 2) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    ++started;
    return start_thread(std::move(work));
  };
  try {
    const SpinningPool pool(5, two_at_most);
    FAIL() << "expected an error: five members with two threads";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    EXPECT_NE(std::string(error.what()).find("needs 4 threads"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("gave 2"), std::string::npos) << error.what();
  }
  started = 0;
  SpinningPool pool(3, two_at_most);
  std::atomic<std::size_t> sum{0};
  pool.run([&](std::size_t member) { sum += member; });
  EXPECT_EQ(sum, 3u);
}

TEST(FftHybrid, InvalidCallsAreRefused) {
  EXPECT_THROW(HybridPlan<float>({}, {.shape = {8}}), Error);
  EXPECT_THROW(HybridPlan<float>({host(), host()}, {.shape = {8}}), Error);
  EXPECT_THROW(HybridPlan<float>({host()}, {.shape = {8}, .in_place = true}), Error);
  EXPECT_THROW(HybridPlan<float>({host()}, {.shape = {8}, .batch = 4, .input = {.axes = {4}, .batch = 1}}), Error);
  EXPECT_THROW(HybridPlan<float>({host()}, {.shape = {8}, .batch = 4, .output = {.axes = {1}, .batch = 9}}), Error);
  EXPECT_THROW(HybridPlan<float>({host()}, {.shape = {8}, .batch = 4, .input = {.axes = {2}, .batch = 16}}), Error);
  const HybridPlan<float> hybrid({host()}, {.shape = {8}, .batch = 2}, {.seconds = 0.01});
  std::vector<std::complex<float>> in(16), out(15);
  EXPECT_THROW(hybrid.forward(in, out), Error);
  EXPECT_THROW(hybrid.forward(in, in), Error);
  std::vector<float> real(16);
  EXPECT_THROW(hybrid.forward(std::span<const float>(real), in), Error);
}

}  // namespace
}  // namespace ridge::fft
