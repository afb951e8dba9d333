// Tests updates: recorded operations, derived properties, refusals.
#include <array>
#include <cmath>
#include <limits>

#include <ridge/stencil/problems.hpp>

#include "stencil/expression.hpp"
#include "support.hpp"

namespace ridge::stencil {
namespace {

struct TableRow {
  std::vector<Offset> offsets;
  std::size_t points;
  double flops;
};

TEST(Update, FlopsOfThePapersTable) {
  const std::vector<TableRow> table{{von_neumann(2, 1, false), 4, 7},   {von_neumann(2, 1), 5, 9},
                                    {von_neumann(2, 2, false), 8, 15},  {von_neumann(2, 2), 9, 17},
                                    {von_neumann(2, 3, false), 12, 23}, {von_neumann(2, 3), 13, 25},
                                    {moore(2, 1, false), 8, 15},        {moore(2, 1), 9, 17},
                                    {moore(2, 2, false), 24, 47},       {moore(2, 2), 25, 49},
                                    {moore(2, 3, false), 48, 95},       {moore(2, 3), 49, 97}};
  for (const TableRow& row : table) {
    EXPECT_EQ(row.offsets.size(), row.points);
    const auto made = linear<double>(2, weighted(row.offsets, 0.125));
    EXPECT_EQ(made.flops, row.flops);
    // Intensity: flops per value moved, one read and one written.
    const Layout layout = resolve(made, {.shape = {64, 64}, .borders = Borders::all(Border::periodic)});
    const planner::Cost cost = step_cost(made, layout, 2, 1);
    EXPECT_DOUBLE_EQ(cost.flops / (cost.bytes / sizeof(double)), row.flops / 2);
  }
}

TEST(Update, ShapesInEveryDimension) {
  EXPECT_EQ(von_neumann(1, 3).size(), 7u);
  EXPECT_EQ(von_neumann(3, 1).size(), 7u);
  EXPECT_EQ(von_neumann(3, 4, false).size(), 24u);
  EXPECT_EQ(diamond(2, 2).size(), 13u);
  EXPECT_EQ(diamond(3, 2).size(), 25u);
  EXPECT_EQ(moore(3, 1).size(), 27u);
  EXPECT_EQ(moore(1, 2, false).size(), 4u);
  const std::vector<Offset> expected{{0, -1, 0}, {0, 0, -1}, {0, 0, 0}, {0, 0, 1}, {0, 1, 0}};
  EXPECT_EQ(von_neumann(2, 1), expected);
}

TEST(Update, LinearFormIsFound) {
  const auto heat = update<double>(2, test::heat_function());
  ASSERT_TRUE(heat.linear);
  ASSERT_EQ(heat.linear->size(), 5u);
  EXPECT_FALSE(heat.sums_terms);
  EXPECT_EQ(heat.flops, 9);
  EXPECT_EQ(heat.radius, (Offset{0, 1, 1}));
  for (const Term& term : *heat.linear) EXPECT_NEAR(term.weight, (term.offset == Offset{0, 0, 0} ? 0.6 : 0.1), 1e-15);

  const auto divided = update<double>(1, [](auto u) { return -(fma(2.0, u(-3), u(1)) - u(0)) / 4.0; });
  ASSERT_TRUE(divided.linear);
  ASSERT_EQ(divided.linear->size(), 3u);
  EXPECT_EQ((*divided.linear)[0].weight, -0.5);
  EXPECT_EQ((*divided.linear)[1].weight, 0.25);
  EXPECT_EQ((*divided.linear)[2].weight, -0.25);
  EXPECT_EQ(divided.radius, (Offset{0, 0, 3}));
}

TEST(Update, LinearFormOfSystems) {
  const auto leapfrog = update<float>(1, [](auto u) {
    return std::array{2.0 * u(0) - u.field(1, 0) + 0.25 * (u(-1) + u(1) - 2.0 * u(0)), u(0)};
  });
  EXPECT_EQ(leapfrog.fields, 2u);
  ASSERT_TRUE(leapfrog.linear);
  EXPECT_EQ(leapfrog.linear->size(), 5u);  // four to the first field, one to the second
  EXPECT_EQ(leapfrog.linear->back().to, 1u);
  EXPECT_EQ(leapfrog.flops, 2 * 5 - 2);
}

TEST(Update, NonlinearUpdatesHaveNoLinearForm) {
  EXPECT_FALSE(update<float>(1, [](auto u) { return u(0) * u(1); }).linear);
  EXPECT_FALSE(update<float>(1, [](auto u) { return u(0) + 1.0; }).linear);
  EXPECT_FALSE(update<float>(1, [](auto u) { return 1.0 / u(0); }).linear);
  EXPECT_FALSE(update<float>(1, [](auto u) { return u.coefficient(0, 0) * u(0); }).linear);
  EXPECT_FALSE(update<float>(1, [](auto u) { return max(u(0), u(1)); }).linear);
  EXPECT_FALSE(update<float>(2, test::every_word()).linear);
}

TEST(Update, EqualOperationsAreMerged) {
  const auto squared = update<double>(1, [](auto u) {
    const auto slope = u(1) - u(-1);
    return (u(1) - u(-1)) * slope + slope;
  });
  const Tape tape = flatten(squared.outputs);
  EXPECT_EQ(tape.operations.size(), 5u);  // two reads, a difference, a product, a sum
  EXPECT_EQ(count_flops(tape), 3);
}

TEST(Update, LongSumsDoNotOverflowTheStack) {
  const auto long_sum = update<double>(1, [](auto u) {
    auto sum = u(0) * u(0);
    for (int i = 0; i < 20000; ++i) sum = sum + u(i % 7) * 0.5;
    return sum;
  });
  EXPECT_EQ(long_sum.radius[2], 6);
}

TEST(Update, DifferentUpdatesHaveDifferentNames) {
  const auto one = update<float>(2, test::heat_function()), same = update<float>(2, test::heat_function());
  const auto other = update<float>(2, [](auto u) { return 0.5 * (u(0, 1) + u(1, 0)); });
  EXPECT_EQ(one.name, same.name);
  EXPECT_NE(one.name, other.name);
  // A given name alone is not a key: two updates with one name remain distinct.
  const auto named = update<float>(2, test::heat_function(), "mine");
  const auto named_too = update<float>(
      2, [](auto u) { return u(0, 1); }, "mine");
  EXPECT_NE(resolve(named, {.shape = {9, 9}}).key(), resolve(named_too, {.shape = {9, 9}}).key());
}

TEST(Update, NumbersAreRoundedToTheCellsType) {
  // 0.1 is rounded to float before it is multiplied, on the host as on a device.
  const auto tenth = update<float>(1, [](auto u) { return 0.1 * u(0); });
  Grid<float> grid({5});
  for (float& cell : grid.all()) cell = 3;
  plan(host(), tenth, {.shape = {5}}, {.effort = Effort::quick}).run(grid, 1);
  EXPECT_EQ(grid(2), 0.1f * 3.0f);
  EXPECT_EQ(flatten(tenth.outputs).operations.front().value, static_cast<double>(0.1f));
}

TEST(Update, Refusals) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  const auto refused = [](const auto& make, const std::string& word) {
    try {
      make();
      ADD_FAILURE() << "nothing was refused where \"" << word << "\" should be";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  refused([&] { linear<float>(2, weighted(von_neumann(2, 1), nan)); }, "nan");
  refused([&] { linear<float>(2, weighted(von_neumann(2, 1), infinite)); }, "inf");
  refused([&] { linear<float>(2, weighted(von_neumann(2, 1), 1e300)); }, "below 3.4e38, got 1e+300");
  refused([&] { linear<std::int32_t>(2, weighted(von_neumann(2, 1), 0.5)); }, "not an integer");
  refused([&] { linear<float>(2, {}); }, "without terms");
  refused([&] { linear<float>(4, weighted(von_neumann(2, 1), 1)); }, "4 dimensions");
  refused([&] { linear<float>(0, weighted(von_neumann(2, 1), 1)); }, "0 dimensions");
  refused([&] { linear<float>(1, weighted(von_neumann(2, 1), 1)); }, "leaves the 1 dimensions");
  refused([&] { linear<float>(1, {{.offset = {0, 0, 100000}, .weight = 1}}); }, "beyond");
  refused([&] { linear<float>(1, {{.weight = 1, .field = 0, .to = 2}}); }, "no term leads to field 0");
  refused([&] { update<float>(2, [](auto u) { return u(0) + u(1); }); }, "1 offsets");
  refused([&] { update<float>(1, [](auto u) { return u.field(1, 0); }); }, "field 1 is read");
  refused([&] { update<float>(1, [nan](auto u) { return nan * u(0); }); }, "nan");
  refused([&] { von_neumann(2, -1); }, "order -1");
}

// The compiled function performs reads that its result does not use, so they count.
TEST(Update, UnusedReadsCount) {
  const auto far = update<float>(2, [](auto u) {
    [[maybe_unused]] const auto unused = u(-3, 2) + u.coefficient(1, 0, 4);
    return 0.5 * u(0, 0);
  });
  EXPECT_EQ(far.radius, (Offset{0, 3, 4}));
  EXPECT_EQ(far.coefficients, 2u);
  ASSERT_TRUE(far.linear);
  EXPECT_EQ(far.linear->size(), 1u);
  for (const char* rule : {"B/S", "B3/S", "B/S23", "B012345678/S012345678"})
    EXPECT_EQ(life<std::uint8_t>(rule).radius, (Offset{0, 1, 1})) << rule;
  EXPECT_THROW(update<float>(1, [](auto u) { return u.field(1, 0), u(0); }), Error);
  EXPECT_THROW(update<float>(1, [](auto u) { return u(100000), u(0); }), Error);
}

TEST(Update, MalformedTreesAreRefused) {
  Update<float> made;
  made.dimensions = 1;
  made.outputs = {make_node(Node::Kind::add, {make_constant(1)})};
  EXPECT_THROW(detail::complete(made), Error);
  made.outputs = {make_node(Node::Kind::add, {make_constant(1), nullptr})};
  EXPECT_THROW(detail::complete(made), Error);
  made.outputs = {make_node(Node::Kind::less, {make_constant(1), make_constant(2)})};
  EXPECT_THROW(detail::complete(made), Error);
  made.outputs = {nullptr};
  EXPECT_THROW(detail::complete(made), Error);
}

}  // namespace
}  // namespace ridge::stencil
