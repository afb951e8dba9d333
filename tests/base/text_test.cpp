// Formatting of numbers and tables, parsing of sizes.
#include "base/text.hpp"

#include <gtest/gtest.h>

namespace ridge::base {
namespace {

TEST(Text, BytesWithUnits) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(227 * 1024.0), "227 KiB");
  EXPECT_EQ(human_bytes(1.5 * 1024 * 1024 * 1024), "1.50 GiB");
}

TEST(Text, SecondsAcrossTheScales) {
  EXPECT_EQ(human_seconds(0), "0 s");
  EXPECT_EQ(human_seconds(1.234e-8), "12.3 ns");
  EXPECT_EQ(human_seconds(4.1), "4.10 s");
  EXPECT_EQ(human_seconds(7200), "120 min");
  EXPECT_EQ(human_seconds(1.0 / 0.0), "never");
}

TEST(Text, RatesKeepThreeDigits) {
  EXPECT_EQ(human_rate(4.25e12, "B/s"), "4.25 TB/s");
  EXPECT_EQ(human_rate(999.9, "B/s"), "1.00 kB/s");
  EXPECT_EQ(human_rate(67.1e9, "FLOP/s"), "67.1 GFLOP/s");
}

TEST(Text, ParsesSizesAndRefusesTheRest) {
  EXPECT_EQ(parse_bytes("4096"), 4096u);
  EXPECT_EQ(parse_bytes("64M"), 64u << 20);
  EXPECT_EQ(parse_bytes("2 GiB"), std::size_t{2} << 30);
  EXPECT_EQ(parse_bytes("1.5k"), 1536u);
  for (const char* bad : {"", "x", "-1", "nan", "inf", "12Q", "12 MiBs", "1e30", "3 B B"}) {
    EXPECT_FALSE(parse_bytes(bad).has_value()) << bad;
  }
}

TEST(Text, TableAlignsTextLeftAndNumbersRight) {
  EXPECT_EQ(table({{"name", "GB/s"}, {"a", "7"}, {"long", "123"}}),
            "name  GB/s\n"
            "a        7\n"
            "long   123\n");
  EXPECT_EQ(table({{"µ", "x"}, {"ab", "c"}}), "µ   x\nab  c\n");
}

}  // namespace
}  // namespace ridge::base
