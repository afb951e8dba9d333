// Tests absorbing layers: reflected energy, stability, free surface, and devices against the host.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>
#include <ridge/stencil.hpp>
#include <ridge/stencil/problems.hpp>

#include "device/cuda/nvrtc.hpp"
#include "stencil/adjoint/adjoint_update.hpp"
#include "stencil/chosen.hpp"
#include "stencil/device/system_pass.hpp"
#include "stencil/layers/cpml_rows.hpp"
#include "stencil/layers/device_layers.hpp"
#include "stencil/shots/shot_run.hpp"
#include "support/devices.hpp"
#include "support/worst.hpp"

namespace ridge::stencil {
namespace {

using std::numbers::pi;

constexpr double kCourant = 0.42;  // c dt / dx where c is largest; stable up to 0.45 in 3D

// Ricker pulse of unit amplitude; the frequency is in cycles per step.
double pulse_at(std::size_t step, double frequency) {
  const double a = pi * frequency * (static_cast<double>(step) - 1.5 / frequency);
  return (1 - 2 * a * a) * std::exp(-a * a);
}

struct LayerSetup {
  std::vector<std::size_t> shape;
  std::size_t cells = 8;
  double frequency = kCourant / 16;  // waves of 16 cells
  bool surface = false;
  int accuracy = 8;
};

template <class T>
Update<T> layered(const LayerSetup& setup) {
  return acoustic<T>(
      {.dt = kCourant, .spacing = std::vector<double>(setup.shape.size(), 1.0), .accuracy = setup.accuracy},
      {.cells = setup.cells, .fastest = 1, .frequency = setup.frequency, .free_surface = setup.surface});
}

// Velocity squared times dt squared, of a function of the cell.
template <class T, class Velocity>
Grid<T> medium_of(const std::vector<std::size_t>& shape, const Velocity& velocity) {
  Grid<T> medium(shape);
  std::array<std::size_t, 3> sides{1, 1, 1};
  std::copy(shape.begin(), shape.end(), sides.begin() + static_cast<std::ptrdiff_t>(3 - shape.size()));
  std::size_t i = 0;
  for (std::size_t z = 0; z < sides[0]; ++z) {
    for (std::size_t y = 0; y < sides[1]; ++y) {
      for (std::size_t x = 0; x < sides[2]; ++x) {
        const double reach =
            kCourant * velocity(static_cast<double>(z), static_cast<double>(y), static_cast<double>(x));
        medium.all()[i++] = static_cast<T>(reach * reach);
      }
    }
  }
  return medium;
}

// Values of boxes after each step, with a source in one cell.
template <class T>
std::vector<T> recorded(const Device& device, const LayerSetup& setup, const Grid<T>& medium,
                        const std::array<std::size_t, 3>& source, const std::vector<Box>& boxes, std::size_t steps) {
  const Grid<T> grid(setup.shape, 2);
  auto session = plan(device, layered<T>(setup), {.shape = setup.shape, .threads = 2}, {.effort = Effort::quick})
                     .start(grid, &medium);
  for (std::size_t step = 0; step < steps; ++step) {
    session.run(1);
    if (static_cast<double>(step) * setup.frequency < 3.5)
      session.add(source, 0, static_cast<T>(0.25 * pulse_at(step, setup.frequency)));
    for (const Box& box : boxes) session.keep(box);
  }
  return session.kept();
}

// Energy of the difference between a small grid with layers and a grid too large for reflections to return, at
// receivers along three sides, of the energy there. The small grid begins `from` cells inside the large one.
template <class Velocity>
double returned(const std::vector<std::size_t>& small, const std::vector<std::size_t>& large, std::size_t cells,
                double wavelength, std::size_t steps, const Velocity& velocity) {
  const std::size_t axes = small.size(), missing = 3 - axes;
  std::array<std::size_t, 3> from{}, side{1, 1, 1};
  for (std::size_t i = 0; i < axes; ++i) {
    from[missing + i] = (large[i] - small[i]) / 2;
    side[missing + i] = small[i];
  }
  const auto shifted = [&](double z, double y, double x) {
    return velocity(z - static_cast<double>(from[0]), y - static_cast<double>(from[1]),
                    x - static_cast<double>(from[2]));
  };
  const std::size_t inner = cells + 4 + 6;
  std::array<std::size_t, 3> source{side[0] / 2, side[1] / 2, side[2] / 2};
  source[missing] = inner + 4;  // close to a layer, so that many waves graze it
  std::vector<Box> boxes;
  for (std::size_t i = missing; i < 3; ++i) {
    for (const bool high : {false, true}) {
      Box box{.begin = source, .extent = {1, 1, 1}};
      box.begin[i] = high ? side[i] - 1 - inner : inner;
      const std::size_t along = i == 2 ? missing : 2;
      box.begin[along] = inner;
      box.extent[along] = side[along] - 2 * inner;
      boxes.push_back(box);
    }
  }
  const auto moved = [&](std::array<std::size_t, 3> cell) {
    for (std::size_t k = 0; k < 3; ++k) cell[k] += from[k];
    return cell;
  };
  const LayerSetup setup{.shape = small, .cells = cells, .frequency = kCourant / wavelength};
  const std::vector<float> near =
      recorded<float>(host(), setup, medium_of<float>(small, velocity), source, boxes, steps);
  std::vector<Box> there = boxes;
  for (Box& box : there) box.begin = moved(box.begin);
  LayerSetup open = setup;
  open.shape = large;
  const std::vector<float> far =
      recorded<float>(host(), open, medium_of<float>(large, shifted), moved(source), there, steps);
  double difference = 0, energy = 0;
  for (std::size_t i = 0; i < near.size(); ++i) {
    difference += std::pow(static_cast<double>(near[i]) - static_cast<double>(far[i]), 2);
    energy += std::pow(static_cast<double>(far[i]), 2);
  }
  return energy > 0 ? difference / energy : 1;
}

double uniform(double, double, double) { return 1; }

TEST(Layers, ReturnLessThanAMillionthOfTheEnergy) {
  EXPECT_LT(returned({64, 68}, {164, 168}, 8, 14, 230, uniform), 1e-6);
  EXPECT_LT(returned({48, 46, 47}, {92, 90, 91}, 8, 12, 104, uniform), 1e-6);
}

// Beds of other velocities that end in the layers, and a body that reaches into one.
TEST(Layers, ReturnLessThanAMillionthInUnevenMedia) {
  const auto beds = [](double, double y, double x) {
    if (x > 60 && std::abs(y - 40) < 9) return 0.95;
    return y < 30 ? 0.6 : y < 50 ? 0.8 : 1.0;
  };
  EXPECT_LT(returned({64, 80}, {164, 180}, 8, 16, 230, beds), 1e-6);
}

TEST(Layers, NothingGrowsOverManySteps) {
  const LayerSetup setup{.shape = {37, 41}};
  const auto velocity = [](double, double y, double x) { return y + x > 40 ? 1.0 : 0.55; };
  const Grid<float> medium = medium_of<float>(setup.shape, velocity);
  Grid<float> grid(setup.shape, 2);
  auto session = plan(host(), layered<float>(setup), {.shape = setup.shape, .threads = 1}, {.effort = Effort::quick})
                     .start(grid, &medium);
  double most = 0;
  const auto largest = [&] {
    session.read(grid);
    ridge::test::Worst worst;
    for (const float value : grid.field(0)) worst.add(std::abs(static_cast<double>(value)));
    return worst.value();
  };
  for (std::size_t step = 0; step < 150; ++step) {
    session.run(1);
    session.add({0, 18, 20}, 0, static_cast<float>(pulse_at(step, setup.frequency)));
    most = std::max(most, largest());
  }
  session.run(12000);
  EXPECT_LT(largest(), 1e-6 * most);
}

// The wave reflected by a free surface is that of a source of the opposite sign above it.
TEST(Layers, FreeSurfaceReflectsWithTheOppositeSign) {
  const LayerSetup surface{.shape = {90, 111}, .surface = true}, open{.shape = {170, 111}};
  const std::size_t steps = 160, depth = 20, row = 30;  // grid rows 3 and 83 are the surface
  const auto values = [&](const LayerSetup& setup, std::size_t source, std::size_t receivers) {
    return recorded<double>(host(), setup, medium_of<double>(setup.shape, uniform), {0, source, 55},
                            {{.begin = {0, receivers, 0}, .extent = {1, 1, setup.shape[1]}}}, steps);
  };
  const std::vector<double> reflected = values(surface, 3 + depth, 3 + row);
  const std::vector<double> direct = values(open, 83 + depth, 83 + row), image = values(open, 83 - depth, 83 + row);
  ridge::test::Worst worst;
  double most = 0;
  for (std::size_t i = 0; i < reflected.size(); ++i) {
    worst.add(std::abs(reflected[i] - (direct[i] - image[i])));
    most = std::max(most, std::abs(image[i]));
  }
  EXPECT_LT(worst.value(), 2e-3 * most);
  EXPECT_GT(most, 0.01);
}

TEST(Layers, RefusesWhatDoesNotFit) {
  const LayerSetup tiny{.shape = {31, 60}};
  EXPECT_THROW(plan(host(), layered<float>(tiny), {.shape = tiny.shape}, {.effort = Effort::quick}), Error);
  const LayerSetup setup{.shape = {60, 60}};
  EXPECT_THROW(plan(host(), layered<float>(setup), {.shape = setup.shape, .borders = Borders::all(Border::mirror)},
                    {.effort = Effort::quick}),
               Error);
  EXPECT_THROW((acoustic<float>({.dt = 0.5, .spacing = {1, 1}}, {.cells = 8})), Error);
}

// Needs no GPU: layers of forward and adjoint runs, points and snapshots.
TEST(LayersForHopper, KernelsCompileWithoutSpillingValues) {
  if (!ridge::detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  const Update<float> update = layered<float>({.shape = {64, 64, 64}, .surface = true});
  const Layout layout = resolve(update, {.shape = {64, 64, 64}});
  std::vector<KernelSource> sources = shot_sources<float>();
  for (const Update<float>& one : {update, adjoint_update(update, layout).update}) {
    for (const KernelSource& source : cell_layer_sources(one, layout)) sources.push_back(source);
    sources.push_back(line_layer_sources(one, layout, true).back());
  }
  std::size_t kernels = 0;
  for (const KernelSource& source : sources) {
    for (const auto& resources : ridge::detail::resources_for(source, "sm_90")) {
      EXPECT_EQ(resources.spilled_bytes, 0) << source.name << ": " << resources.registers;
      EXPECT_LE(resources.registers, source.name == "stencil layers by lines" ? 168 : 128) << source.name;
      ++kernels;
    }
  }
  EXPECT_EQ(kernels, 1 + 2 * 6 + 2 + 3 + 2 * 3u);
}

// Wider layers have longer lines in registers.
TEST(LayersForHopper, LinesOfWideLayersCompileWithoutSpillingValues) {
  if (!ridge::detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  const Update<float> update = layered<float>({.shape = {64, 64, 64}, .cells = 20});
  const Layout layout = resolve(update, {.shape = {64, 64, 64}});
  for (const Update<float>& one : {update, adjoint_update(update, layout).update}) {
    const std::vector<KernelSource> sources = line_layer_sources(one, layout);
    ASSERT_EQ(sources.size(), 1u);
    for (const auto& resources : ridge::detail::resources_for(sources[0], "sm_90"))
      EXPECT_EQ(resources.spilled_bytes, 0) << resources.registers;
  }
  const Update<float> wide = layered<float>({.shape = {90, 90, 90}, .cells = 24});
  EXPECT_TRUE(line_layer_sources(wide, resolve(wide, {.shape = {90, 90, 90}})).empty());
}

// The state after some steps from a random one, with layers by their own kernels.
template <class T>
Grid<T> after_steps(const Chosen<T>& chosen, const Layers<T>& layers, const LayerSetup& setup, const Grid<T>& medium) {
  Grid<T> grid(setup.shape, 2);
  for (std::size_t i = 0; i < grid.cells(); ++i)
    grid.all()[i] = static_cast<T>(std::sin(0.37 * static_cast<double>(i)));
  const auto running = chosen.variant->start(grid, &medium);
  const auto state = layers.start();
  std::vector<T> kept(state->values());
  for (int step = 0; step < 11; ++step) {
    step_with_layers(*running, state.get());
    if (step != 6) continue;  // memory variables survive a copy to the host and back
    state->save(kept.data());
    state->clear();
    state->restore(kept.data());
  }
  running->read(grid);
  return grid;
}

// The compiled loops of the host compute what the layers' expressions define.
template <class T>
void check_loops(const LayerSetup& setup, std::size_t threads) {
  const Update<T> update = layered<T>(setup);
  const Grid<T> medium = medium_of<T>(setup.shape, [](double z, double y, double) { return y + z > 40 ? 1.0 : 0.7; });
  const Chosen<T> chosen =
      choose_variant(host(), update, {.shape = setup.shape, .threads = threads}, {.effort = Effort::quick}, true);
  for (const Update<T>& one : {update, adjoint_update(update, chosen.layout).update}) {
    Update<T> plain = one;
    for (LayerUpdate& layer : plain.layers) layer.differences = {};
    const auto compiled = host_layers(one, chosen.layout), interpreted = host_layers(plain, chosen.layout);
    // The loops store fewer values; without FMA instructions the expressions are used.
    EXPECT_EQ(compiled->start()->values() != interpreted->start()->values(), has_cpml_rows<T>());
    const Grid<T> loops = after_steps(chosen, *compiled, setup, medium),
                  expressions = after_steps(chosen, *interpreted, setup, medium);
    ridge::test::Worst worst;
    double most = 0;
    const std::size_t first = setup.surface ? 3 * (loops.cells() / setup.shape[0]) : 0;
    for (std::size_t i = first; i < loops.cells(); ++i) {
      worst.add(std::abs(static_cast<double>(loops.all()[i]) - static_cast<double>(expressions.all()[i])));
      most = std::max(most, std::abs(static_cast<double>(expressions.all()[i])));
    }
    EXPECT_LE(worst.value(), (sizeof(T) == 4 ? 3e-6 : 6e-15) * most)
        << setup.shape.size() << "D, layers of " << setup.cells << ", order " << setup.accuracy << ", threads "
        << threads;
    EXPECT_GT(most, 0.1);
  }
}

TEST(Layers, TransposingTwiceGivesTheLayersBack) {
  const LayerSetup setup{.shape = {45, 53}};
  const Update<double> update = layered<double>(setup);
  const Layout layout = resolve(update, {.shape = setup.shape});
  const Update<double> once = adjoint_update(update, layout).update, twice = adjoint_update(once, layout).update;
  EXPECT_FALSE(update.layers[0].differences.transposed);
  EXPECT_TRUE(once.layers[0].differences.transposed);
  EXPECT_FALSE(twice.layers[0].differences.transposed);
}

TEST(Layers, LoopsOfTheHostAgreeWithTheExpressions) {
  for (const std::size_t threads : {1u, 3u}) {
    check_loops<float>({.shape = {45, 53}}, threads);
    check_loops<double>({.shape = {61, 59}, .cells = 20, .surface = true}, threads);
    check_loops<float>({.shape = {34, 35, 37}, .surface = true}, threads);
    check_loops<double>({.shape = {35, 37, 36}, .cells = 9}, threads);
    check_loops<float>({.shape = {23, 90, 71}, .cells = 3}, threads);
    check_loops<double>({.shape = {24, 25, 26}, .cells = 5, .accuracy = 2}, threads);
    check_loops<float>({.shape = {24, 29, 30}, .cells = 6, .accuracy = 6}, threads);
    check_loops<double>({.shape = {27, 31, 150}, .cells = 7, .accuracy = 4}, threads);
  }
}

template <class T>
void check_lines(const Device& device, const LayerSetup& setup) {
  const Update<T> update = layered<T>(setup);
  const Grid<T> medium = medium_of<T>(setup.shape, [](double z, double y, double) { return y + z > 40 ? 1.0 : 0.7; });
  const Chosen<T> chosen = choose_variant(device, update, {.shape = setup.shape}, {.effort = Effort::quick}, true);
  for (const Update<T>& one : {update, adjoint_update(update, chosen.layout).update}) {
    const Grid<T> by_cells = after_steps(chosen, *layers_by_cells(device, one, chosen.layout), setup, medium);
    const Grid<T> by_lines = after_steps(chosen, *layers_by_lines(device, one, chosen.layout), setup, medium);
    ridge::test::Worst worst;
    double most = 0;
    // Cells before a free surface have no defined value between steps.
    const std::size_t first = setup.surface ? 3 * (by_cells.cells() / setup.shape[0]) : 0;
    for (std::size_t i = first; i < by_cells.cells(); ++i) {
      worst.add(std::abs(static_cast<double>(by_cells.all()[i]) - static_cast<double>(by_lines.all()[i])));
      most = std::max(most, std::abs(static_cast<double>(by_cells.all()[i])));
    }
    // GPU compilers contract products and sums differently in the two kernels.
    const double allowed = device.info().runs_on_host_cores ? 0 : sizeof(T) == 4 ? 1e-5 : 1e-13;
    EXPECT_LE(worst.value(), allowed * most)
        << device.id() << ", " << setup.shape.size() << "D, layers of " << setup.cells << ", surface " << setup.surface;
  }
}

TEST(LayersOnDevices, LinesAgreeWithCells) {
  for (const Device& device : ridge::test::accelerators()) {
    check_lines<float>(device, {.shape = {45, 53}});
    check_lines<float>(device, {.shape = {64, 71}, .cells = 20, .surface = true});
    check_lines<float>(device, {.shape = {34, 35, 37}, .surface = true});
    if (device.limits().float64) check_lines<double>(device, {.shape = {33, 36, 35}});
  }
}

// Rows along x that are copied four cells at a time give the same results as rows copied cell by cell.
TEST(LayersOnDevices, AlignedLinesAgreeWithOthers) {
  const LayerSetup setup{.shape = {34, 35, 84}};
  const Update<float> update = layered<float>(setup);
  const Grid<float> medium =
      medium_of<float>(setup.shape, [](double z, double y, double) { return y + z > 40 ? 1.0 : 0.7; });
  Chosen<float> chosen{.layout = resolve(update, {.shape = setup.shape})};
  for (const Device& device : ridge::test::accelerators()) {
    chosen.variant = system_planes_variant<float>(device, update, chosen.layout,
                                                  {.lanes = 6, .lines = 4, .rows = 2, .ahead = 2, .march = 9});
    for (const Update<float>& one : {update, adjoint_update(update, chosen.layout).update}) {
      const auto aligned = layers_by_lines(device, one, chosen.layout, true),
                 others = layers_by_lines(device, one, chosen.layout, false);
      EXPECT_NE(aligned->kernels().back().text, others->kernels().back().text);
      const Grid<float> got = after_steps(chosen, *aligned, setup, medium),
                        expected = after_steps(chosen, *others, setup, medium);
      ridge::test::Worst worst;
      for (std::size_t i = 0; i < got.all().size(); ++i)
        worst.add(std::abs(static_cast<double>(got.all()[i]) - static_cast<double>(expected.all()[i])));
      EXPECT_EQ(worst.value(), 0) << device.id();
    }
  }
}

TEST(LayersOnDevices, AgreeWithTheHost) {
  for (const Device& device : ridge::test::accelerators()) {
    for (const auto& shape : {std::vector<std::size_t>{45, 53}, std::vector<std::size_t>{34, 35, 37}}) {
      for (const bool surface : {false, true}) {
        const LayerSetup setup{.shape = shape, .surface = surface};
        const Grid<float> medium =
            medium_of<float>(shape, [](double z, double y, double) { return y + z > 40 ? 1.0 : 0.7; });
        const std::array<std::size_t, 3> source{shape.size() == 3 ? 17u : 0u, 18, 20};
        Box all{.begin = {0, 0, 0},
                .extent = {shape.size() == 3 ? shape[0] : 1, shape[shape.size() - 2], shape.back()}};
        if (surface) {  // cells before the surface have no defined value between steps
          const std::size_t first = 3 - shape.size();
          all.begin[first] = 3;
          all.extent[first] -= 3;
        }
        const auto there = recorded<float>(device, setup, medium, source, {all}, 91);
        const auto here = recorded<float>(host(), setup, medium, source, {all}, 91);
        ASSERT_EQ(there.size(), here.size());
        ridge::test::Worst worst;
        double most = 0;
        for (std::size_t i = 0; i < here.size(); ++i) {
          worst.add(std::abs(static_cast<double>(there[i]) - static_cast<double>(here[i])));
          most = std::max(most, std::abs(static_cast<double>(here[i])));
        }
        EXPECT_LT(worst.value(), 1e-5 * most) << device.id() << " " << shape.size() << "D, surface " << surface;
        EXPECT_GT(most, 0.01);
      }
    }
  }
}

}  // namespace
}  // namespace ridge::stencil
