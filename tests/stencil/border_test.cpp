// Tests borders: refused problems, and border cells that hold in both levels for any number of steps.
#include "support.hpp"

namespace ridge::stencil {
namespace {

void refused(const Update<double>& update, const Problem& problem, const std::string& word) {
  try {
    resolve(update, problem);
    ADD_FAILURE() << "nothing was refused where \"" << word << "\" should be";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

TEST(Border, Refusals) {
  const auto star = linear<double>(2, weighted(von_neumann(2, 1), 0.2));
  Borders one_sided;
  one_sided.low[1] = Border::periodic;
  refused(star, {.shape = {9, 9}, .borders = one_sided}, "along x one side is periodic");
  one_sided = {};
  one_sided.high[0] = Border::periodic;
  refused(star, {.shape = {9, 9}, .borders = one_sided}, "along y one side is periodic");
  Borders unknown;
  unknown.low[0] = static_cast<Border>(9);
  refused(star, {.shape = {9, 9}, .borders = unknown}, "no known kind");
  refused(star, {.shape = {9}}, "1 dimensions");
  refused(star, {.shape = {}}, "0 dimensions");
  refused(star, {.shape = {0, 9}}, "0 cells");
  refused(star, {.shape = {2, 9}}, "along y the fixed borders");
  refused(star, {.shape = {9, 2}}, "along x the fixed borders");
  refused(star, {.shape = {std::size_t{1} << 40, std::size_t{1} << 40}}, "too large");
  refused(star, {.shape = {std::size_t{1} << 63, 2}}, "too large");
  refused(star, {.shape = {9, 9}, .threads = 100000}, "threads");
  refused({}, {.shape = {9, 9}}, "not made by");
  const auto wide = linear<double>(1, weighted(von_neumann(1, 7), 0.06));  // a radius larger than the grid
  refused(wide, {.shape = {10}}, "cover all 10 cells");
}

TEST(Border, GridsAreCheckedBeforeMemoryIsTaken) {
  EXPECT_THROW(Grid<float>({}), Error);
  EXPECT_THROW(Grid<float>({1, 2, 3, 4}), Error);
  EXPECT_THROW(Grid<float>({8, 0}), Error);
  EXPECT_THROW(Grid<float>({8, 8}, 0), Error);
  EXPECT_THROW(Grid<float>({std::size_t{1} << 40, std::size_t{1} << 40}), Error);
  EXPECT_THROW(Grid<double>({std::size_t{1} << 62, 2}), Error);
}

TEST(Border, FixedCellsKeepTheirValues) {
  const auto wide = linear<float>(2, weighted(von_neumann(2, 2), 0.1));
  const Grid<float> start = test::random_grid<float>({20, 30});
  for (const Entry<float>& entry : list_variants(host(), wide, resolve(wide, {.shape = {20, 30}}))) {
    if (!entry.candidate.refusal.empty()) continue;
    const auto variant = entry.build();
    const auto running = variant->start(start, nullptr);
    for (const std::size_t steps : {1, 1, 3, 8}) {  // odd and even, so that both levels are tested
      running->run(steps);
      Grid<float> grid = start;
      running->read(grid);
      for (std::size_t y = 0; y < 20; ++y) {
        for (std::size_t x = 0; x < 30; ++x) {
          const bool fixed = y < 2 || y >= 18 || x < 2 || x >= 28;
          EXPECT_EQ(grid(y, x) == start(y, x), fixed) << entry.candidate.name() << ' ' << y << ' ' << x;
        }
      }
    }
  }
}

TEST(Border, StepsInPiecesAreTheSameSteps) {
  const auto star = linear<float>(2, weighted(von_neumann(2, 1), 0.2));
  for (const Borders& borders : test::all_borders()) {
    const Problem problem{.shape = {33, 41}, .borders = borders};
    const Grid<float> start = test::random_grid<float>(problem.shape);
    Grid<float> expected = start;
    reference(star, problem, expected, 1 + 2 + 5 + 1 + 13);
    for (const Entry<float>& entry : list_variants(host(), star, resolve(star, problem))) {
      if (!entry.candidate.refusal.empty() || !entry.exact) continue;
      const auto variant = entry.build();
      const auto running = variant->start(start, nullptr);
      Grid<float> grid = start;
      running->run(1);
      running->run(2);
      running->read(grid);
      running->run(5);
      running->change(Norm::max);
      running->run(13);
      running->read(grid);
      EXPECT_TRUE(test::same_bits(grid, expected)) << entry.candidate.name();
    }
  }
}

}  // namespace
}  // namespace ridge::stencil
