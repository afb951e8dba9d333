// Tests the reference against results computed by hand.
#include "support.hpp"
#include "support/worst.hpp"

namespace ridge::stencil {
namespace {

TEST(Reference, FourPointSumOfTheSpecification) {
  const auto sum = linear<double>(2, weighted(von_neumann(2, 1, false), 1));
  Grid<double> grid({4, 4});
  grid(2, 1) = grid(1, 2) = 1;
  reference(sum, {.shape = {4, 4}}, grid, 1);
  for (std::size_t y = 0; y < 4; ++y) {
    for (std::size_t x = 0; x < 4; ++x) {
      const bool touched = (y == 1 && x == 1) || (y == 2 && x == 2);
      // Fixed cells keep their values, and the two ones are diagonal neighbours of each other.
      EXPECT_EQ(grid(y, x), touched ? 2 : 0) << y << ' ' << x;
    }
  }
}

// The values of u(-2) .. u(n+1), read by a stencil that only shifts.
std::vector<double> seen(const Borders& borders, std::size_t cells) {
  std::vector<double> values;
  Grid<double> grid({cells});
  for (int shift : {-2, 2}) {
    const auto shifted = linear<double>(1, {{.offset = {0, 0, shift}, .weight = 1}});
    for (std::size_t x = 0; x < cells; ++x) grid(x) = static_cast<double>(x + 1);
    reference(shifted, {.shape = {cells}, .borders = borders}, grid, 1);
    const std::size_t from = shift < 0 ? 0 : cells - 2;
    values.push_back(grid(from));
    values.push_back(grid(from + 1));
  }
  return values;
}

TEST(Reference, BordersByHand) {
  EXPECT_EQ(seen(Borders::all(Border::mirror), 5), (std::vector<double>{2, 1, 5, 4}));
  EXPECT_EQ(seen(Borders::all(Border::periodic), 5), (std::vector<double>{4, 5, 1, 2}));
  EXPECT_EQ(seen(Borders::all(Border::fixed), 5), (std::vector<double>{1, 2, 4, 5}));
  Borders mixed;
  mixed.low[0] = Border::mirror;
  EXPECT_EQ(seen(mixed, 5), (std::vector<double>{2, 1, 4, 5}));
}

TEST(Reference, GridsSmallerThanTheRadius) {
  // Two cells 1 2, mirrored: . 2 1 1 2 2 1 . and so on; offsets of three cells are resolved too.
  const auto far = linear<double>(1, {{.offset = {0, 0, -3}, .weight = 1}, {.offset = {0, 0, 4}, .weight = 10}});
  Grid<double> grid({2});
  grid(0) = 1, grid(1) = 2;
  reference(far, {.shape = {2}, .borders = Borders::all(Border::mirror)}, grid, 1);
  EXPECT_EQ(grid(0), 2 + 10 * 1);  // u(-3) = u(2) = 2, u(4) = u(-1) = 1
  EXPECT_EQ(grid(1), 2 + 10 * 2);  // u(-2) = u(1) = 2, u(5) = u(-2) = 2
  grid(0) = 1, grid(1) = 2;
  reference(far, {.shape = {2}, .borders = Borders::all(Border::periodic)}, grid, 1);
  EXPECT_EQ(grid(0), 2 + 10 * 1);
  EXPECT_EQ(grid(1), 1 + 10 * 2);
}

TEST(Reference, FieldsAndCoefficientsByHand) {
  const auto swap = update<double>(1, [](auto u) {
    return std::array{u.field(1, 1) * u.coefficient(1, 0), u.field(0, -1) + u.coefficient(0, 1)};
  });
  const Problem problem{.shape = {3}, .borders = Borders::all(Border::periodic)};
  Grid<double> grid({3}, 2), coefficients({3}, 2);
  for (std::size_t i = 0; i < 6; ++i) {
    grid.all()[i] = static_cast<double>(i + 1);                // 1 2 3, 4 5 6
    coefficients.all()[i] = static_cast<double>(10 * i + 10);  // 10 20 30, 40 50 60
  }
  reference(swap, problem, grid, 1, &coefficients);
  EXPECT_EQ((std::vector<double>(grid.all().begin(), grid.all().end())),
            (std::vector<double>{5 * 40, 6 * 50, 4 * 60, 3 + 20, 1 + 30, 2 + 10}));
}

TEST(Reference, IntegersWrapAndAreCut) {
  const auto twice = update<std::uint8_t>(1, [](auto u) { return u(0) * 200; });
  Grid<std::uint8_t> grid({4});
  for (auto& cell : grid.all()) cell = 3;
  reference(twice, {.shape = {4}}, grid, 1);
  EXPECT_EQ(grid(1), static_cast<std::uint8_t>(600));
  const auto large = update<std::int32_t>(1, [](auto u) { return u(0) * 65536 + u(0); });
  Grid<std::int32_t> wide({4});
  for (auto& cell : wide.all()) cell = 0x18000;
  reference(large, {.shape = {4}}, wide, 1);
  EXPECT_EQ(wide(1), static_cast<std::int32_t>(0x80018000u));
}

TEST(Reference, TheReferenceInDoubleShowsTheRoundingOfFloat) {
  const auto heat = update<float>(2, test::heat_function());
  const Problem problem{.shape = {20, 20}, .borders = Borders::all(Border::mirror)};
  Grid<float> grid = test::random_grid<float>({20, 20});
  Grid<double> exact({20, 20});
  std::copy(grid.all().begin(), grid.all().end(), exact.all().begin());
  reference(heat, problem, grid, 50);
  reference_in_double(heat, problem, exact, 50);
  double worst = 0;
  for (std::size_t i = 0; i < grid.cells(); ++i)
    worst = ridge::test::worse(worst, std::fabs(exact.all()[i] - static_cast<double>(grid.all()[i])));
  EXPECT_GT(worst, 0);
  EXPECT_LT(worst, 1e-5);
}

}  // namespace
}  // namespace ridge::stencil
