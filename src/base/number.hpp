// Reads and writes numbers independently of the program's locale: after setlocale(), strtod() and printf() use a
// decimal comma in many countries, and tolower('I') is not 'i' in Turkey. tests/scripts/locale_rule.py finds such
// calls.
#pragma once
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace ridge::base {

// The decimal number that `text` begins with; `text` keeps what follows it. Nothing if it begins with no number, or
// with one that exceeds the type.
template <class T = double>
std::optional<T> leading_number(std::string_view& text) {
  const std::size_t sign = text.size() > 1 && text.front() == '+' && text[1] != '-' ? 1 : 0;
  T value{};
  const auto [end, error] = std::from_chars(text.data() + sign, text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// The decimal number that is the whole text; nothing for any other text, or if it exceeds the type.
template <class T = double>
std::optional<T> number_of(std::string_view text) {
  const std::optional<T> value = leading_number<T>(text);
  return text.empty() ? value : std::nullopt;
}

// As printf's "%.9g" for 9 digits.
inline std::string decimal_text(double value, int digits) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits);
  return std::string(text, end);
}

// As printf's "%a": hexadecimal, no bit is lost.
inline std::string hexadecimal_text(double value) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, std::chars_format::hex);
  const std::string digits(text, end);
  const std::size_t sign = digits.front() == '-' ? 1 : 0;
  const bool finite = digits[sign] >= '0' && digits[sign] <= '9';
  return finite ? digits.substr(0, sign) + "0x" + digits.substr(sign) : digits;
}

// Lower case of the 26 letters A to Z; other bytes are kept.
inline std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace ridge::base
