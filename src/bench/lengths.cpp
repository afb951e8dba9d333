// Parses lengths and shapes, and lists the benchmark lengths.
#include "bench/lengths.hpp"

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::cli {
namespace {

constexpr std::size_t kMostLengths = 100'000;

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorKind::invalid_argument, what); }

std::size_t parse_digits(const std::string& digits, const std::string& whole) {
  std::size_t value = 0;
  if (digits.empty()) fail(fmt::format("\"{}\" is not a length: needs a number as in 1000 or 2^10", whole));
  for (const char c : digits) {
    if (c < '0' || c > '9' || __builtin_mul_overflow(value, std::size_t{10}, &value) ||
        __builtin_add_overflow(value, static_cast<std::size_t>(c - '0'), &value)) {
      fail(fmt::format("\"{}\" is not a length: needs a number as in 1000 or 2^10", whole));
    }
  }
  return value;
}

}  // namespace

std::vector<std::string> split_text(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) c == separator ? void(parts.emplace_back()) : parts.back().push_back(c);
  return parts;
}

std::size_t parse_length(const std::string& text) {
  const std::size_t caret = text.find('^');
  std::size_t value = parse_digits(text.substr(0, caret), text);
  if (caret != std::string::npos) {
    const std::size_t base = value, exponent = parse_digits(text.substr(caret + 1), text);
    value = 1;
    for (std::size_t i = 0; i < exponent; ++i) {
      if (__builtin_mul_overflow(value, base, &value)) fail(fmt::format("\"{}\" overflows 64 bits", text));
      if (value <= 1) break;
    }
  }
  if (value == 0) fail(fmt::format("\"{}\": 0 points; needs 1 or more", text));
  return value;
}

std::vector<std::size_t> parse_shape(const std::string& text) {
  std::vector<std::size_t> shape;
  for (const std::string& part : split_text(text, 'x')) shape.push_back(parse_length(part));
  if (shape.size() > 3) fail(fmt::format("\"{}\" has {} axes; needs one to three", text, shape.size()));
  return shape;
}

std::vector<std::size_t> parse_lengths(const std::string& text) {
  if (text == "smooth") return kSmoothLengths;
  if (text == "primes") return kPrimeLengths;
  std::vector<std::size_t> lengths;
  for (const std::string& part : split_text(text, ',')) {
    if (const std::size_t colon = part.find(':'); colon != std::string::npos) {
      const std::size_t first = parse_length(part.substr(0, colon)), last = parse_length(part.substr(colon + 1));
      if (first > last || last - first >= kMostLengths)
        fail(fmt::format("\"{}\": needs a first length, a last one that is not smaller, and at most {} lengths", part,
                         kMostLengths));
      for (std::size_t n = first; n <= last; ++n) lengths.push_back(n);
      continue;
    }
    const std::size_t dots = part.find("..");
    if (dots == std::string::npos) {
      lengths.push_back(parse_length(part));
      continue;
    }
    const std::size_t first = parse_length(part.substr(0, dots)), last = parse_length(part.substr(dots + 2));
    if (first > last) fail(fmt::format("\"{}\": the first length must not exceed the last", part));
    std::size_t n = 1;
    while (n < first) {
      if (__builtin_mul_overflow(n, std::size_t{2}, &n)) fail(fmt::format("\"{}\" overflows 64 bits", part));
    }
    if (n > last) fail(fmt::format("\"{}\" contains no power of two", part));
    for (; n <= last; n *= 2) {
      lengths.push_back(n);
      if (n > last / 2) break;
    }
  }
  return lengths;
}

std::string shape_text(const std::vector<std::size_t>& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

const std::vector<std::size_t> kSmoothLengths{
    6,     9,     10,     12,     15,     18,     20,     24,     30,     36,     45,     48,     60,     72,
    80,    96,    100,    120,    125,    144,    180,    200,    210,    240,    243,    300,    343,    360,
    400,   480,   500,    600,    625,    720,    768,    900,    1000,   1080,   1200,   1155,   1280,   1440,
    1500,  1536,  1920,   2000,   2187,   2400,   3000,   3072,   3125,   3600,   3840,   4095,   4800,   5000,
    6000,  6561,  7680,   8000,   9216,   10000,  12000,  15015,  15360,  20000,  30030,  32768,  40000,  46080,
    50000, 65625, 100000, 128000, 177147, 196608, 250000, 390625, 480000, 500000, 531441, 720720, 1000000};

const std::vector<std::size_t> kPrimeLengths{
    17,   19,   23,   29,   31,   37,   41,   43,   47,    53,    59,    61,     67,     71,    79,    83,
    89,   97,   101,  103,  107,  109,  113,  127,  131,   149,   151,   163,    179,    191,   197,   211,
    223,  227,  241,  251,  257,  263,  277,  293,  311,   331,   347,   359,    383,    401,   431,   467,
    499,  509,  521,  557,  601,  661,  719,  769,  853,   907,   997,   1009,   1021,   1031,  1153,  1283,
    2003, 2039, 2053, 4093, 4099, 5003, 8191, 8209, 10007, 16381, 16411, 32749,  65521,  65537, 99991, 100003,
    34,   118,  134,  254,  514,  1018, 2018, 3027, 4036,  10090, 20014, 131074, 262139, 524287};

}  // namespace ridge::cli
