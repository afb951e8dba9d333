// Numbers and names read and written independently of the program's locale.
#include "base/number.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/comma_locale.hpp"

namespace ridge::base {
namespace {

void reads_and_writes() {
  EXPECT_EQ(number_of("1.5"), 1.5);
  EXPECT_EQ(number_of("+1.5e3"), 1500);
  EXPECT_EQ(number_of<float>("-0.25"), -0.25f);
  for (const char* bad : {"", "+", "+-1", "1,5", "1.5 ", " 1.5", "x", "1e400", "0x10"})
    EXPECT_FALSE(number_of(bad)) << bad;
  std::string_view text = "+2.5:7";
  EXPECT_EQ(leading_number(text), 2.5);
  EXPECT_EQ(text, ":7");
  EXPECT_EQ(leading_number<int>(text), std::nullopt);
  EXPECT_EQ(text, ":7");
  EXPECT_EQ(decimal_text(0.1, 9), "0.1");
  EXPECT_EQ(decimal_text(0.1, 17), "0.10000000000000001");
  EXPECT_EQ(decimal_text(1e30, 9), "1e+30");
  EXPECT_EQ(hexadecimal_text(1.5), "0x1.8p+0");
  EXPECT_EQ(hexadecimal_text(-0.1), "-0x1.999999999999ap-4");
  EXPECT_EQ(hexadecimal_text(0), "0x0p+0");
  EXPECT_EQ(hexadecimal_text(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(lower_case("OPENCL:Intel I"), "opencl:intel i");
}

TEST(Number, ReadsAndWrites) { reads_and_writes(); }

TEST(Number, ReadsAndWritesInALocaleWithADecimalComma) {
  const test::CommaLocale locale;
  if (!locale) GTEST_SKIP() << "no locale with a decimal comma";
  reads_and_writes();
}

}  // namespace
}  // namespace ridge::base
