// Start times of recordings (UTC), and decimal numbers as in headers.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace ridge::io {

// A modified Julian day and the seconds since its midnight. Day 0 means an unknown time. A single double would round a
// time to 0.6 microseconds.
struct StartTime {
  std::int64_t day = 0;
  double second = 0;

  bool known() const { return day != 0; }
  double mjd() const { return static_cast<double>(day) + second / 86400; }
  StartTime after(double seconds) const;  // unknown times stay unknown
  bool operator==(const StartTime&) const = default;
};

// Parses "yyyy-mm-dd-hh:mm:ss" (PSRDADA) or "yyyy-mm-ddThh:mm:ss" (ISO 8601), each with optional decimals. Empty if the
// text has another form or a field is out of range.
std::optional<StartTime> parse_utc(const std::string& text);

// "yyyy-mm-dd-hh:mm:ss" of the last whole second, and the picoseconds since then.
struct UtcText {
  std::string text{};
  std::int64_t picoseconds = 0;
};
UtcText utc_text(const StartTime& time);

// The decimal number with the fewest digits within 8 ulp of `value`: 1419.872 for a sum of decimals that gave
// 1419.8719999999998.
std::string decimal_text(double value);
double nearest_decimal(double value);

}  // namespace ridge::io
