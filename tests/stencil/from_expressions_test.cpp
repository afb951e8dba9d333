// Tests updates that are given as expressions against the same operations compiled.
#include <ridge/stencil.hpp>
#include <ridge/stencil/from_expressions.hpp>

#include <cstring>
#include <random>

#include <gtest/gtest.h>

namespace ridge::stencil {
namespace {

constexpr auto kStep = [](auto u) {
  const auto mean = (u(-1, 0) + u(1, 0)) * 3 + u.coefficient(0, 0, 1);
  const auto high = max(u(0, -1), u.field(1, 0, 2));
  const auto one = select(mean < high && !(u(0, 0) == 0), mean - high, abs(u.field(1, -1, 0)));
  return std::array{one, min(high, u(0, 0) + 7) - u.field(1, 0, 0)};
};

template <class T>
void same_as_compiled() {
  const Update<T> compiled = update<T>(2, kStep);
  const Update<T> known = from_expressions<T>(2, compiled.outputs);
  EXPECT_EQ(known.radius, compiled.radius);
  EXPECT_EQ(known.coefficients, 1u);
  std::mt19937 random(5);
  for (const std::size_t width : {1, 7, 255, 256, 257, 600}) {
    Grid<T> grid({9, width}, 2), coefficients({9, width});
    for (T& cell : grid.all()) cell = static_cast<T>(random() % 200);
    for (T& cell : coefficients.all()) cell = static_cast<T>(random() % 200);
    Grid<T> other = grid;
    const Problem problem{.shape = {9, width}, .borders = Borders::all(Border::periodic), .threads = 2};
    plan(host(), compiled, problem, {.effort = Effort::quick}).run(grid, 3, &coefficients);
    plan(host(), known, problem, {.effort = Effort::quick}).run(other, 3, &coefficients);
    EXPECT_EQ(std::memcmp(grid.all().data(), other.all().data(), grid.all().size_bytes()), 0) << width;
  }
}

TEST(FromExpressions, IntegersToTheLastBit) {
  same_as_compiled<std::int32_t>();
  same_as_compiled<std::uint8_t>();
}

// Small integers and their sums are exact in float, so fused products cannot differ.
TEST(FromExpressions, FloatsToTheLastBit) {
  same_as_compiled<float>();
  same_as_compiled<double>();
}

// The sum's last use is both operands of the square. Its slot may be reused once, not twice: the two values after it
// are in use together.
TEST(FromExpressions, ASquareFreesItsSlotOnce) {
  const auto step = [](auto u) {
    const auto sum = u(-1) + u(1);
    const auto square = sum * sum;
    const auto product = u(-1) * u(1), difference = u(-1) - u(1);
    return square + product * difference;
  };
  const Update<std::int32_t> compiled = update<std::int32_t>(1, step);
  const Update<std::int32_t> known = from_expressions<std::int32_t>(1, compiled.outputs);
  Grid<std::int32_t> grid({300});
  for (std::int32_t i = 0; std::int32_t & cell : grid.all()) cell = ++i % 13;
  Grid<std::int32_t> other = grid;
  const Problem problem{.shape = {300}, .borders = Borders::all(Border::periodic), .threads = 1};
  plan(host(), compiled, problem, {.effort = Effort::quick}).run(grid, 1);
  plan(host(), known, problem, {.effort = Effort::quick}).run(other, 1);
  EXPECT_EQ(std::memcmp(grid.all().data(), other.all().data(), grid.all().size_bytes()), 0);
}

TEST(FromExpressions, SumsBecomeLinear) {
  const Update<float> compiled = update<float>(1, [](auto u) { return u(0) + 0.25f * (u(-1) - 2 * u(0) + u(1)); });
  const Update<float> known = from_expressions<float>(1, compiled.outputs);
  EXPECT_TRUE(known.sums_terms);
  EXPECT_EQ(known.linear->size(), 3u);
}

TEST(FromExpressions, RefusesExpressionsThatAreNotStencils) {
  EXPECT_THROW(from_expressions<float>(2, {}), Error);
  EXPECT_THROW(from_expressions<float>(2, {nullptr}), Error);
  EXPECT_THROW(from_expressions<float>(4, {make_read(Node::Kind::read, 0, {})}), Error);
  EXPECT_THROW(from_expressions<float>(1, {make_read(Node::Kind::read, 3, {})}), Error);
  EXPECT_THROW(from_expressions<float>(1, {make_read(Node::Kind::read, 0, {0, 1, 0})}), Error);
  EXPECT_THROW(from_expressions<float>(1, {make_node(Node::Kind::add, {make_constant(1)})}), Error);
}

}  // namespace
}  // namespace ridge::stencil
