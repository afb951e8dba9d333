// Tests every device variant against the reference: bit for bit if it sums in the same order, otherwise within
// rounding.
#include <gtest/gtest.h>
#include <ridge/stencil.hpp>
#include <ridge/stencil/problems.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <random>
#include <set>
#include <string>

#include "device/backend.hpp"
#include "device/cuda/nvrtc.hpp"
#include "stencil/reference.hpp"
#include "stencil/variant.hpp"
#include "support/devices.hpp"
#include "support/hopper.hpp"
#include "support/worst.hpp"

namespace ridge::stencil::device_tests {
namespace {

using ridge::test::accelerators;

template <class T>
void scatter(Grid<T>& grid, unsigned seed = 1) {
  std::mt19937 random(seed);
  for (T& value : grid.all()) {
    if constexpr (std::is_floating_point_v<T>) {
      value = std::uniform_real_distribution<T>(T(0.5), T(1.5))(random);
    } else {
      value = static_cast<T>(random() % 5);
    }
  }
}

template <class T>
double worst(const Grid<T>& a, const Grid<T>& b) {
  ridge::test::Worst worst;
  for (std::size_t i = 0; i < a.all().size(); ++i)
    worst.add(std::abs(static_cast<double>(a.all()[i]) - static_cast<double>(b.all()[i])));
  return worst.value();
}

std::string words(const Problem& problem) {
  std::string text;
  for (const std::size_t side : problem.shape) text += std::to_string(side) + " ";
  for (std::size_t i = 0; i < problem.shape.size(); ++i) {
    text += std::string(to_string(problem.borders.low[i])) + "/" + to_string(problem.borders.high[i]) + " ";
  }
  return text;
}

// Runs each allowed variant for a number of steps that no depth divides, reads in between, and compares. Returns the
// variants. PoCL, where each program takes seconds to compile, skips depths above `deepest`; a GPU does not.
template <class T>
std::set<std::string> check_all(const Update<T>& update, const Problem& problem, std::size_t steps = 5,
                                const std::string& only = "", std::size_t deepest = 2) {
  const Layout layout = resolve(update, problem);
  Grid<T> start(problem.shape, update.fields);
  scatter(start);
  std::unique_ptr<Grid<T>> coefficients;
  if (update.coefficients > 0) {
    coefficients = std::make_unique<Grid<T>>(problem.shape, update.coefficients);
    scatter(*coefficients, 2);
  }
  Grid<T> expected = start;
  reference(update, problem, expected, steps, coefficients.get());
  // Each step rounds a few times, and the sums stay near one.
  const double allowed = static_cast<double>(std::numeric_limits<T>::epsilon()) *
                         static_cast<double>(std::max<std::size_t>(16, 4 * steps));
  std::set<std::string> ran;
  for (const Device& device : accelerators()) {
    const bool slow_to_compile = device.limits().sub_group == 0;
    for (const Entry<T>& entry : list_variants(device, update, layout)) {
      if (!entry.candidate.refusal.empty() || (!only.empty() && entry.candidate.variant != only)) continue;
      if (slow_to_compile && depth_of(entry.candidate) > deepest) continue;
      ran.insert(entry.candidate.variant);
      const auto running = entry.build()->start(start, coefficients.get());
      Grid<T> got = start;
      running->run(1);
      running->read(got);
      running->run(steps - 1);
      running->read(got);
      EXPECT_LE(worst(got, expected), entry.exact ? 0 : allowed)
          << entry.candidate.name() << " on " << device.id() << ": " << words(problem) << steps << " steps";
    }
  }
  return ran;
}

template <class T>
Update<T> five_points() {
  return linear<T>(2, {{{0, 0, 0}, 0.5}, {{0, -1, 0}, 0.11}, {{0, 1, 0}, 0.14}, {{0, 0, -1}, 0.12}, {{0, 0, 1}, 0.13}});
}

Borders sides(Border y0, Border y1, Border x0, Border x1) {
  return {.low = {y0, x0, Border::fixed}, .high = {y1, x1, Border::fixed}};
}

class DeviceVariants : public ridge::test::NeedsAccelerator<> {};

using enum Border;

TEST_F(DeviceVariants, LinearInTwoDimensions) {
  const std::set<std::string> expected{"base", "read_only", "padded", "two_wide", "blocks", "tiles"};
  std::set<std::string> ran = check_all(five_points<float>(), {{37, 45}, Borders::all(fixed)}, 7, "", 3);
  for (const char* with_shuffles : {"row_march", "resident_tiles"}) ran.erase(with_shuffles);
  EXPECT_EQ(ran, expected);
}

TEST_F(DeviceVariants, EveryBorder) {
  for (const Borders& borders : {Borders::all(mirror), Borders::all(periodic), sides(fixed, mirror, periodic, periodic),
                                 sides(mirror, fixed, fixed, mirror)}) {
    check_all(five_points<double>(), {{35, 70}, borders}, 5, "blocks");
    check_all(five_points<double>(), {{35, 70}, borders}, 5, "tiles");
  }
}

// Wide radius, several fields, coefficients and nonlinear operations.
TEST_F(DeviceVariants, FieldsAndCoefficients) {
  const auto coupled = update<float>(2, [](auto u) {
    const auto gradient = u.field(0, 0, 2) - u.field(0, 0, -2);
    const auto first =
        u.field(0, 0, 0) + 0.1f * (max(abs(gradient), u.field(1, -1, 0)) - u.coefficient(0, 0, 0) * u.field(1, 1, 1));
    const auto second = select(u.field(1, 0, 0) < u.field(0, 0, 0), sqrt(u.field(1, 0, 0) * u.field(0, 0, -1)),
                               u.field(1, 0, 0) / u.coefficient(1, 0, 1));
    return std::array{first, second};
  });
  for (const Borders& borders : {sides(fixed, mirror, periodic, periodic), Borders::all(mirror)}) {
    const auto ran = check_all(coupled, {{19, 33}, borders}, 3, borders.low[0] == mirror ? "tiles" : "");
    EXPECT_EQ(ran.count("tiles"), 1u);
  }
}

TEST_F(DeviceVariants, OneDimension) {
  const auto wave = linear<double>(1, {{{0, 0, -2}, 0.1}, {{0, 0, 0}, 0.6}, {{0, 0, 1}, 0.2}});
  check_all(wave, {{1301}, Borders::all(fixed)}, 5);
  for (const Border border : {fixed, mirror, periodic}) check_all(wave, {{1301}, Borders::all(border)}, 5, "tiles", 4);
}

TEST_F(DeviceVariants, ThreeDimensions) {
  const auto heat = linear<float>(3, {{{0, 0, 0}, 0.4},
                                      {{-1, 0, 0}, 0.07},
                                      {{1, 0, 0}, 0.13},
                                      {{0, -1, 0}, 0.08},
                                      {{0, 1, 0}, 0.12},
                                      {{0, 0, -1}, 0.09},
                                      {{0, 0, 1}, 0.11}});
  const Borders mixed{.low = {mirror, periodic, fixed}, .high = {fixed, periodic, mirror}};
  check_all(heat, {{11, 13, 37}, mixed}, 4);
}

TEST_F(DeviceVariants, Integers) {
  const auto life = update<std::uint8_t>(2, [](auto u) {
    const auto around = u(-1, -1) + u(-1, 0) + u(-1, 1) + u(0, -1) + u(0, 1) + u(1, -1) + u(1, 0) + u(1, 1);
    return select(around == 3 || (around == 2 && u(0, 0) == 1), decltype(around)(1), decltype(around)(0));
  });
  const auto ran = check_all(life, {{31, 40}, Borders::all(periodic)}, 4);
  EXPECT_EQ(ran, (std::set<std::string>{"base", "read_only", "padded", "tiles"}));
  const auto wraps = update<std::int32_t>(
      2, [](auto u) { return u(0, 0) * 1664525 + abs(u(0, -1) - u(1, 0)) - min(u(0, 1), u(-1, 0)); });
  check_all(wraps, {{17, 23}, Borders::all(mirror)}, 4);
}

// Functions whose result does not use everything they read.
TEST_F(DeviceVariants, ReadsThatTheResultDoesNotUse) {
  check_all(ridge::stencil::life<std::uint8_t>("B/S"), {{31, 40}, Borders::all(fixed)}, 3);
  check_all(update<float>(2, [](auto) { return 0.25; }), {{19, 33}, Borders::all(mirror)}, 3);
  const auto sum = update<float>(2, [](auto u) {
    [[maybe_unused]] const auto unused = u(-2, 0) + u(0, 3);
    return 0.5 * u(0, 0) + 0.25 * (u(0, -1) + u(1, 0));
  });
  check_all(sum, {{37, 45}, Borders::all(fixed)}, 5);
  check_all(sum, {{37, 45}, sides(mirror, fixed, periodic, periodic)}, 5, "tiles");
  const auto solid = update<float>(3, [](auto u) {
    [[maybe_unused]] const auto unused = u(0, 2, 0);
    return 0.5 * u(0, 0, 0) + 0.25 * (u(0, 0, -1) + u(1, 0, 0));
  });
  check_all(solid, {{12, 19, 37}, Borders::all(fixed)}, 5);
  for (const auto& candidate : candidates(ridge::device("recorded:h200"), sum, {{37, 45}, Borders::all(fixed)})) {
    if (candidate.variant == "row_march") {
      EXPECT_NE(candidate.refusal.find("fixed borders as wide as the terms reach, 1 cells along y, got 2"),
                candidate.refusal.npos);
    }
  }
}

std::vector<Term> weighed(const std::vector<Offset>& offsets) {
  std::vector<Term> terms;
  double sum = 0;
  for (const Offset& offset : offsets) {
    const double weight = offset == Offset{} ? 4.0 : 1.0 + 0.07 * static_cast<double>(terms.size() % 5);
    terms.push_back({offset, weight});
    sum += weight;
  }
  for (Term& term : terms) term.weight /= sum;
  return terms;
}

// GPU only: every depth, its remainders of 4 and of 1 steps, and interior and frame in one launch. 1 + 29 steps: 29
// leaves at least five for every depth from 6 to 12, and one for 2, 3 and 4.
TEST_F(DeviceVariants, EveryDepthAndItsRemainder) {
  bool any = false;
  for (const Device& device : accelerators()) any = any || device.limits().sub_group != 0;
  if (!any) GTEST_SKIP() << "no device with sub-groups that shuffle";
  const std::size_t steps = 30;
  std::set<std::string> names;
  const auto count = [&](const auto& update, const Problem& problem) {
    for (const Device& device : accelerators()) {
      for (const auto& candidate : candidates(device, update, problem)) {
        if (candidate.refusal.empty()) names.insert(candidate.name());
      }
    }
  };
  for (const Borders& borders : {Borders::all(fixed), Borders::all(periodic), sides(mirror, fixed, fixed, mirror)}) {
    // Rows of whole vectors, and rows that end within one.
    for (const std::size_t width : {516u, 771u}) {
      const Problem problem{{307, width}, borders};
      EXPECT_TRUE(check_all(five_points<float>(), problem, steps, "row_march").contains("row_march"));
      check_all(five_points<double>(), problem, steps, "row_march");
      count(five_points<float>(), problem);
    }
    const Problem wide{{310, 517}, borders};
    for (const std::vector<Offset>& offsets : {moore(2, 1), von_neumann(2, 2), von_neumann(2, 4)}) {
      check_all(linear<float>(2, weighed(offsets)), wide, steps, "row_march");
      check_all(linear<double>(2, weighed(offsets)), wide, steps, "row_march");
    }
    const Borders cube{.low = {borders.low[0], borders.low[1], borders.low[0]},
                       .high = {borders.high[0], borders.high[1], borders.high[0]}};
    for (const std::size_t width : {100u, 131u}) {
      const Problem problem{{37, 95, width}, cube};
      EXPECT_TRUE(check_all(linear<float>(3, weighed(von_neumann(3, 1))), problem, steps, "plane_march")
                      .contains("plane_march"));
      check_all(linear<double>(3, weighed(von_neumann(3, 1))), problem, steps, "plane_march");
    }
  }
  const auto has = [&](const std::string& part) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return name.find(part) != name.npos; });
  };
  for (const char* part : {"depth=4", "depth=6", "depth=8", "depth=11", "depth=12", "joined"})
    EXPECT_TRUE(has(part)) << part << " is not offered any more: is this test still what it says?";
}

TEST_F(DeviceVariants, TinyGrids) {
  for (const Border border : {mirror, periodic}) {
    check_all(five_points<float>(), {{1, 1}, Borders::all(border)}, 2, "base");
    check_all(five_points<float>(), {{2, 3}, Borders::all(border)}, 3, "blocks");
    check_all(five_points<float>(), {{1, 50}, Borders::all(border)}, 3, "tiles");
  }
}

TEST_F(DeviceVariants, ChangeIsMeasuredOnTheDevice) {
  const auto update = five_points<float>();
  const Problem problem{{37, 45}, Borders::all(mirror)};
  Grid<float> before(problem.shape);
  scatter(before);
  Grid<float> after = before;
  reference(update, problem, after, 1);
  for (const Device& device : accelerators()) {
    const auto variant = list_variants(device, update, resolve(update, problem)).front().build();
    for (const Norm norm : {Norm::max, Norm::l2}) {
      const auto running = variant->start(before, nullptr);
      EXPECT_NEAR(running->change(norm), change_between(before, after, norm), 1e-6);
      Grid<float> got = before;
      running->read(got);
      EXPECT_EQ(worst(got, after), 0) << "the measured step is taken";
    }
    Grid<float> poisoned = before;
    poisoned(3, 4) = std::nanf("");
    EXPECT_TRUE(std::isnan(variant->start(poisoned, nullptr)->change(Norm::max)));
  }
}

// Boxes that are written take effect from the next step, at fixed borders permanently.
TEST_F(DeviceVariants, BoxesRoundTrip) {
  const std::vector<std::size_t> shape{5, 9, 14};
  const Update<float> update = wave<float>({.speed = 1, .dt = 0.4, .spacing = {1, 1, 1}});
  const Problem problem{.shape = shape, .borders = Borders::all(fixed)};
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    const Plan<float> plan(device, update, problem,
                           {.effort = Effort::quick, .use_wisdom = false, .variant = "padded"});
    Grid<float> expected(shape, 2), result(shape, 2);
    for (std::size_t i = 0; i < expected.all().size(); ++i) expected.all()[i] = static_cast<float>(i * 37 % 101);
    Session<float> session = plan.start(expected);
    for (const Box& box : {Box{{0, 0, 0}, {5, 9, 14}}, Box{{0, 0, 12}, {5, 9, 2}}, Box{{2, 3, 4}, {1, 2, 3}},
                           Box{{0, 8, 0}, {5, 1, 14}}}) {
      session.run(3);
      reference(update, problem, expected, 3);
      std::vector<float> had(2 * box.cells()), cells(had.size());
      session.get(box, had);
      std::size_t at = 0;
      for (std::size_t field = 0; field < 2; ++field) {
        for (std::size_t z = box.begin[0]; z < box.begin[0] + box.extent[0]; ++z) {
          for (std::size_t y = box.begin[1]; y < box.begin[1] + box.extent[1]; ++y) {
            for (std::size_t x = box.begin[2]; x < box.begin[2] + box.extent[2]; ++x, ++at) {
              float& cell = expected.field(field)[(z * 9 + y) * 14 + x];
              ASSERT_EQ(had[at], cell);
              cells[at] = cell = static_cast<float>(at % 19) - 3;
            }
          }
        }
      }
      session.put(box, cells);
    }
    session.run(4);
    reference(update, problem, expected, 4);
    session.read(result);
    EXPECT_EQ(worst(result, expected), 0);
  }
}

// Grids that fill a device with two copies: the second one is the buffer of their transfers.
TEST_F(DeviceVariants, WholeGridIsCopiedWithoutAnotherBuffer) {
  const std::vector<std::size_t> shape{9, 14};
  for (const Device& device : accelerators()) {
    const Plan<float> plan(device, heat<float>({.dt = 0.1, .spacing = {1, 1}}), {.shape = shape},
                           {.effort = Effort::quick, .use_wisdom = false});
    Grid<float> grid(shape);
    std::vector<float> cells(9 * 14);
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<float>(i % 7);
    Session<float> session = plan.start(grid);
    session.put({{0, 0, 0}, {1, 9, 14}}, cells);
    session.get({{0, 0, 0}, {1, 9, 14}}, grid.all());
    EXPECT_TRUE(std::equal(cells.begin(), cells.end(), grid.all().begin()));
    const std::lock_guard lock(device.state().memory_mutex);
    for (const auto* memory : device.state().memory) EXPECT_NE(memory->name, "stencil box");
  }
}

// A source and receivers whose values are recorded on the device, more than its log holds at once.
TEST_F(DeviceVariants, SourcesAndReceivers) {
  const std::vector<std::size_t> shape{40, 9, 2048};
  const Update<float> update = wave<float>({.speed = 1, .dt = 0.4, .spacing = {1, 1, 1}});
  const Problem problem{.shape = shape, .borders = Borders::all(fixed)};
  const std::size_t cells = 40 * 9 * 2048, at = (20 * 9 + 4) * 2048 + 77;
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    const Plan<float> plan(device, update, problem,
                           {.effort = Effort::quick, .use_wisdom = false, .variant = "padded"});
    Grid<float> expected(shape, 2);
    for (std::size_t i = 0; i < expected.all().size(); ++i) expected.all()[i] = static_cast<float>(i * 37 % 101);
    Session<float> session = plan.start(expected);
    std::vector<float> heard, later;
    for (int step = 0; step < 3; ++step) {
      session.add({20, 4, 77}, 0, 2.5f);
      expected.field(0)[at] += 2.5f;
      session.add({0, 0, 5}, 1, 1.5f);  // on a fixed side: permanent, in both buffers
      expected.field(1)[5] += 1.5f;
      session.run(1);
      reference(update, problem, expected, 1);
      session.keep({{0, 0, 0}, {40, 9, 2048}});  // 5.6 of the 16 MiB of the log
      heard.insert(heard.end(), expected.all().begin(), expected.all().end());
    }
    ASSERT_EQ(heard.size(), 3 * 2 * cells);
    EXPECT_EQ(session.kept(), heard);
    session.keep({{20, 4, 70}, {1, 1, 9}});
    for (std::size_t field = 0; field < 2; ++field) {
      const float* const row = expected.field(field).data() + at - 7;
      later.insert(later.end(), row, row + 9);
    }
    EXPECT_EQ(session.kept(), later);
    EXPECT_TRUE(session.kept().empty());
  }
}

// Cells in device buffers give bit-identical steps to those from a host grid.
TEST_F(DeviceVariants, BuffersRoundTrip) {
  const std::vector<std::size_t> shape{19, 37};
  const Problem problem{.shape = shape, .borders = Borders::all(mirror)};
  const Update<float> update = ridge::stencil::update<float>(2, [](auto u) {
    return u(0, 0) + u.coefficient(0, 0, 0) * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4.0f * u(0, 0));
  });
  Grid<float> grid(shape), coefficients(shape);
  for (std::size_t i = 0; i < grid.all().size(); ++i) {
    grid.all()[i] = static_cast<float>(i * 37 % 101);
    coefficients.all()[i] = static_cast<float>(i % 7) / 32;
  }
  const std::size_t bytes = grid.all().size_bytes();
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    Queue queue = device.queue();
    const Buffer in = device.buffer(bytes), out = device.buffer(bytes), given = device.buffer(bytes);
    const Buffer small = device.buffer(bytes - 4);
    for (const char* variant : {"base", "padded"}) {
      const Plan<float> plan(device, update, problem,
                             {.effort = Effort::quick, .use_wisdom = false, .variant = variant});
      queue.upload(std::as_const(coefficients).all(), given);
      for (const std::size_t steps : {0u, 1u, 7u}) {
        Grid<float> expected = grid, got(shape);
        plan.run(expected, steps, &coefficients);
        queue.upload(std::as_const(grid).all(), in);
        plan.enqueue(queue, in, out, steps, given);
        plan.enqueue(queue, in, in, steps, given);
        queue.download(out, got.all());
        queue.finish();
        EXPECT_EQ(worst(got, expected), 0) << variant << " " << steps;
        queue.download(in, got.all());
        queue.finish();
        EXPECT_EQ(worst(got, expected), 0) << variant << " in place " << steps;
      }
      EXPECT_THROW(plan.enqueue(queue, in, out, 1), Error) << "no coefficients";
      EXPECT_THROW(plan.enqueue(queue, in, out, 1, small), Error);
      EXPECT_THROW(plan.enqueue(queue, small, out, 1, given), Error);
      EXPECT_THROW(plan.enqueue(queue, in, small, 1, given), Error);
    }
    const Plan<float> on_host(host(), update, problem, {.effort = Effort::quick, .use_wisdom = false});
    EXPECT_THROW(on_host.enqueue(queue, in, out, 1, given), Error) << "the host takes grids";
  }
}

// A variant's first and last parameters: those between differ only in numbers. RIDGE_SLOW=1 tests all.
template <class T>
std::set<std::string> compile_all(const Update<T>& update, const Problem& problem) {
  const Device hopper = ridge::test::hopper();
  std::set<std::string> compiled;
  std::vector<Entry<T>> entries = list_variants(hopper, update, resolve(update, problem));
  std::erase_if(entries, [](const Entry<T>& entry) { return !entry.candidate.refusal.empty(); });
  const auto same = [&](std::size_t i, std::size_t j) {
    return i < entries.size() && j < entries.size() && entries[i].candidate.variant == entries[j].candidate.variant;
  };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (std::getenv("RIDGE_SLOW") == nullptr && same(i, i - 1) && same(i, i + 1)) continue;
    const Entry<T>& entry = entries[i];
    // Long texts, compiled by ResidentTilesForHopper and ResidentRowsForHopper.
    if (entry.candidate.variant.starts_with("resident_")) continue;
    for (const KernelSource& source : entry.kernels()) {
      static std::set<std::string> seen;  // one text for many problems
      std::string all = source.text;
      for (const auto& [name, value] : source.defines) all += name + "=" + value + ";";
      if (!seen.insert(all).second) continue;
      EXPECT_NO_THROW({ EXPECT_FALSE(ridge::detail::compile_for(source, "sm_90").empty()); }) << source.text;
    }
    compiled.insert(entry.candidate.variant);
  }
  return compiled;
}

// Needs no GPU: checks the kernels that a CUDA device would compile.
TEST(DeviceVariantsForHopper, EveryKernelCompiles) {
  if (!ridge::detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  EXPECT_EQ(compile_all(five_points<float>(), {{1000, 1000}, Borders::all(fixed)}),
            (std::set<std::string>{"base", "blocks", "padded", "read_only", "row_march", "tiles", "two_wide"}));
  const auto heat = linear<double>(3, {{{0, 0, 0}, 0.4},
                                       {{-1, 0, 0}, 0.1},
                                       {{1, 0, 0}, 0.1},
                                       {{0, -1, 0}, 0.1},
                                       {{0, 1, 0}, 0.1},
                                       {{0, 0, -1}, 0.1},
                                       {{0, 0, 1}, 0.1}});
  EXPECT_TRUE(compile_all(heat, {{100, 100, 100}, Borders::all(mirror)}).contains("plane_march"));
  const auto life = update<std::uint8_t>(2, [](auto u) { return select(u(0, 1) + u(1, 0) == 2, u(0, 0), u(-1, 0)); });
  EXPECT_EQ(compile_all(life, {{100, 100}, Borders::all(periodic)}).size(), 4u);
}

// The planner rejects two candidates with the same name.
TEST_F(DeviceVariants, EveryCandidateHasANameOfItsOwn) {
  for (const Device& device : accelerators()) {
    for (const std::size_t dimensions : {1u, 2u, 3u}) {
      for (int order = 1; order <= 8; ++order) {
        for (const bool box : {false, true}) {
          if (box && order > 2) continue;
          for (const std::size_t side : {200u, 5000u}) {
            if (dimensions == 3 && side > 200) continue;
            std::vector<Term> terms;
            for (const Offset& offset : box ? moore(dimensions, order) : von_neumann(dimensions, order))
              terms.push_back({offset, 0.01});
            const Problem problem{.shape = std::vector<std::size_t>(dimensions, side)};
            std::set<std::string> names;
            for (const auto& candidate : candidates(device, linear<float>(dimensions, terms), problem))
              EXPECT_TRUE(names.insert(candidate.name()).second) << candidate.name() << ", order " << order;
            names.clear();
            for (const auto& candidate : candidates(device, linear<double>(dimensions, terms), problem))
              EXPECT_TRUE(names.insert(candidate.name()).second) << candidate.name() << ", order " << order;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ridge::stencil::device_tests
