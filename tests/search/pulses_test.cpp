// Boxcars and normalization on devices against the host's, and pulses found by a stream on a device.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <ridge/search.hpp>

#include "search/detections.hpp"
#include "search/device/pulses.hpp"
#include "support/devices.hpp"

namespace ridge::search {
namespace {

class SearchPulsesDevice : public test::NeedsAccelerator<> {};

// One channel and trials of no delay: the series are the input bytes.
void compare_with_host(const Device& device, std::size_t times, std::size_t widest, std::size_t shorter) {
  const std::vector<std::size_t> widths = boxcar_widths(widest);
  const std::size_t block = times - widest;
  Problem problem{
      .band = {.channels = 1, .first_mhz = 1400, .step_mhz = -1, .interval = 1e-3}, .dms = {0, 1, 2}, .times = times};
  const Plan plan(device, problem, {.effort = Effort::quick, .variant = "brute_force"});
  std::vector<std::uint8_t> plane(plan.row());
  std::mt19937 random(static_cast<unsigned>(times));
  std::normal_distribution<double> normal(100, 12);
  for (std::uint8_t& value : plane) value = static_cast<std::uint8_t>(std::clamp(normal(random), 0.0, 255.0));
  for (const std::size_t at : {block / 3, block - 1}) {
    for (std::size_t i = at; i < std::min(times, at + 5); ++i) plane[i] = 200;
  }
  std::vector<float> limits(widths.size(), 3.0F);
  const std::vector<std::uint32_t> lengths{static_cast<std::uint32_t>(times - shorter),
                                           static_cast<std::uint32_t>(times), 0};
  std::vector<std::uint32_t> starts;
  for (const std::uint32_t length : lengths) starts.push_back(std::min(length, static_cast<std::uint32_t>(block)));
  std::vector<Detection> expected, found;
  std::vector<Normal> normals(3), host(3);
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<float> series(plane.begin(), plane.begin() + lengths[d]);
    if (series.empty()) continue;
    host[d] = robust_normal(std::span(series).first(starts[d]));
    find_boxcars({.series = series,
                  .starts = starts[d],
                  .normal = host[d],
                  .widths = widths,
                  .limits = limits,
                  .first = 1000,
                  .factor = 2,
                  .trial = 7 + d,
                  .segment = 1},
                 expected);
  }
  DevicePulses pulses(plan, widths, limits);
  ASSERT_TRUE(pulses.find(
      plane, {.starts = starts, .lengths = lengths, .first = 1000, .factor = 2, .first_trial = 7, .segment = 1},
      normals, found));
  for (std::size_t d = 0; d < 3; ++d) {
    EXPECT_NEAR(normals[d].mean, host[d].mean, 1e-4 * host[d].mean);
    EXPECT_NEAR(normals[d].sigma, host[d].sigma, 1e-4 * host[d].sigma);
  }
  // Of equal sums in a cell another start may be reported, and rounding may move a detection across the limit of 3.
  const auto clear = [](const std::vector<Detection>& all) {
    std::vector<Detection> kept;
    for (const Detection& one : all) {
      if (one.snr > 3.01F) kept.push_back(one);
    }
    return kept;
  };
  const auto a = clear(expected), b = clear(found);
  ASSERT_EQ(a.size(), b.size()) << times;
  EXPECT_GT(a.size(), 2U);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].trial, b[i].trial);
    EXPECT_EQ(a[i].end - a[i].begin, b[i].end - b[i].begin);
    EXPECT_NEAR(a[i].snr, b[i].snr, 1e-3 * a[i].snr);
  }
}

// Overlap in time counts whichever of two boxcars begins first or is longer; trials link over at most three.
TEST(SearchGroups, LinkOverlappingDetectionsOfNearTrials) {
  const auto number_of_groups = [](std::uint64_t begin, std::uint64_t end, std::size_t trial) {
    const Detection fixed{.begin = 100, .end = 130, .trial = 5, .snr = 9};
    return friends({fixed, {.begin = begin, .end = end, .trial = trial, .snr = 8}}).size();
  };
  EXPECT_EQ(number_of_groups(110, 120, 6), 1U);  // inside
  EXPECT_EQ(number_of_groups(90, 140, 6), 1U);   // around
  EXPECT_EQ(number_of_groups(90, 101, 8), 1U);
  EXPECT_EQ(number_of_groups(129, 140, 2), 1U);
  EXPECT_EQ(number_of_groups(110, 120, 9), 2U);  // four trials away
  EXPECT_EQ(number_of_groups(80, 99, 5), 2U);
  EXPECT_EQ(number_of_groups(131, 140, 5), 2U);
}

TEST_F(SearchPulsesDevice, BoxcarsEqualTheHosts) {
  test::compile_quickly();
  for (const Device& device : test::accelerators()) {
    for (const std::size_t times : {71, 97, 2049, 5003}) compare_with_host(device, times, times < 100 ? 3 : 24, 30);
  }
}

TEST_F(SearchPulsesDevice, StreamsFindWhatTheHostFinds) {
  test::compile_quickly();
  const Band band{.channels = 32, .first_mhz = 1500, .step_mhz = -4, .interval = 1e-3};
  std::vector<std::byte> rows(8192 * band.channels);
  simulate({.band = band,
            .pulses = {{.dm = 30, .time = 2, .samples = 4, .snr = 25}, {.dm = 60, .time = 5, .samples = 2, .snr = 20}}},
           0, 8192, rows);
  const Settings settings{.dm_end = 100, .threshold = 8, .widest = 16};
  const auto search_on = [&](const Device& device) {
    Stream stream(device, band, settings, {.effort = Effort::quick, .variant = "brute_force"});
    stream.push(rows);
    return stream.finish();
  };
  const auto expected = search_on(host());
  ASSERT_EQ(expected.size(), 2U);
  for (const Device& device : test::accelerators()) {
    const auto found = search_on(device);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].sample, expected[i].sample);
      EXPECT_EQ(found[i].samples, expected[i].samples);
      EXPECT_NEAR(found[i].snr, expected[i].snr, 1e-3 * expected[i].snr);
    }
  }
}

}  // namespace
}  // namespace ridge::search
