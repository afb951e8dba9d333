// Formats bytes, seconds, rates and tables, and parses sizes.
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace ridge::base {
namespace {

// Three significant digits.
std::string three_digits(double value) {
  const double size = std::abs(value);
  if (size >= 100 || size == 0) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

// Width in columns: a character outside ASCII has several bytes and one column.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool looks_like_number(std::string_view text) {
  if (text.empty()) return true;
  const char first = text.front();
  return (first >= '0' && first <= '9') || ((first == '-' || first == '+' || first == '.') && text.size() > 1) ||
         text == "-";
}

}  // namespace

std::string human_bytes(double bytes) {
  static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  const bool whole = bytes == std::floor(bytes) || unit == 0;
  return whole ? fmt::format("{:.0f} {}", bytes, units[unit]) : fmt::format("{} {}", three_digits(bytes), units[unit]);
}

std::string human_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "never";
  const double size = std::abs(seconds);
  if (size == 0) return "0 s";
  if (size < 1e-6) return fmt::format("{} ns", three_digits(seconds * 1e9));
  if (size < 1e-3) return fmt::format("{} us", three_digits(seconds * 1e6));
  if (size < 1) return fmt::format("{} ms", three_digits(seconds * 1e3));
  if (size < 600) return fmt::format("{} s", three_digits(seconds));
  if (size < 36000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string human_rate(double per_second, std::string_view unit) {
  static constexpr std::array prefixes{"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (std::abs(per_second) >= 999.5 && prefix + 1 < prefixes.size()) {
    per_second /= 1000;
    ++prefix;
  }
  return fmt::format("{} {}{}", three_digits(per_second), prefixes[prefix], unit);
}

std::optional<std::size_t> parse_bytes(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || !(value >= 0)) return std::nullopt;
  std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  while (!suffix.empty() && suffix.front() == ' ') suffix.remove_prefix(1);
  double scale = 1;
  if (!suffix.empty()) {
    static constexpr std::string_view letters = "BKMGT";
    const auto power = letters.find(static_cast<char>(suffix.front() & ~0x20));
    if (power == std::string_view::npos) return std::nullopt;
    const std::string_view tail = suffix.substr(1);
    const bool known_tail = tail.empty() || (power > 0 && (tail == "iB" || tail == "B" || tail == "i"));
    if (!known_tail) return std::nullopt;
    scale = std::ldexp(1.0, static_cast<int>(10 * power));
  }
  if (value * scale >= static_cast<double>(std::numeric_limits<std::size_t>::max())) return std::nullopt;
  return static_cast<std::size_t>(value * scale);
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width;
  std::vector<bool> numeric;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    width.resize(std::max(width.size(), rows[r].size()));
    numeric.resize(width.size(), true);
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      width[c] = std::max(width[c], columns(rows[r][c]));
      if (r > 0 && !looks_like_number(rows[r][c])) numeric[c] = false;
    }
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string pad(width[c] - columns(row[c]), ' ');
      if (c > 0) line += "  ";
      line += numeric[c] ? pad + row[c] : row[c] + pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace ridge::base
