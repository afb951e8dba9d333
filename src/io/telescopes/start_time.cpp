// Parses dates, times and MJD, and adds seconds to them without loss.
#include "io/telescopes/start_time.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string_view>

#include <fmt/format.h>

namespace ridge::io {
namespace {

constexpr std::int64_t kMjdOf1970 = 40587;

double parsed(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

StartTime StartTime::after(double seconds) const {
  if (!known()) return {};
  const double sum = second + seconds, days = std::floor(sum / 86400);
  return {day + static_cast<std::int64_t>(days), sum - days * 86400};
}

std::optional<StartTime> parse_utc(const std::string& text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, used = 0;
  double second = 0;
  char between = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2d%c%2d:%2d:%n", &year, &month, &day, &between, &hour, &minute, &used) != 6 ||
      used == 0 || (between != '-' && between != 'T')) {
    return std::nullopt;
  }
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + used, end, second);
  if (error != std::errc()) return std::nullopt;
  const std::string_view rest(at, end);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  // A leap second is second 60.
  const bool in_range = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 61;
  if ((!rest.empty() && rest != "Z") || !date.ok() || !in_range) return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return StartTime{kMjdOf1970 + days, 0}.after(hour * 3600.0 + minute * 60.0 + second);
}

UtcText utc_text(const StartTime& time) {
  const auto all = static_cast<std::int64_t>(std::floor(time.second));
  std::int64_t picoseconds = std::llround((time.second - static_cast<double>(all)) * 1e12);
  // Seconds of a day are exact to 1.5e-11: closer values are rounded to a whole second.
  constexpr std::int64_t kSecond = 1'000'000'000'000, kNoise = 50;
  const bool next = picoseconds > kSecond - kNoise;
  if (next || picoseconds < kNoise) picoseconds = 0;
  const std::chrono::sys_seconds moment{std::chrono::days(time.day - kMjdOf1970) +
                                        std::chrono::seconds(all + (next ? 1 : 0))};
  const auto midnight = std::chrono::floor<std::chrono::days>(moment);
  const std::chrono::year_month_day date{midnight};
  const std::chrono::hh_mm_ss clock{moment - midnight};
  return {fmt::format("{:04d}-{:02d}-{:02d}-{:02d}:{:02d}:{:02d}", static_cast<int>(date.year()),
                      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                      clock.minutes().count(), clock.seconds().count()),
          picoseconds};
}

double nearest_decimal(double value) {
  const double near = 8 * std::numeric_limits<double>::epsilon() * std::abs(value) / 2;
  for (int digits = 1; digits < 17; ++digits) {
    const double rounded = parsed(fmt::format("{:.{}g}", value, digits));
    if (std::abs(rounded - value) <= near) return rounded;
  }
  return value;
}

std::string decimal_text(double value) { return fmt::format("{}", nearest_decimal(value)); }

}  // namespace ridge::io
