// Tests the stages of the reference implementation of the flow.
#include <gtest/gtest.h>

#include "image/flow/reference.hpp"
#include "image/flow/weights.hpp"
#include "image/support.hpp"

namespace ridge::image::flow {
namespace {

TEST(FlowReference, a_shifted_texture_has_the_shift_as_its_flow_inside) {
  const Size size{96, 120};
  for (const Selection order : {Selection::aligned, Selection::scan_order}) {
    FlowParameters parameters;
    parameters.selection = order;
    const Field flow = simple_flow(test::waves(size), test::waves(size, -3, 5), parameters);
    double worst = 0;
    for (int r = 24; r < size.rows - 24; ++r) {
      for (int c = 24; c < size.columns - 24; ++c) {
        worst = test::worse(worst, std::hypot(flow.at(r, c).u - 3.0, flow.at(r, c).v + 5.0));
      }
    }
    EXPECT_LT(worst, 2e-3);
  }
}

TEST(FlowReference, flat_and_equal_pairs_do_not_move) {
  const Size size{33, 47};
  const Picture flat(size, Pixel{{90, 90, 90}});
  EXPECT_EQ(test::worst_difference(simple_flow(flat, flat, {}), Field(size)), 0);
  EXPECT_EQ(test::worst_difference(simple_flow(flat, Picture(size, Pixel{{70, 91, 3}}), {}), Field(size)), 0);
  const Picture texture = test::waves(size);
  EXPECT_EQ(test::worst_difference(simple_flow(texture, texture, {}), Field(size)), 0);
}

TEST(FlowReference, tiny_frames) {
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{2, 2}, Size{3, 5}, Size{7, 4}}) {
    const Field flow = simple_flow(test::waves(size), test::waves(size, 1, 0), {});
    for (const Vector& v : flow.cells) ASSERT_TRUE(std::isfinite(v.u) && std::isfinite(v.v)) << size.rows;
  }
}

TEST(FlowReference, the_polynomial_moves_no_vector_of_the_search) {
  const auto [first, second] = test::moving_square({64, 81});
  Field table(first.size), polynomial(first.size);
  const Mask all(first.size, 1);
  search(first, second, all, table, {}, WeightKind::table);
  search(first, second, all, polynomial, {}, WeightKind::polynomial);
  EXPECT_EQ(test::worst_difference(table, polynomial), 0);
}

TEST(FlowReference, power_of_two_is_within_three_units) {
  double worst = 0;
  for (float t = 0; t >= -126; t -= 0.01f) {
    const double right = std::exp2(double{t});
    worst = test::worse(worst, std::abs(power_of_two(t) - right) / right);
  }
  EXPECT_LT(worst, 3e-7);
}

TEST(FlowReference, the_filter_leaves_a_constant_flow_and_hidden_pixels_alone) {
  const Size size{21, 30};
  const Picture guide = test::waves(size);
  const Field constant(size, {1.5f, -2.25f});
  EXPECT_LT(test::worst_difference(smooth(guide, Mask(size, 1), constant, {18, 55, 25.5f}), constant), 1e-6);
  Field any(size);
  for (std::size_t i = 0; i < any.cells.size(); ++i)
    any.cells[i] = {static_cast<float>(i % 7), static_cast<float>(i % 5)};
  EXPECT_EQ(test::worst_difference(smooth(guide, Mask(size, 0), any, {18, 55, 25.5f}), any), 0);
}

}  // namespace
}  // namespace ridge::image::flow
