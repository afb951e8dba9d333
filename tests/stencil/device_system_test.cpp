// Tests of marches over systems of fields: against the reference, and compiled for a CUDA device.
#include <cstdlib>

#include <gtest/gtest.h>
#include <ridge/stencil/problems.hpp>

#include "device/cuda/nvrtc.hpp"
#include "device_support.hpp"
#include "plan/predict.hpp"
#include "stencil/device/shared_values.hpp"
#include "stencil/device/system_pass.hpp"
#include "stencil/device/tiles/frame_tiles.hpp"
#include "support.hpp"
#include "support/emulated_cuda.hpp"
#include "support/hopper.hpp"
#include "support/worst.hpp"

namespace ridge::stencil::device_tests {
namespace {

using enum Border;

Update<float> wave_of(std::size_t dimensions) {
  return wave<float>({.dt = 0.1, .spacing = std::vector<double>(dimensions, 0.5)});
}

template <class T>
double worst_of(const Grid<T>& got, const Grid<T>& expected) {
  ridge::test::Worst worst;
  for (std::size_t i = 0; i < got.all().size(); ++i)
    worst.add(std::abs(static_cast<double>(got.all()[i]) - static_cast<double>(expected.all()[i])));
  return worst.value();
}

// Compares steps of the march with the reference bit for bit, because the operations are the same.
template <class T>
void check_rows(const Update<T>& update, const std::vector<std::size_t>& shape, const Borders& borders,
                SystemRowsOptions options, std::size_t steps) {
  const Problem problem{.shape = shape, .borders = borders};
  const Layout layout = resolve(update, problem);
  const Grid<T> start = test::random_grid<T>(shape, update.fields, 5);
  const Grid<T> coefficients = test::random_grid<T>(shape, std::max<std::size_t>(update.coefficients, 1), 6);
  const Grid<T>* given = update.coefficients > 0 ? &coefficients : nullptr;
  Grid<T> expected = start;
  reference(update, problem, expected, steps, given);
  for (const Device& device : accelerators()) {
    options.shuffles = device.limits().sub_group != 0;
    if (options.shuffles) options.lanes = static_cast<int>(device.limits().sub_group);
    EXPECT_EQ(system_rows_refusal(device, update, layout, options), "");
    const auto running = system_rows_variant(device, update, layout, options)->start(start, given);
    running->run(steps);
    Grid<T> got(shape, update.fields);
    running->read(got);
    EXPECT_EQ(worst_of(got, expected), 0) << layout.key() << ", " << steps << " steps on " << device.id();
  }
}

class DeviceSystemRows : public ridge::test::NeedsAccelerator<> {};

// Every kernel is compiled, and PoCL's compile time grows with the unrolled code.
constexpr SystemRowsOptions kSmallRows{
    .depth = 2, .cells = 2, .prefetch = 1, .lanes = 12, .sub_groups = 1, .march_rows = 20};

TEST_F(DeviceSystemRows, WavesWithAVelocityAndEveryBorder) {
  const auto wave = update<float>(2, test::wave_function());
  const std::vector<Borders> all = test::all_borders();  // the last two are mixtures of all kinds
  for (const Borders& borders : {all[0], all[3], all[4]}) check_rows(wave, {43, 61}, borders, kSmallRows, 5);
}

// Away from the layers, the march computes waves without memory variables; the frame is as wide as the layers.
TEST_F(DeviceSystemRows, InnerFormsAwayFromLayers) {
  const std::size_t height = 70, width = 83;
  ElasticModel model{.shape = {height, width}, .layer = 6};
  model.p_velocity.assign(height * width, 3000);
  model.s_velocity.assign(height * width, 1700);
  model.density.assign(height * width, 2200);
  for (std::size_t i = height * width / 2; i < height * width; ++i) model.p_velocity[i] = 3500;
  const ElasticProblem<float> made = elastic_problem<float>(model);
  const Problem problem{.shape = made.coefficients.shape()};
  const Layout layout = resolve(made.update, problem);
  ASSERT_EQ(made.update.inner.margin, 12u);
  Grid<float> start(problem.shape, made.update.fields);
  for (std::size_t field = 0; field < 5; ++field) {
    for (std::size_t i = 0; i < start.cells(); ++i)
      start.field(field)[i] = static_cast<float>(std::sin(0.1 * static_cast<double>(i * (field + 1))));
  }
  Grid<float> expected = start;
  reference(made.update, problem, expected, 5, &made.coefficients);
  for (const Device& device : accelerators()) {
    SystemRowsOptions options = kSmallRows;
    options.depth = 1;
    options.shuffles = device.limits().sub_group != 0;
    if (options.shuffles) options.lanes = static_cast<int>(device.limits().sub_group);
    EXPECT_EQ(system_rows_refusal(device, made.update, layout, options), "");
    const auto running = system_rows_variant(device, made.update, layout, options)->start(start, &made.coefficients);
    running->run(5);
    Grid<float> got(problem.shape, made.update.fields);
    running->read(got);
    EXPECT_EQ(worst_of(got, expected), 0) << device.id();
  }
}

// From three steps on the frame is one launch, with tiles that end wherever the grid does.
TEST_F(DeviceSystemRows, FramesOfManySteps) {
  SystemRowsOptions options = kSmallRows;
  options.depth = 3;
  check_rows(wave_of(2), {43, 133}, Borders::all(fixed), options, 7);
  check_rows(wave_of(2), {71, 30}, sides(fixed, mirror, mirror, fixed), options, 4);
}

TEST_F(DeviceSystemRows, ComparisonsAndWideReads) {
  SystemRowsOptions options = kSmallRows;
  options.depth = 1;
  check_rows(update<double>(2, test::every_word()), {25, 40}, Borders::all(mirror), options, 2);
  // Reads farther along x than a lane has cells, more to one side, and shifts a field unchanged.
  const auto odd = [](auto u) {
    return std::array{0.5 * u(0, 3) + 0.25 * u(-2, -1) * u.field(1, 0, 0), u.field(0, 1, -2)};
  };
  options.prefetch = 2;
  check_rows(update<float>(2, odd), {27, 50}, sides(fixed, mirror, periodic, periodic), options, 3);
}

// One step too many for the grid, and just as many as possible.
TEST(SystemRows, RefusesWhatDoesNotFit) {
  const auto wave = update<float>(2, test::wave_function());
  const auto refusal = [&](std::size_t side, int depth) {
    const Layout layout = resolve(wave, {.shape = {side, 400}});
    return system_rows_refusal(ridge::test::hopper(), wave, layout, {.depth = depth, .cells = 4});
  };
  EXPECT_NE(refusal(16, 8), "");
  EXPECT_EQ(refusal(17, 8), "");
}

// Sums are in another order than the reference's.
template <class T>
void check_planes(const Update<T>& update, const std::vector<std::size_t>& shape, const Borders& borders,
                  const SystemPlanesOptions& options, std::size_t steps,
                  const std::vector<Device>& devices = accelerators()) {
  const Problem problem{.shape = shape, .borders = borders};
  const Layout layout = resolve(update, problem);
  const Grid<T> start = test::random_grid<T>(shape, update.fields, 5);
  Grid<T> coefficients = test::random_grid<T>(shape, std::max<std::size_t>(update.coefficients, 1), 6);
  for (T& value : coefficients.all()) value = T(0.05) + T(0.02) * value;
  const Grid<T>* given = update.coefficients > 0 ? &coefficients : nullptr;
  Grid<T> expected = start;
  reference(update, problem, expected, steps, given);
  for (const Device& device : devices) {
    EXPECT_EQ(system_planes_refusal(device, update, layout, options), "");
    const auto running = system_planes_variant(device, update, layout, options)->start(start, given);
    running->run(1);
    running->run(steps - 1);
    Grid<T> got(shape, update.fields);
    running->read(got);
    EXPECT_LE(worst_of(got, expected), test::largest_value(expected) * 16 * static_cast<double>(steps) *
                                           static_cast<double>(std::numeric_limits<T>::epsilon()))
        << layout.key() << ", " << steps << " steps on " << device.id();
  }
}

class DeviceSystemPlanes : public ridge::test::NeedsAccelerator<> {};

constexpr SystemPlanesOptions kSmallPlanes{.lanes = 4, .lines = 4, .rows = 2, .ahead = 2, .march = 7};

// Fixed sides: levels swap roles; others: a frame is computed.
TEST_F(DeviceSystemPlanes, WavesThroughAMedium) {
  const auto sound = acoustic<float>({.dt = 0.5, .spacing = {1, 1, 1}, .accuracy = 4});
  check_planes(sound, {17, 19, 37}, Borders::all(fixed), kSmallPlanes, 6);
  check_planes(sound, {9, 14, 21}, test::all_borders()[4], kSmallPlanes, 3);
}

// New levels are written to further fields of the grid: all levels stay, and are those of steps in place.
TEST_F(DeviceSystemPlanes, KeepsFurtherTimeLevels) {
  const auto sound = acoustic<float>({.dt = 0.5, .spacing = {1, 1, 1}, .accuracy = 4});
  const std::vector<std::size_t> shape{13, 14, 21};
  const Problem problem{.shape = shape, .borders = Borders::all(fixed)};
  const Layout layout = resolve(sound, problem);
  Grid<float> medium = test::random_grid<float>(shape, 1, 6), zeros(shape, 2), expected = zeros, got = zeros;
  for (float& value : medium.all()) value = 0.05f + 0.02f * value;
  const std::size_t cell = (6 * 14 + 7) * 21 + 10, levels = 6;
  for (const Device& device : accelerators()) {
    const auto running = system_planes_variant(device, sound, layout, kSmallPlanes)->start(zeros, &medium);
    EXPECT_TRUE(running->release());
    ASSERT_TRUE(running->open_levels(levels));
    running->add({6, 7, 10}, 0, 1.0f);
    expected = zeros;
    expected.all()[cell] = 1;
    std::vector<float> centre;  // of each step, by the reference
    for (std::size_t step = 0; step < 9; ++step) {
      centre.push_back(expected.all()[cell]);
      reference(sound, problem, expected, 1, &medium);
      if (step > 0) running->aim((running->device_grid()->newer + 1) % levels);
      running->single();
      const DeviceGrid grid = *running->device_grid();
      for (std::size_t back = 1; back < std::min(step, levels); ++back) {
        float value = 0;
        const std::size_t field = (grid.newer + levels - back) % levels;
        const std::size_t at = field * grid.field + grid.origin + 6 * grid.plane + 7 * grid.pitch + 10;
        grid.queue.download(grid.fields, &value, sizeof value, at * sizeof value);
        grid.queue.finish();
        EXPECT_NEAR(value, centre[centre.size() - back], 1e-6) << back << " steps before " << step + 1;
      }
    }
    running->read(got);
    EXPECT_LE(worst_of(got, expected), 1e-6) << device.id();
  }
}

// Shots side by side: nothing is read along the first axis, so a plane is complete when it has arrived.
TEST_F(DeviceSystemPlanes, PlanesThatDoNotDependOnEachOther) {
  const auto shots = acoustic<float>({.dt = 0.5, .spacing = {1, 1}, .accuracy = 8, .batch = true});
  Borders borders = Borders::all(fixed);
  check_planes(shots, {16, 23, 37}, borders, kSmallPlanes, 5);
  borders.high = {fixed, mirror, periodic};
  borders.low = {fixed, fixed, periodic};
  check_planes(shots, {3, 25, 42}, borders, kSmallPlanes, 4);
}

// Previous levels are read from where the previous step stored them.
TEST_F(DeviceSystemPlanes, SeveralStepsOfAWave) {
  SystemPlanesOptions options{.depth = 2, .lanes = 5, .lines = 7, .rows = 1, .ahead = 2, .march = 9};
  check_planes(wave_of(3), {19, 20, 41}, Borders::all(fixed), options, 5);
  options.depth = 3;
  check_planes(linear<float>(3, star(3, 1)), {19, 20, 41}, test::all_borders()[3], options, 4);
}

// Cells on fixed sides keep their values between the steps, wherever tiles and pieces of planes end: no frame is
// needed.
TEST_F(DeviceSystemPlanes, FixedSidesNeedNoFrame) {
  SystemPlanesOptions options{.depth = 3, .lanes = 5, .lines = 7, .rows = 1, .ahead = 1, .march = 5};
  check_planes(linear<double>(3, star(3, 1)), {12, 13, 17}, Borders::all(fixed), options, 7);
  options.depth = 2;
  options.lanes = 6;
  check_planes(linear<double>(3, star(3, 2)), {13, 14, 19}, Borders::all(fixed), options, 5);
}

// Sums of two and four sides serve several planes; weights along z are even or not.
std::vector<Term> even_box(int order, bool along_z) {
  std::vector<Term> terms;
  for (int z = -order; z <= order; ++z) {
    for (int y = -order; y <= order; ++y) {
      for (int x = -order; x <= order; ++x) {
        const double skew = along_z ? 0 : 0.01 * z;
        const double sides = 1 + 0.2 * std::abs(x) + 0.3 * std::abs(y) + 0.5 * std::abs(z) + skew;
        terms.push_back({.offset = {z, y, x}, .weight = sides / (2.4 * std::pow(2 * order + 1, 3))});
      }
    }
  }
  return terms;
}

// Planes fetched by TMA; copies must be complete before the group ends.
TEST_F(DeviceSystemPlanes, PlanesFetchedByTma) {
  std::vector<Device> lands = accelerators();
  std::erase_if(lands, [](const Device& device) { return !device.limits().tensor_maps; });
  if (lands.empty()) GTEST_SKIP() << "no device with TMA";
  SystemPlanesOptions options{.lanes = 9, .lines = 7, .rows = 2, .ahead = 2, .tiles = true};
  check_planes(linear<float>(3, star(3, 4)), {41, 43, 77}, Borders::all(fixed), options, 3, lands);
  check_planes(linear<double>(3, star(3, 2)), {23, 31, 45}, test::all_borders()[4], options, 3, lands);
  check_planes(acoustic<float>({.dt = 0.5, .spacing = {1, 1, 1}, .accuracy = 4}), {27, 29, 47}, Borders::all(fixed),
               options, 6, lands);
  options = {.depth = 2, .lanes = 34, .lines = 14, .rows = 2, .ahead = 2, .tiles = true};
  check_planes(linear<float>(3, star(3, 2)), {150, 61, 301}, Borders::all(fixed), options, 5, lands);
  check_planes(linear<float>(3, star(3, 2)), {40, 61, 150}, test::all_borders()[3], options, 4, lands);
  options = {.depth = 3, .lanes = 34, .lines = 24, .rows = 1, .ahead = 2, .tiles = true};
  check_planes(wave_of(3), {150, 75, 301}, Borders::all(fixed), options, 7, lands);
  options = {.depth = 4, .lanes = 34, .lines = 15, .rows = 2, .ahead = 1, .tiles = true};
  check_planes(wave_of(3), {61, 75, 140}, test::all_borders()[4], options, 5, lands);
  check_planes(wave_of(3), {97, 75, 301}, Borders::all(fixed), options, 6, lands);
  options = {.depth = 2, .lanes = 34, .lines = 11, .rows = 3, .ahead = 2, .tiles = true};
  check_planes(linear<float>(3, star(3, 2)), {97, 75, 301}, Borders::all(fixed), options, 3, lands);
  check_planes(linear<float>(3, even_box(1, true)), {97, 75, 301}, Borders::all(fixed), options, 3, lands);
}

// The same without a GPU: work-items are emulated one after another, and tiles are copied by a plain loop.
TEST(SystemPlanesEmulated, PlanesFetchedByTma) {
  if (std::getenv("RIDGE_SLOW") == nullptr) GTEST_SKIP() << "RIDGE_SLOW=1 runs it: kernels are emulated";
  const std::vector<Device> emulated{Device(std::make_shared<ridge::test::EmulatedCuda>())};
  SystemPlanesOptions options{.lanes = 9, .lines = 7, .rows = 2, .ahead = 2, .tiles = true};
  check_planes(linear<float>(3, star(3, 4)), {17, 23, 45}, Borders::all(fixed), options, 2, emulated);
  options = {.depth = 4, .lanes = 10, .lines = 5, .rows = 2, .ahead = 1, .tiles = true};
  check_planes(wave_of(3), {14, 15, 44}, Borders::all(fixed), options, 5, emulated);
  check_planes(wave_of(3), {12, 17, 30}, test::all_borders()[4], options, 4, emulated);
  options = {.depth = 2, .lanes = 10, .lines = 5, .rows = 3, .ahead = 2, .tiles = true};
  check_planes(linear<float>(3, star(3, 2)), {14, 21, 51}, Borders::all(fixed), options, 3, emulated);
  check_planes(linear<double>(3, even_box(1, true)), {9, 17, 22}, test::all_borders()[3], options, 2, emulated);
}

// The last step uses fewer work-items, which hold other cells than in the previous steps.
TEST(SystemPlanesEmulated, LastStepsOfFewerItems) {
  if (std::getenv("RIDGE_SLOW") == nullptr) GTEST_SKIP() << "RIDGE_SLOW=1 runs it: kernels are emulated";
  const std::vector<Device> emulated{Device(std::make_shared<ridge::test::EmulatedCuda>())};
  SystemPlanesOptions options{
      .depth = 2, .lanes = 10, .lines = 8, .rows = 2, .ahead = 2, .tiles = true, .narrow = true};
  check_planes(linear<float>(3, star(3, 4)), {20, 21, 51}, Borders::all(fixed), options, 3, emulated);
  check_planes(linear<float>(3, star(3, 4)), {19, 26, 37}, test::all_borders()[4], options, 4, emulated);
}
TEST_F(DeviceSystemPlanes, LastStepsOfFewerItems) {
  SystemPlanesOptions options{.depth = 3, .lanes = 6, .lines = 6, .rows = 2, .ahead = 1, .march = 9, .narrow = true};
  check_planes(wave_of(3), {14, 15, 31}, Borders::all(fixed), options, 4);
  options.rows = 3;
  const Layout layout = resolve(wave_of(3), {.shape = {14, 15, 31}});
  EXPECT_NE(system_planes_refusal(ridge::test::hopper(), wave_of(3), layout, options), "");
}

TEST_F(DeviceSystemPlanes, BoxesOfEvenWeights) {
  SystemPlanesOptions options{.depth = 2, .lanes = 5, .lines = 7, .rows = 1, .ahead = 2, .march = 9};
  check_planes(linear<float>(3, even_box(1, true)), {13, 14, 29}, test::all_borders()[4], options, 3);
  options.depth = 1;
  check_planes(linear<double>(3, even_box(1, false)), {9, 10, 21}, Borders::all(fixed), options, 2);
}

TEST_F(DeviceSystemPlanes, BoxesAndSystems) {
  SystemPlanesOptions options = kSmallPlanes;
  options.rows = 1;
  options.ahead = 1;
  options.depth = 2;
  check_planes(linear<double>(3, box(3, 1)), {11, 9, 23}, Borders::all(fixed), options, 3);
  options.depth = 1;
  // Two fields that read each other's neighbours, one of them only along z, and a product at the cell.
  const auto pair = [](auto u) {
    const auto sum = 0.3 * u(0, 0, 1) + 0.2 * u(0, -1, -2) + 0.1 * u.field(1, 1, 0, 0) + 0.2 * u.field(1, -1, 0, 0);
    return std::array{0.5 * u(0, 0, 0) + sum * u.coefficient(0, 0, 0, 0),
                      0.5 * u(1, 0, 0) + 0.25 * u.field(1, 0, 0, 0)};
  };
  check_planes(update<float>(3, pair), {10, 12, 26}, test::all_borders()[3], options, 3);
}

// Every face, slope and earlier step is computed once.
TEST(SharedValues, CountsOfOperationsAndKeptValues) {
  const SharedValues wave = shared_values(flatten(wave_of(2).outputs), 1, 1);
  EXPECT_EQ(wave.operations(), 6u);  // a product and five FMA; the previous level costs nothing
  EXPECT_EQ(wave.lag, 1);
  EXPECT_EQ(wave.low, 1);
  const SharedValues eight = shared_values(flatten(wave_of(2).outputs), 8, 1);
  EXPECT_EQ(eight.operations(), 48u);
  EXPECT_EQ(eight.lag, 8);
  EXPECT_EQ(eight.margin, 8);
  EXPECT_LE(eight.kept(), 2u * 8 + 1);  // the previous level of a step is its input
  const Euler gas{.dt = 1e-3, .dy = 0.1, .dx = 0.1};
  const Tape tape = flatten(euler<float>(gas).outputs);
  const SharedValues flow = shared_values(tape, 1, 1);
  EXPECT_LT(flow.operations(), tape.operations.size() / 3);
  EXPECT_LT(flow.kept(), 40u);
  EXPECT_LE(flow.margin, 4);
}

// Needs no GPU. Nothing may be spilled, because the method relies on registers.
TEST(SystemRowsForHopper, KernelsCompileAndSpillNothing) {
  if (!ridge::detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  const auto check = [](const Update<float>& update, const std::string& name, int most) {
    for (const auto& entry :
         list_variants(ridge::test::hopper(), update,
                       resolve(update, {.shape = std::vector<std::size_t>(update.dimensions, 512)}))) {
      if (entry.candidate.name() != name) continue;
      EXPECT_EQ(entry.candidate.refusal, "");
      const auto resources = ridge::detail::resources_for(entry.kernels().front(), "sm_90");
      ASSERT_EQ(resources.size(), 1u);

      EXPECT_EQ(resources[0].spilled_bytes, 0) << name << ": " << resources[0].registers;
      EXPECT_LE(resources[0].registers, most) << name;
      return;
    }
    ADD_FAILURE() << "no candidate " << name;
  };
  check(wave_of(2), "system_rows(depth=16, cells=4, groups=4)", 255);
  check(wave_of(2), "system_rows(depth=12, cells=4, groups=4)", 255);
  check(wave_of(2), "system_rows(depth=12, cells=4, groups=4, resident=3)", 168);
  check(wave_of(2), "system_rows(depth=8, cells=4, groups=4, resident=4)", 128);
  const auto gas = euler<float>({.dt = 1e-3, .dy = 0.1, .dx = 0.1});
  check(gas, "system_rows(depth=1, cells=2, groups=2, division=quick)", 255);
  check(gas, "system_rows(depth=1, cells=2, groups=2, resident=8, division=quick)", 128);
  check(acoustic<float>({.dt = 0.5, .spacing = {1, 1, 1}}), "system_planes(tile=32x128, rows=2, ahead=2)", 128);
  check(linear<float>(3, star(3, 2)), "system_planes(tile=32x128, rows=2, ahead=2, depth=2)", 128);
  check(linear<float>(3, even_box(1, true)), "system_planes(tile=42x136, rows=3, ahead=2, depth=2)", 136);
  check(linear<float>(3, star(3, 4)), "system_planes(tile=32x128, rows=4, ahead=2, copies=tiles)", 255);
  check(linear<float>(3, star(3, 6)), "system_planes(tile=32x128, rows=2, ahead=2, copies=tiles)", 128);
  check(linear<float>(3, star(3, 8)), "system_planes(tile=24x128, rows=2, ahead=2, copies=tiles)", 168);
  check(linear<float>(3, star(3, 2)), "system_planes(tile=33x136, rows=3, ahead=2, depth=2, copies=tiles)", 168);
  check(linear<float>(3, even_box(1, true)), "system_planes(tile=42x136, rows=3, ahead=2, depth=2, copies=tiles)", 128);
  check(wave_of(3), "system_planes(tile=30x136, rows=2, ahead=1, depth=4, copies=tiles, last=narrow)", 128);
}

// The fastest variants on such a device are among the first that the planner runs, which has a few seconds.
TEST(SystemPlanes, TheFastestVariantsAreAmongTheFirstTrials) {
  const Device hopper = ridge::test::hopper();
  const auto place = [&](const Update<float>& update, const std::string& name) {
    const std::size_t side = update.dimensions == 3 ? 512 : 8192;
    const Layout layout = resolve(update, {.shape = std::vector<std::size_t>(update.dimensions, side)});
    std::vector<std::pair<double, std::string>> list;
    for (const auto& entry : list_variants(hopper, update, layout)) {
      if (!entry.candidate.refusal.empty()) continue;
      list.emplace_back(planner::predict(machine::ceilings(hopper), {}, entry.candidate.cost).seconds,
                        entry.candidate.name());
    }
    std::sort(list.begin(), list.end());
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.second == name; });
    return static_cast<std::size_t>(found - list.begin());
  };
  EXPECT_LT(place(wave_of(3), "system_planes(tile=30x136, rows=2, ahead=1, depth=4, copies=tiles, last=narrow)"), 3u);
  EXPECT_LT(place(wave_of(2), "system_rows(depth=16, cells=4, groups=4)"), 3u);
  EXPECT_LT(
      place(linear<float>(3, even_box(1, true)), "system_planes(tile=42x136, rows=3, ahead=2, depth=2, copies=tiles)"),
      3u);
  EXPECT_LT(place(linear<float>(3, star(3, 2)), "system_planes(tile=33x136, rows=3, ahead=2, depth=2, copies=tiles)"),
            3u);
  EXPECT_LT(place(linear<float>(3, star(3, 4)), "system_planes(tile=32x128, rows=4, ahead=2, copies=tiles)"), 3u);
  EXPECT_LT(place(acoustic<float>({.dt = 0.5, .spacing = {1, 1, 1}}),
                  "system_planes(tile=32x128, rows=2, ahead=2, copies=tiles)"),
            3u);
  EXPECT_LT(place(euler<float>({.dt = 1e-3, .dy = 0.1, .dx = 0.1}),
                  "system_rows(depth=1, cells=2, groups=2, division=quick)"),
            3u);
}

// The frame uses tiles unless borders read the opposite side of the grid; otherwise one launch per step.
TEST(FrameTiles, AreUsedUnlessBordersReadTheOppositeSide) {
  const auto refusal = [](const Update<float>& update, const Borders& borders, std::size_t side, std::size_t depth) {
    const Layout layout = resolve(update, {.shape = {side, side}, .borders = borders});
    const FrameTiles tiles{.text = cell_text(update.outputs, layout, "float"), .place = {}, .depth = depth};
    return tiles.refusal(ridge::test::hopper().limits());
  };
  const auto wave = wave_of(2);
  EXPECT_EQ(refusal(wave, Borders::all(fixed), 8192, 12), "");
  EXPECT_EQ(refusal(wave, Borders::all(fixed), 8192, 16), "");
  EXPECT_EQ(refusal(wave, Borders::all(mirror), 25, 12), "");
  EXPECT_NE(refusal(wave, Borders::all(mirror), 24, 12), "");
  EXPECT_NE(refusal(wave, Borders::all(periodic), 8192, 12), "");
  EXPECT_NE(refusal(update<float>(2, test::wave_function()), Borders::all(fixed), 8192, 12), "");
  if (!ridge::detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  const Layout layout = resolve(wave, {.shape = {512, 512}});
  const FrameTiles tiles{.text = cell_text(wave.outputs, layout, "float"), .place = {}, .depth = 12};
  EXPECT_FALSE(ridge::detail::compile_for(tiles.source(), "sm_90").empty());
}

// One extra piece would be a wave of its own.
TEST(SystemRows, PiecesFillWholeWaves) {
  const auto wave = wave_of(2);
  for (const std::size_t side : {2048, 8192, 16384, 5000}) {
    const Layout layout = resolve(wave, {.shape = {side, side}});
    const SystemRowsOptions options{.depth = 12, .cells = 4, .prefetch = 2, .sub_groups = 4, .resident = 3};
    const SystemRowsKernel kernel{.values = shared_values(flatten(wave.outputs), 12, 1),
                                  .real = "float",
                                  .fields = layout.fields,
                                  .coefficients = layout.coefficients,
                                  .options = options};
    constexpr std::size_t kResident = 396;
    const int end = static_cast<int>(side) - 12;
    const SystemRowsPlan plan =
        plan_rows(kernel, padded_layout({side, side}, sizeof(float)), 12, end, 12, end, kResident);
    const double waves = static_cast<double>(plan.launch.groups[0] * plan.launch.groups[1]) / kResident;
    EXPECT_GT(waves / std::ceil(waves), 0.85) << side;
    EXPECT_GE(plan.chunk_rows * static_cast<int>(plan.launch.groups[1]), end - 12);
  }
}

}  // namespace
}  // namespace ridge::stencil::device_tests
