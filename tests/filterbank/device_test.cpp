// Every variant of the filter bank on every device of this machine (PoCL on the build machines) against the definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"

namespace ridge::filterbank::test {
namespace {

std::vector<Device> accelerators() {
  std::vector<Device> found;
  for (const Device& device : devices().devices) {
    if (!device.is_host()) found.push_back(device);
  }
  return found;
}

class BankOnDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (accelerators().empty()) GTEST_SKIP() << "no OpenCL and no CUDA device on this machine";
  }
};

struct Case {
  const char* name;
  Problem problem;
  std::size_t spectra;
};

std::vector<Case> cases() {
  std::vector<Case> all{
      {"usual", {.channels = 64, .taps = 16, .stations = 2}, 37},
      {"one polarization", {.channels = 32, .taps = 8, .stations = 3, .polarizations = 1}, 40},
      {"odd channels, odd taps", {.channels = 15, .taps = 5, .stations = 2}, 33},
      {"a prime above the butterflies", {.channels = 37, .taps = 3}, 21},
      {"one tap", {.channels = 16, .taps = 1, .stations = 2}, 9},
      {"one channel", {.channels = 1, .taps = 4}, 9},
      {"many taps", {.channels = 8, .taps = 67}, 80},
      {"int4", {.channels = 40, .taps = 4, .stations = 2, .samples = Samples::int4}, 20},
      {"int16", {.channels = 48, .taps = 16, .samples = Samples::int16}, 25},
      {"float", {.channels = 12, .taps = 4, .stations = 2, .samples = Samples::float32}, 25},
      {"centred", {.channels = 16, .taps = 4, .centred = true}, 12},
      {"samples by turns", {.channels = 16, .taps = 4, .stations = 3, .input_block = 1}, 12},
      {"long blocks", {.channels = 8, .taps = 4, .stations = 3, .input_block = 20}, 14},
      {"32/27", {.channels = 64, .taps = 6, .oversampling = {32, 27}}, 70},
      {"4/3 centred", {.channels = 12, .taps = 5, .oversampling = {4, 3}, .centred = true}, 50},
      {"many stations", {.channels = 8, .taps = 2, .stations = 37}, 70},
  };
  Case bandpass{"bandpass", {.channels = 16, .taps = 4, .stations = 2}, 10};
  for (std::size_t i = 0; i < 64; ++i) {
    bandpass.problem.bandpass.emplace_back(1 + 0.01f * static_cast<float>(i), 0.02f * static_cast<float>(i % 7));
  }
  all.push_back(bandpass);
  bandpass.name = "bandpass of the channels";
  bandpass.problem.bandpass.resize(16);
  all.push_back(bandpass);
  return all;
}

TEST_F(BankOnDevices, EveryVariantAgreesWithTheDefinition) {
  for (const Device& device : accelerators()) {
    for (const Case& one : cases()) {
      const Geometry g = resolve(one.problem);
      const Bytes bytes = noise(one.problem, one.spectra * g.hop);
      const auto wanted = expected(one.problem, bytes);
      std::size_t compared = 0;
      for (const auto& candidate : candidates(device, one.problem)) {
        if (!candidate.refusal.empty()) continue;
        const Plan plan = filterbank::plan(device, one.problem, only(candidate.name()));
        EXPECT_LT(error(run(plan, bytes), wanted), 1e-6)
            << one.name << " by " << candidate.name() << " on " << device.id();
        ++compared;
      }
      EXPECT_GT(compared, 2u) << one.name;
    }
  }
}

}  // namespace
}  // namespace ridge::filterbank::test
