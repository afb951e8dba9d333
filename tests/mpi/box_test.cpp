// Boxes of a grid: intersections, and divisions into slabs, pencils and bricks, compared with counts of single points.
#include <ridge/mpi/box.hpp>

#include <algorithm>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/error.hpp>

#include "support/error_of.hpp"

namespace ridge::mpi {
namespace {

using ::testing::HasSubstr;
using Point = std::array<std::size_t, 3>;

std::set<Point> points_of(const Box& box) {
  std::set<Point> points;
  for (std::size_t x = box.begin[0]; x < box.end[0]; ++x)
    for (std::size_t y = box.begin[1]; y < box.end[1]; ++y)
      for (std::size_t z = box.begin[2]; z < box.end[2]; ++z) points.insert({x, y, z});
  return points;
}

TEST(Boxes, IntersectionsHoldThePointsOfBoth) {
  std::mt19937 draw(1);
  const auto random_box = [&] {
    Box box;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      box.begin[axis] = draw() % 5;
      box.end[axis] = box.begin[axis] + draw() % 5;
    }
    return box;
  };
  std::size_t empty = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Box a = random_box(), b = random_box();
    std::set<Point> both;
    for (const Point& point : points_of(a)) {
      if (points_of(b).contains(point)) both.insert(point);
    }
    EXPECT_EQ(points_of(intersection(a, b)), both) << to_string(a) << " and " << to_string(b);
    EXPECT_EQ(intersection(a, b).size(), both.size()) << to_string(a) << " and " << to_string(b);
    if (both.empty()) ++empty;
  }
  EXPECT_GT(empty, 20U);
  EXPECT_LT(empty, 280U);
}

// Every point of the shape belongs to one box.
void expect_a_division(const Shape& shape, const std::vector<Box>& boxes) {
  std::set<Point> found;
  std::size_t points = 1, counted = 0;
  for (const std::size_t n : shape) points *= n;
  for (const Box& box : boxes) {
    found.merge(points_of(box));
    counted += box.size();
  }
  EXPECT_EQ(found.size(), points);
  EXPECT_EQ(counted, points);
  EXPECT_NO_THROW(must_tile(shape, boxes, "test"));
}

TEST(Boxes, DivisionsHoldEveryPointOnce) {
  for (const Shape& shape : {Shape{7, 6, 5}, Shape{4, 9, 8}, Shape{12, 5}, Shape{11}}) {
    for (std::size_t processes = 1; processes <= 8; ++processes) {
      for (std::size_t axis = 0; axis < shape.size(); ++axis) expect_a_division(shape, slabs(shape, processes, axis));
      expect_a_division(shape, bricks(shape, processes));
    }
    for (const auto& [rows, columns] : {std::pair{1, 1}, {2, 3}, {3, 2}, {2, 2}, {1, 4}, {4, 1}}) {
      for (std::size_t whole = 0; whole < 3; ++whole) {
        const std::vector<Box> boxes =
            pencils(shape, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), whole);
        expect_a_division(shape, boxes);
        for (const Box& box : boxes) {
          EXPECT_EQ(box.extent(whole), whole < shape.size() ? shape[whole] : 1);
        }
      }
    }
  }
}

TEST(Boxes, RanksOfARowOfPencilsShareTheSlowerAxis) {
  const std::vector<Box> boxes = pencils({6, 9, 5}, 2, 3, 2);
  for (std::size_t rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(boxes[rank].begin[0], rank / 3 * 3);
    EXPECT_EQ(boxes[rank].begin[1], rank % 3 * 3);
  }
}

TEST(Boxes, TilingsWithGapsOrOverlapsAreRefused) {
  std::vector<Box> boxes = slabs({6, 4}, 3);
  const auto refused = [&] {
    return ridge::test::error_of([&] { must_tile({6, 4}, boxes, "input"); }, ErrorKind::invalid_argument);
  };
  boxes[1].end[0] = 5;
  EXPECT_THAT(refused(), HasSubstr("the input boxes of ranks 1 and 2 overlap"));
  boxes[1].end[0] = 3;
  EXPECT_THAT(refused(), HasSubstr("hold 20 of 24 points"));
  boxes[1] = {};
  boxes[1].end = {7, 4, 1};
  EXPECT_THAT(refused(), HasSubstr("rank 1's input box"));
}

}  // namespace
}  // namespace ridge::mpi
