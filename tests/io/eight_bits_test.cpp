// Power quantized to bytes: rounding, constants, few rows, the text of the levels.
#include "io/telescopes/eight_bits.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/error.hpp>

namespace ridge::io {
namespace {

TEST(EightBits, AreThePowerToHalfAStep) {
  constexpr std::size_t kRow = 5, kRows = 2000;
  std::mt19937 random(3);
  std::vector<float> power;
  for (std::size_t i = 0; i < kRow * kRows; ++i) {
    std::normal_distribution<float> noise(100.0f * static_cast<float>(i % kRow) - 50, 1 + static_cast<float>(i % kRow));
    power.push_back(noise(random));
  }
  power[kRow * 1500 + 2] = 1e6f;  // a burst after the estimate
  EightBits bits(kRow, 1000);
  std::vector<std::uint8_t> out;
  for (std::size_t row = 0; row < kRows; row += 7) {  // in blocks of rows
    const std::size_t count = std::min<std::size_t>(7, kRows - row);
    bits.put(std::span(power).subspan(row * kRow, count * kRow), out);
    EXPECT_TRUE(out.empty() || (row + count) >= 1000);
  }
  bits.finish(out);
  ASSERT_EQ(out.size(), power.size());
  EXPECT_EQ(bits.values(), power.size());
  EXPECT_EQ(bits.clipped(), 1u);
  EXPECT_EQ(out[kRow * 1500 + 2], 255);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Level& level = bits.levels()[i % kRow];
    EXPECT_NEAR(level.scale, 12.0 / 255 * (1 + static_cast<double>(i % kRow)), 0.1 * level.scale);
    if (i == kRow * 1500 + 2) continue;
    EXPECT_LE(std::abs(power[i] - (level.offset + level.scale * static_cast<float>(out[i]))), 0.501f * level.scale)
        << i;
  }
}

TEST(EightBits, RoundToTheNearest) {
  EightBits bits(std::vector<Level>{{10, 2}});
  std::vector<std::uint8_t> out;
  bits.put(
      std::vector<float>{10, 10.9f, 11.1f, 13.9f, 519, 520, 523, 9.1f, 8.9f, std::numeric_limits<float>::quiet_NaN()},
      out);
  EXPECT_THAT(out, testing::ElementsAre(0, 0, 1, 2, 254, 255, 255, 0, 0, 0));
  EXPECT_EQ(bits.clipped(), 3u);  // 523, 8.9 and NaN
}

TEST(EightBits, ConstantsAndFewRows) {
  EightBits bits(3, 1000);
  std::vector<std::uint8_t> out;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  bits.put(std::vector<float>{5, 0, nan, 5, 0, nan}, out);
  EXPECT_TRUE(out.empty());
  bits.finish(out);
  EXPECT_THAT(out, testing::ElementsAre(128, 128, 0, 128, 128, 0));
  std::vector<std::uint8_t> none;
  EightBits empty(3, 1000);
  empty.finish(none);
  EXPECT_TRUE(none.empty());
}

TEST(EightBits, LevelsAsText) {
  const std::vector<Level> levels{{1.5f, 0.25f}, {-3e-7f, 1e9f}};
  const auto again = parse_levels(levels_text(levels), 2, "x");
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[1].offset, -3e-7f);
  EXPECT_EQ(again[1].scale, 1e9f);
  for (const char* text : {"1 0\n2 1", "1\n2 1", "1 1 1\n2 1", "x 1\n1 1", "1 1", "1 -1\n1 1", "nan 1\n1 1"}) {
    EXPECT_THROW(parse_levels(text, 2, "x"), Error) << text;
  }
}

}  // namespace
}  // namespace ridge::io
