// Tests plans: choice of a variant, refusals, sessions, threads.
#include <atomic>
#include <thread>

#include <ridge/stencil/problems.hpp>

#include "stencil/reference.hpp"
#include "stencil/variant.hpp"
#include "support.hpp"

namespace ridge::stencil {
namespace {

Update<float> star() { return linear<float>(2, weighted(von_neumann(2, 1), 0.2), "star"); }

TEST(Plan, GridsBeyondMemoryAreRefusedInOneLine) {
  const auto sum = linear<float>(2, {{{0, 0, 0}, 0.5}, {{0, 0, 1}, 0.5}});
  try {
    plan(host(), sum, {.shape = {std::size_t{1} << 25, std::size_t{1} << 25}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
}

TEST(Plan, QuickPlansRunNothing) {
  const auto quick = plan(host(), star(), {.shape = {300, 300}}, {.effort = Effort::quick, .use_wisdom = false});
  EXPECT_EQ(quick.decisions().front().source, planner::Source::model);
  for (const planner::Trial& trial : quick.decisions().front().trials) EXPECT_EQ(trial.measured_seconds, 0);
  EXPECT_NE(quick.explain().find("star"), std::string::npos);
}

TEST(Plan, MeasuredChoiceBecomesWisdom) {
  const Problem problem{.shape = {123, 77}};
  wisdom::forget("stencil");
  const auto first = plan(host(), star(), problem);
  EXPECT_EQ(first.decisions().front().source, planner::Source::measurement);
  const auto second = plan(host(), star(), problem);
  EXPECT_EQ(second.decisions().front().source, planner::Source::wisdom);
  EXPECT_EQ(second.decisions().front().winner, first.decisions().front().winner);
  // Another border is another problem.
  EXPECT_NE(
      plan(host(), star(), {.shape = {123, 77}, .borders = Borders::all(Border::mirror)}).decisions().front().source,
      planner::Source::wisdom);
}

// Large grids are planned on a part of them, which must run the same computation.
TEST(Plan, PartsRunTheSameComputation) {
  std::size_t sampled = 0;
  const auto check = [&](const Update<float>& update, const Problem& whole, const Problem& part) {
    Grid<float> start(part.shape, update.fields), expected(part.shape, update.fields),
        result(part.shape, update.fields);
    for (std::size_t i = 0; i < start.all().size(); ++i)
      start.all()[i] = 1.0f + static_cast<float>(i * 37 % 101) / 200.0f;
    for (float& energy : start.field(update.fields - 1)) energy += 4;
    expected = start;
    reference(update, part, expected, 5);
    for (const Entry<float>& entry : list_variants(host(), update, resolve(update, whole))) {
      if (!entry.sample || !entry.candidate.refusal.empty() || !entry.exact) continue;
      const Sample<float> sample = entry.sample(resolve(update, part));
      const auto running = sample.variant->start(start, nullptr);
      running->run(5);
      running->read(result);
      EXPECT_TRUE(std::equal(result.all().begin(), result.all().end(), expected.all().begin()))
          << entry.candidate.name();
      EXPECT_GT(sample.scale, 1.5) << entry.candidate.name();
      EXPECT_LT(sample.scale, 2.1) << entry.candidate.name();
      ++sampled;
    }
  };
  const auto cube = linear<float>(3, weighted(von_neumann(3, 1), 0.14));
  check(star(), {.shape = {1200, 70}}, {.shape = {600, 70}});
  check(cube, {.shape = {200, 20, 30}, .borders = Borders::all(Border::periodic)},
        {.shape = {100, 20, 30}, .borders = Borders::all(Border::periodic)});
  check(euler<float>({.dt = 1e-3}), {.shape = {400, 30}}, {.shape = {200, 30}});
  EXPECT_GT(sampled, 12u);
}

TEST(Plan, VariantsByName) {
  const auto asked = plan(host(), star(), {.shape = {100, 100}}, {.effort = Effort::quick, .variant = "base"});
  EXPECT_EQ(asked.decisions().front().trials[asked.decisions().front().winner].name.substr(0, 4), "base");
  EXPECT_THROW(plan(host(), star(), {.shape = {100, 100}}, {.variant = "warp"}), Error);
  EXPECT_THROW(plan(host(), star(), {.shape = {100, 100}}, {.variant = "streaming"}),
               Error);  // refused because it fits the cache
}

TEST(Plan, EveryNameIsThere) {
  std::vector<std::string> names;
  for (const auto& candidate : candidates(host(), star(), {.shape = {4096, 4096}})) names.push_back(candidate.variant);
  for (const char* name : {"base", "register_blocked", "cache_blocked", "streaming", "historical/dlt"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

TEST(Plan, WrongGridsAreRefused) {
  const auto made = plan(host(), star(), {.shape = {30, 40}}, {.effort = Effort::quick});
  Grid<float> turned({40, 30}), systems({30, 40}, 2), right({30, 40});
  EXPECT_THROW(made.run(turned, 1), Error);
  EXPECT_THROW(made.run(systems, 1), Error);
  EXPECT_THROW(made.run(right, 1, &right), Error);  // the update has no coefficients
  Session<float> session = made.start(right);
  EXPECT_THROW(session.read(turned), Error);

  const auto wave =
      plan(host(), update<float>(2, test::wave_function()), {.shape = {30, 40}}, {.effort = Effort::quick});
  EXPECT_THROW(wave.run(systems, 1), Error);  // coefficients missing
  EXPECT_THROW(wave.run(systems, 1, &systems), Error);
  EXPECT_NO_THROW(wave.run(systems, 1, &right));
}

TEST(Plan, NoStepsChangeNothing) {
  const auto made = plan(host(), star(), {.shape = {30, 40}}, {.effort = Effort::quick});
  const Grid<float> start = test::random_grid<float>({30, 40});
  Grid<float> grid = start;
  made.run(grid, 0);
  EXPECT_TRUE(test::same_bits(grid, start));
  Session<float> session = made.start(grid);
  session.run(0);
  session.read(grid);
  EXPECT_TRUE(test::same_bits(grid, start));
  EXPECT_EQ(session.steps(), 0u);
}

TEST(Plan, OnePlanManyThreads) {
  const Problem problem{.shape = {64, 80}, .borders = Borders::all(Border::periodic)};
  const auto made = plan(host(), star(), problem, {.effort = Effort::quick});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Grid<float> grid = test::random_grid<float>(problem.shape, 1, t), expected = grid;
      reference(made.update(), problem, expected, 20);
      for (int repeat = 0; repeat < 5; ++repeat) {
        Grid<float> mine = grid;
        made.run(mine, 20);
        if (!test::same_bits(mine, expected)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Plan, SessionsOutliveTheirPlan) {
  Grid<float> grid = test::random_grid<float>({20, 20}), expected = grid;
  auto session = plan(host(), star(), {.shape = {20, 20}}, {.effort = Effort::quick}).start(grid);
  session.run(4);
  session.read(grid);
  reference(star(), {.shape = {20, 20}}, expected, 4);
  EXPECT_TRUE(test::same_bits(grid, expected));
}

TEST(Grid, CopiesAreDeep) {
  Grid<float> one({3, 3});
  Grid<float> two = one;
  two(1, 1) = 5;
  EXPECT_EQ(one(1, 1), 0);
  one = two;
  two(1, 1) = 6;
  EXPECT_EQ(one(1, 1), 5);
}

TEST(Grid, ArraysOfStructuresRoundTrip) {
  Grid<double> grid({2, 3}, 2);
  std::vector<double> cells(12), back(12);
  for (std::size_t i = 0; i < 12; ++i) cells[i] = static_cast<double>(i);
  grid.from_structures(cells);
  EXPECT_EQ(grid.field(0)[1], 2);
  EXPECT_EQ(grid.field(1)[1], 3);
  grid.to_structures(back);
  EXPECT_EQ(back, cells);
  back.resize(11);
  EXPECT_THROW(grid.to_structures(back), Error);
  EXPECT_THROW(grid.from_structures(back), Error);
}

}  // namespace
}  // namespace ridge::stencil
