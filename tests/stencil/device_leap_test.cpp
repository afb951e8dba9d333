// Tests the leap on devices against steps in double on the host.
#include <cmath>
#include <cstdlib>
#include <limits>

#include <ridge/stencil/problems.hpp>

#include "device/cuda/nvrtc.hpp"
#include "stencil/leap/device_power.hpp"
#include "stencil/leap/leap.hpp"
#include "support.hpp"
#include "support/hopper.hpp"
#include "support/worst.hpp"

namespace ridge::stencil {
namespace {

using test::largest_value;
using test::random_grid;

class LeapOnDevices : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const Device& device : devices().devices) {
      if (!device.is_host() && device.limits().float64) devices_.push_back(device);
    }
    if (devices_.empty()) GTEST_SKIP() << "no device with double precision on this machine";
  }
  std::vector<Device> devices_;
};

// 8192 cells between fixed sides are 16382 = 2 * 8191 points, transformed as a convolution: twenty times the passes.
TEST(LeapChoices, LengthsWithALargePrimeFactorAreExpensive) {
  const Device hopper = ridge::test::hopper();
  const Update<float> update = heat<float>({.dt = 0.1, .spacing = {1, 1}});
  const auto seconds = [&](std::size_t side, Border border) {
    const Problem problem{.shape = {side, side}, .borders = Borders::all(border)};
    return choose_leap(hopper, update, problem, resolve(update, problem), 1e-5).seconds;
  };
  EXPECT_GT(seconds(8192, Border::fixed), 10 * seconds(8192, Border::periodic));
  EXPECT_LT(seconds(8193, Border::fixed), 2 * seconds(8192, Border::periodic));  // 2 * 8192 points
  EXPECT_GT(seconds(8191, Border::mirror), 5 * seconds(8192, Border::mirror));
}

// One kernel per transform and one per variant: PoCL compiles each for a second, so few problems are tested.
template <class T>
void check_leap(const Device& device, const Update<T>& update, Problem problem, std::size_t steps) {
  problem.leap = LeapUse::always;
  const Plan<T> leaping(device, update, problem,
                        {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = "padded"});
  const Grid<T> start = random_grid<T>(problem.shape, update.fields, 3);
  Grid<double> expected(problem.shape, update.fields);
  std::copy(start.all().begin(), start.all().end(), expected.all().begin());
  reference_in_double(update, problem, expected, 2 * steps + 1);
  auto session = leaping.start(start);
  session.prepare(steps);  // leaves the grid unchanged
  session.run(steps);
  session.run(steps + 1);
  Grid<T> result(problem.shape, update.fields);
  session.read(result);
  double largest = largest_value(start);
  ridge::test::Worst worst;
  for (std::size_t i = 0; i < expected.all().size(); ++i) {
    worst.add(std::fabs(static_cast<double>(result.all()[i]) - expected.all()[i]));
    largest = std::max(largest, std::fabs(expected.all()[i]));
  }
  const double powers = 8 * static_cast<double>(2 * steps + 2) * std::numeric_limits<double>::epsilon();
  EXPECT_LE(worst.value(), (32 * static_cast<double>(std::numeric_limits<T>::epsilon()) + powers) * largest)
      << to_string(problem.borders.low[0]) << " " << to_string(problem.borders.low[1]);
}

TEST_F(LeapOnDevices, BordersAndFields) {
  for (const Device& device : devices_) {
    const auto plate = heat<float>({.dt = 0.2, .spacing = {1, 1}});
    const auto mixed = [](Border y, Border x) { return Borders{{y, x, x}, {y, x, x}}; };
    check_leap(device, plate, {.shape = {18, 30}, .borders = Borders::all(Border::periodic)}, 40);
    if (std::getenv("RIDGE_SLOW") == nullptr) continue;
    check_leap(device, plate, {.shape = {14, 27}, .borders = Borders::all(Border::fixed)}, 40);
    check_leap(device, plate, {.shape = {12, 16}, .borders = mixed(Border::mirror, Border::periodic)}, 25);
    check_leap(device, wave<double>({.dt = 0.6, .spacing = {1, 1}}),
               {.shape = {12, 18}, .borders = mixed(Border::fixed, Border::mirror)}, 30);
  }
}

// After these steps only 15 of 97 columns of modes are significant, and 16 are kept; of 96 mirrored ones as many.
TEST_F(LeapOnDevices, DecayedColumnsAreLeftOut) {
  const auto plate = heat<float>({.dt = 0.2, .spacing = {1, 1}});
  check_leap(devices_.front(), plate, {.shape = {20, 192}, .borders = Borders::all(Border::periodic)}, 3000);
  check_leap(devices_.front(), plate, {.shape = {20, 96}, .borders = Borders::all(Border::mirror)}, 3000);
}

// No mode grows faster than the bound of its column and the later ones.
TEST(LeapColumns, NoModeExceedsTheBoundOfItsColumn) {
  const auto even = linear<double>(2, {{{0, 0, 0}, -0.3},
                                       {{0, 0, 1}, 0.2},
                                       {{0, 0, -1}, 0.2},
                                       {{0, 1, 0}, -0.1},
                                       {{0, -1, 0}, -0.1},
                                       {{0, 1, 2}, 0.05},
                                       {{0, 1, -2}, 0.05},
                                       {{0, -1, 2}, 0.05},
                                       {{0, -1, -2}, 0.05}});
  const Layout layout = resolve(even, {.shape = {12, 30}, .borders = Borders::all(Border::periodic)});
  leap::Modes modes = leap::modes_of(even, layout);
  ASSERT_EQ(modes.refusal, "");
  leap::fill_tables(modes, layout);
  const std::vector<double> bounds = leap::largest_from(modes);
  ASSERT_EQ(bounds.size(), 16u);
  double all = 0;
  for (std::size_t x = 16; x-- > 0;) {
    const double ax = 2 * M_PI * static_cast<double>(x) / 30;
    for (std::size_t y = 0; y < 12; ++y) {
      const double ay = 2 * M_PI * static_cast<double>(y) / 12;
      const double symbol = -0.3 + 0.4 * std::cos(ax) - 0.2 * std::cos(ay) + 0.2 * std::cos(ay) * std::cos(2 * ax);
      all = std::max(all, std::fabs(symbol));
    }
    EXPECT_GE(bounds[x], all - 1e-12) << x;
    EXPECT_LE(bounds[x], 1.0) << x;
  }
}

TEST_F(LeapOnDevices, ThreeDimensions) {
  if (std::getenv("RIDGE_SLOW") == nullptr) GTEST_SKIP() << "RIDGE_SLOW=1 runs it: many kernels to compile";
  check_leap(devices_.front(), heat<double>({.dt = 0.1, .spacing = {1, 1, 1}}),
             {.shape = {6, 7, 8},
              .borders = {{Border::periodic, Border::fixed, Border::periodic},
                          {Border::periodic, Border::fixed, Border::periodic}}},
             20);
}

TEST_F(LeapOnDevices, GrowingModesAreComputedStepByStep) {
  const auto growing = linear<float>(1, {{{0, 0, 0}, 1.5}, {{0, 0, 1}, 0.1}, {{0, 0, -1}, 0.1}});
  const Problem problem{.shape = {50}, .borders = Borders::all(Border::mirror), .leap = LeapUse::always};
  Grid<float> grid({50}), expected({50});
  grid(20) = expected(20) = 1;
  reference(growing, problem, expected, 30);
  plan(devices_.front(), growing, problem, {.effort = Effort::quick, .variant = "padded"}).run(grid, 30);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(grid(i), expected(i), 1e-5 * std::fabs(expected(i))) << i;
}

TEST(LeapText, CompilesForHopper) {
  if (!ridge::detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  const auto compile = [](const auto& update, const Problem& problem) {
    const Layout layout = resolve(update, problem);
    leap::Modes modes = leap::modes_of(update, layout);
    ASSERT_EQ(modes.refusal, "");
    leap::fill_tables(modes, layout);
    const KernelSource source = leap::power_text(modes, "float", 64);
    EXPECT_NO_THROW({ EXPECT_FALSE(ridge::detail::compile_for(source, "sm_90").empty()); }) << source.text;
  };
  compile(heat<float>({.dt = 0.2, .spacing = {1, 1}}), {.shape = {64, 64}, .borders = Borders::all(Border::periodic)});
  compile(heat<float>({.dt = 0.1, .spacing = {1, 1, 1}}), {.shape = {64, 64, 10}});
  compile(wave<float>({.dt = 0.6, .spacing = {1, 1}}), {.shape = {64, 64}});
}

}  // namespace
}  // namespace ridge::stencil
