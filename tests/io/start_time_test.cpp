// Start times: parsing, printing, locales and rounding.
#include "io/telescopes/start_time.hpp"

#include <gtest/gtest.h>

#include "io/images/pixels.hpp"
#include "support/comma_locale.hpp"

namespace ridge::io {
namespace {

TEST(StartTime, IsReadAndWritten) {
  const auto noon = parse_utc("2020-05-31-12:00:00");
  ASSERT_TRUE(noon);
  EXPECT_EQ(*noon, (StartTime{59000, 43200}));
  EXPECT_DOUBLE_EQ(noon->mjd(), 59000.5);
  EXPECT_EQ(parse_utc("2020-05-31T12:00:00.25")->second, 43200.25);
  EXPECT_EQ(utc_text(*noon).text, "2020-05-31-12:00:00");
  EXPECT_EQ(utc_text(noon->after(86399 + 43200.5)).text, "2020-06-01-23:59:59");
  EXPECT_EQ(utc_text(noon->after(0.25)).picoseconds, 250'000'000'000);
  // Rounding errors of a sum do not give the previous second.
  EXPECT_EQ(utc_text(StartTime{59000, 43199.99999999999}).text, "2020-05-31-12:00:00");
  EXPECT_EQ(utc_text(StartTime{59000, 86399.99999999999}).text, "2020-06-01-00:00:00");
  EXPECT_FALSE(StartTime{}.after(3).known());
  for (const char* text :
       {"", "2020-05-31", "2020-05-31 12:00:00", "2020-13-01-00:00:00", "2020-02-30-00:00:00", "2020-05-31-24:00:00",
        "2020-05-31-12:60:00", "2020-05-31-12:00:61", "2020-05-31-12:00:00x"}) {
    EXPECT_FALSE(parse_utc(text)) << text;
  }
}

TEST(StartTime, IsTheSameInEveryLocale) {
  const test::CommaLocale locale;
  if (!locale) GTEST_SKIP() << "no locale with a decimal comma";
  const auto time = parse_utc("2020-05-31T12:00:00.25");
  ASSERT_TRUE(time);
  EXPECT_EQ(time->second, 43200.25);
  EXPECT_EQ(utc_text(*time).text, "2020-05-31-12:00:00");
  const Pixels picture = decode_pnm(std::string("Pf\n1 1\n-1.5\n") + std::string("\0\0\x80\x3f", 4), "a.pfm");
  EXPECT_EQ(picture.bytes.size(), 4u);
}

TEST(Decimals, AreRoundedToTheShortestText) {
  EXPECT_EQ(decimal_text(1419.8719999999998), "1419.872");
  EXPECT_EQ(decimal_text(0.1 + 0.2), "0.3");
  EXPECT_EQ(decimal_text(150), "150");
  EXPECT_EQ(decimal_text(-1.28), "-1.28");
  EXPECT_EQ(decimal_text(0), "0");
  EXPECT_EQ(decimal_text(5.12e-06), "5.12e-06");
  EXPECT_EQ(nearest_decimal(1419.8719999999998), 1419.872);
  // Values without a short decimal form are unchanged.
  for (const double value : {1.0 / 3, 2.0 / 7 * 1e6, 195312.5 / 77}) {
    EXPECT_NEAR(nearest_decimal(value), value, 1e-15 * value) << value;
  }
}

}  // namespace
}  // namespace ridge::io
