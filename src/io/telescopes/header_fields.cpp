// Parses and checks the text fields of headers.
#include "io/telescopes/header_fields.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::io {
namespace {

// Makes text of a damaged file safe to print on a terminal.
std::string printable(std::string text) {
  for (char& c : text) c = c >= ' ' && c < 127 ? c : '?';
  return text;
}

}  // namespace

void HeaderFields::fail(const std::string& what) const {
  throw Error(ErrorKind::io, fmt::format("{}: not a {} stream that can be used: {}", name_, format_, printable(what)));
}

const std::string* HeaderFields::find(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::int64_t HeaderFields::integer(const std::string& key, std::int64_t low, std::int64_t high,
                                   std::optional<std::int64_t> otherwise) const {
  const std::string* text = find(key);
  if (text == nullptr) {
    if (otherwise) return *otherwise;
    fail(fmt::format("{} is missing", key));
  }
  std::int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, value);
  // Some writers append a decimal point to integers.
  const bool whole = error == std::errc() && std::string_view(at, end).find_first_not_of(
                                                 at != end && *at == '.' ? ".0" : "") == std::string_view::npos;
  if (!whole) fail(fmt::format("{} is \"{}\", not a whole number", key, text->substr(0, 40)));
  if (value < low || value > high) fail(fmt::format("{} is {}; it must be from {} to {}", key, value, low, high));
  return value;
}

double HeaderFields::number(const std::string& key, double low, double high, std::optional<double> otherwise) const {
  const std::string* text = find(key);
  if (text == nullptr) {
    if (otherwise) return *otherwise;
    fail(fmt::format("{} is missing", key));
  }
  double value = 0;
  const char* begin = text->data() + (!text->empty() && text->front() == '+' ? 1 : 0);
  const char* end = text->data() + text->size();
  const auto [at, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || at != end || !std::isfinite(value)) {
    fail(fmt::format("{} is \"{}\", not a number", key, text->substr(0, 40)));
  }
  if (value < low || value > high) fail(fmt::format("{} is {}; it must be from {} to {}", key, value, low, high));
  return value;
}

std::string HeaderFields::text(const std::string& key, const std::string& otherwise) const {
  const std::string* text = find(key);
  return text == nullptr ? otherwise : printable(text->substr(0, 40));
}

}  // namespace ridge::io
