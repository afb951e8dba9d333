// Grids larger than the memory that a device may use, in windows: equal to a plan of the whole grid, for every border
// and number of steps per transfer.
#include <gmock/gmock.h>

#include <random>

#include <ridge/stencil/problems.hpp>
#include <ridge/stencil/windows.hpp>

#include "stencil/device_support.hpp"

namespace ridge::stencil {
namespace {

using device_tests::reference;

struct WindowCase {
  std::vector<std::size_t> shape;
  Border low, high;
  int order;
  std::size_t rows, per_transfer;
  int steps;
};

template <class T>
WindowOptions window_options(std::size_t rows, const std::vector<std::size_t>& shape, std::size_t fields,
                             std::size_t per_transfer) {
  std::size_t row = fields * sizeof(T);
  for (std::size_t axis = 1; axis < shape.size(); ++axis) row *= shape[axis];
  return {.memory = 8 * rows * row, .steps = per_transfer};
}

TEST(StencilWindows, EqualTheReference) {
  std::mt19937 engine(36);
  std::uniform_real_distribution<float> number(-1, 1);
  const std::vector<WindowCase> cases{{{37, 12}, Border::fixed, Border::fixed, 1, 9, 3, 7},
                                      {{37, 12}, Border::periodic, Border::periodic, 1, 9, 4, 9},
                                      {{41, 7}, Border::mirror, Border::fixed, 2, 14, 3, 5},
                                      {{23, 5, 6}, Border::fixed, Border::mirror, 1, 7, 2, 5},
                                      {{101}, Border::periodic, Border::periodic, 1, 100, 0, 3},
                                      {{3, 8}, Border::periodic, Border::periodic, 1, 3, 0, 4}};
  for (const Device& device : device_tests::accelerators()) {
    for (const WindowCase& one : cases) {
      const std::size_t axes = one.shape.size();
      Borders borders = Borders::all(Border::mirror);
      borders.low[0] = one.low, borders.high[0] = one.high;
      std::vector<Term> terms = weighted(von_neumann(axes, one.order), 0.1);
      terms[0].weight = 0.3;  // not symmetric
      Grid<float> grid(one.shape);
      for (float& cell : grid.all()) cell = number(engine);
      const std::vector<double> before(grid.all().begin(), grid.all().end());
      const WindowPlan<float> plan(device, linear<float>(axes, terms), {.shape = one.shape, .borders = borders},
                                   window_options<float>(one.rows, one.shape, 1, one.per_transfer),
                                   {.effort = Effort::quick});
      EXPECT_EQ(plan.rows(), one.rows);
      if (one.per_transfer != 0) {
        EXPECT_EQ(plan.steps(), one.per_transfer);
      }
      plan.run(grid, static_cast<std::size_t>(one.steps));
      const std::vector<double> want = reference(before, one.shape, borders, terms, one.steps);
      for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(grid.all()[i], want[i], 2e-6) << device.id() << " " << plan.explain() << " cell " << i;
    }
  }
}

TEST(StencilWindows, KeepSeveralFieldsTogether) {
  const std::vector<std::size_t> shape{29, 10};
  const auto update = wave<double>({.speed = 1, .dt = 0.25, .spacing = {1, 1}});
  Grid<double> whole(shape, update.fields);
  for (std::size_t i = 0; i < whole.all().size(); ++i)
    whole.all()[i] = std::sin(0.37 * static_cast<double>(i * i % 97));
  for (const Device& device : device_tests::accelerators()) {
    if (!device.info().limits.float64) continue;
    Grid<double> grid = whole, want = whole;
    const Problem problem{.shape = shape, .borders = Borders::all(Border::periodic)};
    ridge::stencil::plan(ridge::host(), update, problem, {.effort = Effort::quick}).run(want, 8);
    WindowPlan<double>(device, update, problem, window_options<double>(11, shape, update.fields, 3),
                       {.effort = Effort::quick})
        .run(grid, 8);
    for (std::size_t i = 0; i < want.all().size(); ++i) ASSERT_NEAR(grid.all()[i], want.all()[i], 1e-14) << device.id();
  }
}

TEST(StencilWindows, RefuseInWords) {
  const auto update = linear<float>(2, weighted(von_neumann(2, 1), 0.1));
  const auto refusal = [&](const Device& device, const WindowOptions& options) {
    try {
      WindowPlan<float>(device, update, {.shape = {64, 64}}, options, {.effort = Effort::quick});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_THAT(refusal(ridge::host(), {}), testing::HasSubstr("need a device"));
  const Device described = ridge::device("recorded:a100");
  EXPECT_THAT(refusal(described, {.memory = 8 * 2 * 256}), testing::HasSubstr("one step needs 3"));
  EXPECT_THAT(refusal(described, {.memory = 8 * 9 * 256, .steps = 5}), testing::HasSubstr("at most 4"));
  EXPECT_EQ(refusal(described, {.memory = 8 * 9 * 256}), "none");
}

}  // namespace
}  // namespace ridge::stencil
