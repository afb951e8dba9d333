// Packed values, normalized bytes, and echoes of pulses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "search/detections.hpp"
#include "search/host/rows.hpp"
#include "search/input_block.hpp"

namespace ridge::search {
namespace {

std::vector<float> unpacked(const std::vector<int>& bytes, std::size_t bits, bool is_signed = false) {
  std::vector<std::byte> in;
  for (const int byte : bytes) in.push_back(static_cast<std::byte>(byte));
  std::vector<float> out(8 * in.size() / bits);
  unpack(in.data(), bits, is_signed, out.data(), out.size());
  return out;
}

using Values = std::vector<float>;

TEST(SearchInput, UnpacksTheLowestBitsFirst) {
  EXPECT_EQ(unpacked({0b10110010}, 1), (Values{0, 1, 0, 0, 1, 1, 0, 1}));
  EXPECT_EQ(unpacked({0xe4, 0x01}, 2), (Values{0, 1, 2, 3, 1, 0, 0, 0}));
  EXPECT_EQ(unpacked({0x21, 0xf4}, 4), (Values{1, 2, 4, 15}));
  EXPECT_EQ(unpacked({200, 7}, 8), (Values{200, 7}));
  EXPECT_EQ(unpacked({200, 7}, 8, true), (Values{-56, 7}));
  EXPECT_EQ(unpacked({0x34, 0x12, 0xff, 0xff}, 16), (Values{0x1234, 0xffff}));
}

TEST(SearchInput, PacksTheNearestValue) {
  const Values values{0.49F, 0.51F, 1.6F, -3, 2.4F, 7.5F, 99999, 1};
  for (const auto& [bits, most] : {std::pair<std::size_t, float>{2, 3}, {4, 15}, {8, 255}, {16, 65535}}) {
    std::vector<std::byte> packed(values.size() * bits / 8);
    pack(values.data(), bits, packed.data(), values.size());
    Values back(values.size());
    unpack(packed.data(), bits, false, back.data(), back.size());
    const Values expected{0, 1, 2, 0, 2, std::min(8.0F, most), std::min(99999.0F, most), 1};
    EXPECT_EQ(back, expected) << bits;
  }
}

// Bytes have the mean and deviation that the search assumes; flagged values and constant channels are the mean.
TEST(SearchInput, BytesHaveOneMeanAndDeviation) {
  constexpr std::size_t kRows = 3000, kChannels = 5;
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> values(kRows * kChannels);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto c = static_cast<float>(i % kChannels);
    values[i] = c == 4 ? 7 : 100 * c - 30 + (1 + c) * normal(random);
  }
  Mask mask(kRows, kChannels);
  for (std::size_t r = 10; r < 20; ++r) values[r * kChannels + 2] = 1e6F, mask.set(r, 2);
  const RawRows raw{
      .data = reinterpret_cast<const std::byte*>(values.data()), .rows = kRows, .channels = kChannels, .bits = 32};
  std::uint64_t not_numbers = 0;
  const ChannelStatistics statistics = channel_statistics(raw, part_sums(raw, mask, 1, not_numbers));
  for (const bool reversed : {false, true}) {
    std::vector<std::uint8_t> plane(kChannels * kRows);
    Normalizer(kChannels, kRows, reversed, 1).run(raw, statistics, mask, plane.data());
    for (std::size_t c = 0; c < kChannels; ++c) {
      const std::uint8_t* const row = plane.data() + (reversed ? kChannels - 1 - c : c) * kRows;
      double sum = 0, square = 0;
      for (std::size_t r = 0; r < kRows; ++r) sum += row[r], square += static_cast<double>(row[r]) * row[r];
      const double mean = sum / kRows, deviation = std::sqrt(square / kRows - mean * mean);
      EXPECT_NEAR(mean, kByteMean, 0.15 * kByteSigma) << c;
      EXPECT_NEAR(deviation, c == 4 ? 0 : kByteSigma, 0.06 * kByteSigma) << c;
      for (std::size_t r = 10; c == 2 && r < 20; ++r) EXPECT_NEAR(row[r], kByteMean, 0.5) << r;
    }
  }
}

TEST(SearchGroups, OnlyWeakNeighboursAreEchoes) {
  const std::vector<double> slope{0, 0.25, 0.5, 1};
  const Box strong{.begin = 100, .samples = 8, .delay = 50, .snr = 40};
  EXPECT_TRUE(explains(strong, {.begin = 102, .samples = 8, .delay = 52, .snr = 30}, slope));
  EXPECT_TRUE(explains(strong, {.begin = 500, .samples = 8, .delay = 50, .snr = 4.4}, slope));
  EXPECT_FALSE(explains(strong, {.begin = 500, .samples = 8, .delay = 50, .snr = 4.6}, slope)) << "elsewhere";
  EXPECT_FALSE(explains(strong, {.begin = 102, .samples = 8, .delay = 50, .snr = 46}, slope)) << "stronger";
  EXPECT_FALSE(explains(strong, {.begin = 100, .samples = 8, .delay = 500, .snr = 20}, slope)) << "one channel of four";
}

}  // namespace
}  // namespace ridge::search
