// One batch over several devices gives what one device gives, whatever the shares.
#include <random>

#include <gtest/gtest.h>
#include <ridge/fft_hybrid.hpp>

#include "fft/hybrid/lane.hpp"

namespace ridge::fft {
namespace {

std::vector<std::complex<float>> noise(std::size_t n) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  std::vector<std::complex<float>> out(n);
  for (auto& value : out) value = {uniform(random), uniform(random)};
  return out;
}

double difference(const std::vector<std::complex<float>>& a, const std::vector<std::complex<float>>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max<double>(worst, std::abs(a[i] - b[i]));
  return worst;
}

std::vector<Device> some_devices() {
  std::vector<Device> out{host()};
  for (const Device& device : devices().devices) {
    if (!device.is_host() && out.size() < 2) out.push_back(device);
  }
  return out;
}

TEST(FftHybrid, GivesWhatOneDeviceGives) {
  const auto list = some_devices();
  if (list.size() < 2) GTEST_SKIP() << "no OpenCL or CUDA device beside the host";
  const Problem problem{.shape = {360}, .batch = 257, .scale_inverse = 1.0 / 360};
  const HybridPlan<float> hybrid(list, problem, {.seconds = 0.05});
  const auto in = noise(360 * 257);
  std::vector<std::complex<float>> wanted(in.size()), out(in.size()), back(in.size());
  plan<float>(host(), problem, {.effort = Effort::quick}).forward(in, wanted);
  hybrid.forward(in, out);
  EXPECT_LT(difference(out, wanted), 2e-5);
  hybrid.inverse(out, back);
  EXPECT_LT(difference(back, in), 2e-6);
  std::size_t all = 0;
  for (const auto& share : hybrid.shares()) {
    all += share.transforms;
    EXPECT_GT(share.alone_seconds, 0);
    EXPECT_LE(hybrid.seconds(), share.alone_seconds) << "a hybrid plan is never slower than one side alone";
  }
  EXPECT_EQ(all, problem.batch);
  EXPECT_NE(hybrid.explain().find(list[1].id()), std::string::npos);
}

// Whatever the measurement chose: every cut of the batch, and pieces that do not divide it.
TEST(FftHybrid, EveryCutIsSeamless) {
  const auto list = some_devices();
  if (list.size() < 2) GTEST_SKIP() << "no OpenCL or CUDA device beside the host";
  const Problem problem{.shape = {64}, .batch = 37};
  const auto in = noise(64 * 37);
  std::vector<std::complex<float>> wanted(in.size());
  plan<float>(host(), problem, {.effort = Effort::quick}).forward(in, wanted);
  const auto near = host_lane<float>(list[0], problem, {});
  // Direct and through staging by one to three threads; two transforms a piece, so that some pieces are odd.
  for (const CallersMemory memory : {CallersMemory::pinned, CallersMemory::pageable}) {
    const auto far = device_lane<float>(list[1], problem, {.memory = memory, .piece_bytes = 1024});
    for (const std::size_t cut : {0, 17, 20, 37}) {
      std::vector<std::complex<float>> out(in.size());
      near->assign(cut, {0, 1});
      far->assign(37 - cut, {1, 1 + cut % 3});
      const auto* from = reinterpret_cast<const std::byte*>(in.data());
      auto* to = reinterpret_cast<std::byte*>(out.data());
      near->run(Direction::forward, from, to, 0);
      far->run(Direction::forward, from, to, cut);
      EXPECT_LT(difference(out, wanted), 1e-5) << "cut at " << cut;
    }
  }
}

TEST(FftHybrid, PinnedMemoryAndCappedCores) {
  const auto list = some_devices();
  if (list.size() < 2) GTEST_SKIP() << "no OpenCL or CUDA device beside the host";
  const Problem problem{.shape = {64}, .batch = 64};
  const auto hybrid =
      plan<float>({list[1], list[0]}, problem,  // the host need not come first
                  {.memory = CallersMemory::pinned, .cores = 1, .units = 3, .pin = false, .seconds = 0.02});
  const auto in = noise(64 * 64);
  std::vector<std::complex<float>> wanted(in.size()), out(in.size());
  plan<float>(host(), problem, {.effort = Effort::quick}).forward(in, wanted);
  hybrid.forward(in, out);
  EXPECT_LT(difference(out, wanted), 1e-5);
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
  const Problem problem{.shape = {100}, .batch = 40, .kind = Kind::real, .scale_inverse = 0.01};
  const HybridPlan<float> hybrid(list, problem, {.seconds = 0.03});
  std::vector<float> in(100 * 40), back(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = std::sin(0.37F * static_cast<float>(i * i % 1001));
  std::vector<std::complex<float>> out(51 * 40), wanted(out.size());
  plan<float>(host(), problem, {.effort = Effort::quick}).forward(in, wanted);
  hybrid.forward(in, out);
  EXPECT_LT(difference(out, wanted), 1e-5);
  hybrid.inverse(out, back);
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_NEAR(back[i], in[i], 2e-6) << i;
}

TEST(FftHybrid, BadCallsAreRefusedInWords) {
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
