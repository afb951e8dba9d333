// Parses lengths and shapes, and holds the named lists of lengths of the benchmark.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace ridge::cli {

std::vector<std::string> split_text(const std::string& text, char separator);  // "a,b,": "a", "b", ""
// "1024", "2^10", "3^5": Error{invalid_argument} for anything else and for 0.
std::size_t parse_length(const std::string& text);
// "64x64", "1024": one to three axes.
std::vector<std::size_t> parse_shape(const std::string& text);
// "2^1..2^22" (every power of two between), "1:4096" (every length between), "smooth", "primes", or lengths separated
// by commas.
std::vector<std::size_t> parse_lengths(const std::string& text);
std::string shape_text(const std::vector<std::size_t>& shape);  // "64x64"

extern const std::vector<std::size_t> kSmoothLengths;  // products of 2, 3, 5, 7, 11, 13 up to a million
extern const std::vector<std::size_t> kPrimeLengths;   // primes, and lengths with a large prime factor

}  // namespace ridge::cli
