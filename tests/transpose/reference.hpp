// Problems for the transpose tests, and memory with guards that shows stray writes.
#pragma once
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <ridge/transpose.hpp>

#include "transpose/layout.hpp"
#include "transpose/trials.hpp"
#include "transpose/variant.hpp"

namespace ridge::transpose::testing {

inline constexpr std::size_t kGuard = 256;  // bytes before and after
inline constexpr std::byte kPoison{0xC5};

// Bytes that differ from their neighbours and from the poison value, with a period of 251.
inline std::vector<std::byte> pattern(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  unsigned state = 12345;
  for (std::byte& value : data) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<std::byte>(state >> 24);
  }
  return data;
}

// Describes the first difference between `found` and `expected`; empty if there is none.
inline std::string difference(const std::vector<std::byte>& expected, const std::vector<std::byte>& found) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] != found[i]) {
      return "byte " + std::to_string(static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(kGuard)) + " of " +
             std::to_string(expected.size() - 2 * kGuard) + " is " + std::to_string(std::to_integer<int>(found[i])) +
             ", not " + std::to_string(std::to_integer<int>(expected[i]));
    }
  }
  return {};
}

// Runs a variant between guards with a poisoned output, and compares every byte: those it must write, the gaps between
// rows, and the guards. `shift` unaligns the data.
inline std::string check(const Layout& layout, const Variant& variant, std::size_t shift = 0) {
  const std::vector<std::byte> input = pattern(layout.input_bytes());
  std::vector<std::byte> expected(layout.output_bytes() + 2 * kGuard, kPoison);
  std::vector<std::byte> found(layout.output_bytes() + 2 * kGuard + shift, kPoison);
  if (layout.in_place) {
    std::memcpy(expected.data() + kGuard, input.data(), input.size());
    std::memcpy(found.data() + kGuard + shift, input.data(), input.size());
    reference(layout, input.data(), expected.data() + kGuard);
    variant.run(found.data() + kGuard + shift, found.data() + kGuard + shift);
  } else {
    std::vector<std::byte> shifted(input.size() + shift);
    std::memcpy(shifted.data() + shift, input.data(), input.size());
    reference(layout, input.data(), expected.data() + kGuard);
    variant.run(shifted.data() + shift, found.data() + kGuard + shift);
    if (std::memcmp(shifted.data() + shift, input.data(), input.size()) != 0) return "the input was changed";
  }
  found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(shift));
  return difference(expected, found);
}

inline constexpr std::size_t kElementSizes[] = {1, 2, 4, 8, 16};

// Shapes at every edge case: single elements, rows and columns, primes, just below and above tile sizes, batches.
inline std::vector<Problem> packed_problems() {
  std::vector<Problem> problems;
  for (const auto& [rows, columns] : std::vector<std::pair<std::size_t, std::size_t>>{{1, 1},
                                                                                      {1, 77},
                                                                                      {77, 1},
                                                                                      {7, 5},
                                                                                      {13, 31},
                                                                                      {31, 33},
                                                                                      {64, 64},
                                                                                      {65, 63},
                                                                                      {127, 129},
                                                                                      {1000, 3},
                                                                                      {128, 256},
                                                                                      {256, 64},
                                                                                      {192, 320},
                                                                                      {257, 130}}) {
    problems.push_back({.rows = rows, .columns = columns});
  }
  problems.push_back({.rows = 64, .columns = 64, .batch = 7});
  problems.push_back({.rows = 3, .columns = 4, .batch = 33});
  problems.push_back({.rows = 16, .columns = 48, .batch = 5});
  problems.push_back({.rows = 1, .columns = 1, .batch = 9});
  return problems;
}

// Padded rows, gaps between matrices, a broadcast input, strided columns, column-major input.
inline std::vector<Problem> strided_problems() {
  return {
      {.rows = 33, .columns = 70, .input = {.row = 75}, .output = {.row = 41}},
      {.rows = 64, .columns = 128, .input = {.row = 192}, .output = {.row = 112}},
      {.rows = 48,
       .columns = 32,
       .batch = 3,
       .input = {.row = 64, .batch = 4096},
       .output = {.row = 64, .batch = 2304}},
      {.rows = 20, .columns = 20, .batch = 4, .input = {.row = 20, .batch = 1}},
      {.rows = 17, .columns = 9, .batch = 2, .input = {.column = 3}, .output = {.column = 2}},
      {.rows = 40, .columns = 70, .input = {.row = 1, .column = 40}, .output = {}},
      {.rows = 70, .columns = 40, .batch = 2, .input = {}, .output = {.row = 1, .column = 40}},
  };
}

inline std::vector<Problem> in_place_problems() {
  std::vector<Problem> problems;
  for (const std::size_t side : {1, 2, 17, 31, 64, 65, 128, 160, 257}) {
    problems.push_back({.rows = side, .columns = side, .in_place = true});
  }
  problems.push_back({.rows = 64, .columns = 64, .batch = 5, .in_place = true});
  problems.push_back({.rows = 96, .columns = 96, .batch = 2, .input = {.row = 112, .batch = 11008}, .in_place = true});
  problems.push_back({.rows = 19, .columns = 19, .batch = 2, .input = {.column = 2}, .in_place = true});
  return problems;
}

}  // namespace ridge::transpose::testing
