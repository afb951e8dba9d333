// Weights of sources and receivers between cells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include <ridge/error.hpp>

#include "stencil/shots/points.hpp"
#include "support/error_of.hpp"

namespace ridge::stencil {
namespace {

constexpr std::size_t kRows = 40, kColumns = 50, kFirst = 5;  // rows before kFirst never change

Layout layout_of_points() {
  Layout layout;
  layout.dimensions = 2;
  layout.shape = {1, kRows, kColumns};
  layout.begin = {0, kFirst, 0};
  layout.end = {1, kRows, kColumns};
  layout.radius = {0, 4, 4};
  layout.low = layout.high = {Border::fixed, Border::fixed, Border::fixed};
  return layout;
}

const ModelPlace kSurface{.shape = {30, 40}, .begin = {kFirst, 5}, .free_surface = true};

double interpolated(const PointTable& table, std::size_t point, const std::function<double(double, double)>& field) {
  double sum = 0;
  for (std::size_t i = table.first[point]; i < table.first[point + 1]; ++i) {
    const std::size_t cell = table.cell[i];
    sum += table.weight[i] * field(static_cast<double>(cell / kColumns), static_cast<double>(cell % kColumns));
  }
  return sum;
}

// Waves of four cells and more keep their values to 3e-3 at any place, also next to a free surface, where they are odd.
TEST(Points, InterpolateWavesOfFourCells) {
  const std::vector<std::pair<double, double>> places{{0.5, 20},      {1.25, 19.5}, {2.9, 8.3},
                                                      {15.01, 20.99}, {20, 21.6},   {25.5, 12}};
  std::vector<double> positions;
  for (const auto& [z, x] : places) positions.push_back(z), positions.push_back(x);
  const PointTable table = point_table({positions}, kSurface, layout_of_points(), "receiver");
  ASSERT_EQ(table.points, places.size());
  for (const double length : {4.0, 5.3, 9.0, 30.0}) {
    for (const double phase : {0.0, 0.7, 1.5, 2.4}) {
      const auto field = [&](double row, double column) {  // zero at the surface, one row above the first that changes
        return std::sin(2 * std::numbers::pi * (row - (kFirst - 1)) / length) *
               std::cos(2 * std::numbers::pi * column / length + phase);
      };
      for (std::size_t k = 0; k < places.size(); ++k) {
        EXPECT_NEAR(interpolated(table, k, field), field(places[k].first + kFirst, places[k].second + 5), 3e-3)
            << "length " << length << " at " << places[k].first << ", " << places[k].second;
      }
    }
  }
}

TEST(Points, BothOrdersHoldTheSameWeights) {
  const PointTable table = point_table({{3.5, 7.25, 3.5, 8, 20, 20}}, kSurface, layout_of_points(), "source");
  std::map<std::pair<std::size_t, std::size_t>, double> weights;
  for (std::size_t k = 0; k < table.points; ++k) {
    for (std::size_t i = table.first[k]; i < table.first[k + 1]; ++i) weights[{k, table.cell[i]}] += table.weight[i];
  }
  for (std::size_t c = 0; c < table.cells.size(); ++c) {
    for (std::size_t i = table.cell_first[c]; i < table.cell_first[c + 1]; ++i)
      weights[{table.point[i], table.cells[c]}] -= table.point_weight[i];
  }
  for (const auto& [place, rest] : weights) EXPECT_EQ(rest, 0);
  EXPECT_EQ(table.first[3] - table.first[2], 1U) << "a point in the middle of a cell";
}

TEST(Points, MustBeInsideTheModel) {
  const auto refused = [](std::vector<double> position) {
    return ridge::test::error_of([&] { point_table({std::move(position)}, kSurface, layout_of_points(), "source"); },
                                 ErrorKind::invalid_argument);
  };
  for (const std::vector<double>& position :
       {std::vector<double>{29.5, 3}, {3, 39.01}, {-0.1, 3}, {3, -1e-9}, {NAN, 3}})
    EXPECT_THAT(refused(position), testing::HasSubstr("outside the model of 30 x 40 cells"));
  EXPECT_NO_THROW(point_table({{29, 39, 0, 0}}, kSurface, layout_of_points(), "source"));
}

}  // namespace
}  // namespace ridge::stencil
