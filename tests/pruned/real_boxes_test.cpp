// Cosine and sine transforms of boxes equal the transform of the whole padded array, cropped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include <ridge/fft/real_boxes.hpp>

#include "support/devices.hpp"
#include "support/error_of.hpp"
#include "support/worst.hpp"

namespace ridge::fft {
namespace {

using testing::HasSubstr;

// Calls use(index in the whole array, index in the box) for every point of a box.
template <class Use>
void for_box(const std::vector<std::size_t>& shape, const Box& box, const Use& use) {
  std::vector<std::size_t> at(shape.size());
  std::size_t count = 1;
  for (const std::size_t each : box.count) count *= each;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t whole = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      whole = whole * shape[axis] + (box.first[axis] + at[axis]) % shape[axis];
    use(whole, i);
    for (std::size_t axis = shape.size(); axis-- > 0 && ++at[axis] == box.count[axis];) at[axis] = 0;
  }
}

template <class T>
void expect_cropped(const RealBoxesProblem& problem, const Device& device = host()) {
  const std::vector<std::size_t>& shape = problem.shape;
  std::size_t points = 1;
  TensorProblem whole{.kind = TensorKind::real_to_real, .real_kinds = problem.kinds, .scale = problem.scale};
  for (std::size_t axis = shape.size(); axis-- > 0; points *= shape[axis]) {
    const auto step = static_cast<std::ptrdiff_t>(points);
    whole.axes.insert(whole.axes.begin(), {.length = shape[axis], .input = step, .output = step});
  }
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const RealBoxes<T> boxes(device, problem);
  std::vector<double> padded(points), expected(points);
  std::vector<T> samples(boxes.input_size()), values(boxes.output_size(), std::numeric_limits<T>::quiet_NaN());
  for_box(shape, problem.given, [&](std::size_t at, std::size_t i) {
    samples[i] = static_cast<T>(uniform(random));
    padded[at] = static_cast<double>(samples[i]);
  });
  tensor_plan<double>(host(), whole, {.effort = Effort::quick}).run(padded.data(), expected.data());
  boxes.run(samples, values);
  double difference = 0, norm = 0;
  for_box(shape, problem.wanted, [&](std::size_t at, std::size_t i) {
    difference += std::pow(static_cast<double>(values[i]) - expected[at], 2);
    norm += std::pow(expected[at], 2);
  });
  EXPECT_LE(std::sqrt(difference / norm), 4 * std::numeric_limits<T>::epsilon()) << boxes.explain();
}

TEST(RealBoxes, EqualTheWholeTransform) {
  expect_cropped<double>({.shape = {24},
                          .kinds = {RealKind::dct2},
                          .given = {.first = {0}, .count = {7}},
                          .wanted = {.first = {5}, .count = {9}}});
  expect_cropped<double>({.shape = {16, 21},
                          .kinds = {RealKind::dct1, RealKind::dst2},
                          .given = {.first = {3, 15}, .count = {8, 10}},
                          .wanted = {.first = {0, 0}, .count = {16, 11}},
                          .scale = 0.25,
                          .threads = 2});
  expect_cropped<float>({.shape = {12, 300, 10},
                         .kinds = {RealKind::dct4, RealKind::dct3, RealKind::hartley},
                         .given = {.first = {0, 0, 0}, .count = {12, 100, 5}},
                         .wanted = {.first = {11, 299, 4}, .count = {6, 300, 3}}});
  expect_cropped<double>({.shape = {5, 6, 7, 8},
                          .kinds = {RealKind::dst1, RealKind::dst3, RealKind::dst4, RealKind::dct2},
                          .given = {.first = {1, 2, 3, 4}, .count = {2, 3, 4, 5}},
                          .wanted = {.first = {0, 0, 0, 0}, .count = {5, 1, 7, 2}}});
}

// The adjoint's matrix, column by column, is the transpose of the transform's.
template <class T>
void expect_transposed(const RealBoxesProblem& problem, const Device& device) {
  const RealBoxes<T> boxes(device, problem), back = boxes.adjoint();
  const std::size_t rows = boxes.output_size(), columns = boxes.input_size();
  ASSERT_EQ(back.input_size(), rows);
  ASSERT_EQ(back.output_size(), columns);
  std::vector<T> forward(rows * columns), transposed(rows * columns);
  const auto fill = [](const RealBoxes<T>& plan, std::vector<T>& all) {
    for (std::size_t i = 0; i < plan.input_size(); ++i) {
      std::vector<T> unit(plan.input_size()), image(plan.output_size(), std::numeric_limits<T>::quiet_NaN());
      unit[i] = 1;
      plan.run(unit, image);
      std::ranges::copy(image, all.begin() + static_cast<std::ptrdiff_t>(i * plan.output_size()));
    }
  };
  fill(boxes, forward);
  fill(back, transposed);
  ridge::test::Worst largest, worst;
  for (std::size_t i = 0; i < columns; ++i) {
    for (std::size_t k = 0; k < rows; ++k) {
      largest.add(std::abs(forward[i * rows + k]));
      worst.add(std::abs(forward[i * rows + k] - transposed[k * columns + i]));
    }
  }
  EXPECT_LE(worst.value(), 8 * std::numeric_limits<T>::epsilon() * largest.value()) << boxes.explain();
}

const RealBoxesProblem kMixedBoxes{.shape = {6, 5, 7},
                                   .kinds = {RealKind::dct1, RealKind::dst3, RealKind::dct2},
                                   .given = {.first = {1, 4, 0}, .count = {4, 3, 7}},
                                   .wanted = {.first = {0, 2, 5}, .count = {6, 2, 4}},
                                   .scale = 0.5};

TEST(RealBoxes, HaveAdjoints) {
  expect_transposed<double>(kMixedBoxes, host());
  expect_transposed<double>({.shape = {9}, .kinds = {RealKind::halfcomplex}, .wanted = {.first = {2}, .count = {5}}},
                            host());
}

using RealBoxesOnDevices = ridge::test::NeedsAccelerator<>;
TEST_F(RealBoxesOnDevices, EqualTheWholeTransform) {
  for (const Device& device : ridge::test::accelerators()) {
    expect_cropped<float>({.shape = {12, 30, 10},
                           .kinds = {RealKind::dct4, RealKind::dct3, RealKind::hartley},
                           .given = {.first = {0, 0, 0}, .count = {12, 10, 5}},
                           .wanted = {.first = {11, 29, 4}, .count = {6, 30, 3}}},
                          device);
    expect_cropped<float>({.shape = {3, 331},
                           .kinds = {RealKind::dst2, RealKind::dct2},
                           .given = {.first = {0, 300}, .count = {2, 50}},
                           .wanted = {.first = {0, 0}, .count = {3, 7}},
                           .scale = 0.125},
                          device);
    expect_transposed<float>(kMixedBoxes, device);
    if (device.limits().float64) expect_cropped<double>(RealBoxesProblem(kMixedBoxes), device);
  }
}

TEST_F(RealBoxesOnDevices, RefuseWeightsOtherThanAtTheEnds) {
  const RealBoxesProblem problem{.shape = {9}, .kinds = {RealKind::halfcomplex}};
  const RealBoxes<float> boxes(ridge::test::accelerators().front(), problem);
  EXPECT_THAT(ridge::test::error_of([&] { boxes.adjoint(); }, ErrorKind::unavailable),
              HasSubstr("factors of 1 but for the first and the last value; other problems run on the host only"));
}

TEST(RealBoxes, SkipLinesOfZeros) {
  const RealBoxes<float> quarter({.shape = {64, 64},
                                  .kinds = {RealKind::dct2, RealKind::dct2},
                                  .given = {.count = {32, 32}},
                                  .wanted = {.count = {64, 64}}});
  EXPECT_DOUBLE_EQ(quarter.share(), 0.75);
}

TEST(RealBoxes, RefuseInWords) {
  const auto refusal = [](const RealBoxesProblem& problem) {
    return ridge::test::error_of([&] { RealBoxes<float>{problem}; }, ErrorKind::invalid_argument);
  };
  EXPECT_THAT(refusal({.shape = {8, 8}, .kinds = {RealKind::dct2}}),
              HasSubstr("a kind for each, got 2 axes and 1 kinds"));
  EXPECT_THAT(refusal({.shape = {8}, .kinds = {RealKind::dct2}, .given = {.count = {9}}}),
              HasSubstr("the box given needs 1 to 8 points from 0 to 7 on axis 0, got 9 from 0"));
  EXPECT_THAT(refusal({.shape = {8}, .kinds = {RealKind::dct2}, .wanted = {.count = {2, 2}}}),
              HasSubstr("the box wanted needs 1 firsts and counts"));
}

}  // namespace
}  // namespace ridge::fft
