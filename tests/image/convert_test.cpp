// Tests of the conversion between depths, and of unknown flow vectors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <ridge/image.hpp>

namespace ridge::image {
namespace {

template <class To, class From>
To converted(From value) {
  Image from({1, 1, 1, depth_of<From>()}), to({1, 1, 1, depth_of<To>()});
  from.row<From>(0)[0] = value;
  convert(from, to);
  return std::as_const(to).row<To>(0)[0];
}

// 16 to 8 bits is v / 257 rounded to nearest. Truncation (v >> 8, v / 257) gives different results for every second
// value here.
TEST(Convert, sixteen_to_eight_bits) {
  const std::pair<int, int> table[] = {{0, 0},       {128, 0},     {129, 1},     {255, 1},     {256, 1},
                                       {257, 1},     {385, 1},     {386, 2},     {514, 2},     {32767, 127},
                                       {32768, 128}, {65278, 254}, {65406, 254}, {65407, 255}, {65535, 255}};
  for (const auto& [wide, narrow] : table)
    EXPECT_EQ(int{converted<std::uint8_t>(static_cast<std::uint16_t>(wide))}, narrow) << wide;
  for (int v = 0; v < 65536; ++v) {
    ASSERT_EQ(int{converted<std::uint8_t>(static_cast<std::uint16_t>(v))}, static_cast<int>(std::lround(v / 257.0)))
        << v;
  }
}

TEST(Convert, eight_to_sixteen_bits_and_back) {
  for (int v = 0; v < 256; ++v) {
    const auto wide = converted<std::uint16_t>(static_cast<std::uint8_t>(v));
    ASSERT_EQ(int{wide}, 257 * v);
    ASSERT_EQ(int{converted<std::uint8_t>(wide)}, v);
  }
}

// Float values are kept: rounded half to even and clamped; NaN becomes 0.
TEST(Convert, float_to_whole_numbers) {
  const std::pair<float, int> table[] = {{0.5f, 0},      {1.5f, 2},     {2.5f, 2},  {2.51f, 3},      {254.5f, 254},
                                         {254.75f, 255}, {300.0f, 255}, {-3.0f, 0}, {INFINITY, 255}, {NAN, 0}};
  for (const auto& [value, whole] : table) EXPECT_EQ(int{converted<std::uint8_t>(value)}, whole) << value;
  EXPECT_EQ(int{converted<std::uint16_t>(65534.5f)}, 65534);
  EXPECT_EQ(converted<float>(std::uint8_t{255}), 255.0f);
  EXPECT_EQ(converted<float>(std::uint16_t{65535}), 65535.0f);
}

// Middlebury convention: a component of 1e9 or more, or NaN, marks the whole vector as unknown.
TEST(UnknownVectors, one_unknown_component_marks_the_vector) {
  constexpr float kNo = 1e10f;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float vectors[7][2] = {{1, 2}, {kNo, 0}, {0, kNo}, {-kNo, 0}, {0, nan}, {nan, 0}, {kNo, kNo}};
  Image truth({1, 7, 2, Depth::f32}), flow({1, 7, 2, Depth::f32});
  for (std::size_t c = 0; c < 7; ++c) {
    for (std::size_t k = 0; k < 2; ++k) {
      truth.row<float>(0)[2 * c + k] = vectors[c][k];
      flow.row<float>(0)[2 * c + k] = 5;
    }
  }
  const FlowErrors errors = compare_flow(flow, truth);
  EXPECT_EQ(errors.known, 1u);
  EXPECT_NEAR(errors.mean, 5, 1e-6);  // (4, 3)
  const Image errors_drawn = error_picture(flow, truth), drawn = flow_picture(truth);
  for (std::size_t c = 1; c < 7; ++c) {
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(errors_drawn.row<std::uint8_t>(0)[3 * c + k], 128) << c;
      EXPECT_EQ(drawn.row<std::uint8_t>(0)[3 * c + k], 0) << c;
    }
  }
  // The longest known vector has full colour; 1e10 would leave (1, 2) white.
  const auto* first = drawn.row<std::uint8_t>(0);
  EXPECT_LT(std::min({first[0], first[1], first[2]}), 10);
}

}  // namespace
}  // namespace ridge::image
