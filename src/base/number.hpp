// Reads numbers independently of the program's locale: strtod() expects a comma after setlocale() in some countries.
#pragma once
#include <charconv>
#include <optional>
#include <string_view>

namespace ridge::base {

// The decimal number that is the whole text; nothing for any other text, or if it exceeds the type.
template <class T = double>
std::optional<T> number_of(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace ridge::base
