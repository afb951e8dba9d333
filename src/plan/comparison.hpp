// How far an answer is from the reference's. A value that is no number, or is missing, is never near enough.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace ridge::planner {

struct Comparison {
  double worst = 0;                                // the largest error found; NaN where an answer is no number
  double allowed = 0;                              // what rounding explains
  std::string where{};                             // of the worst: "row 3, column 5"
  bool right() const { return worst <= allowed; }  // false for NaN
  std::string in_words() const;                    // "worst error 3e-02 at row 3, column 5, allowed 4e-07"
};

using Where = std::function<std::string(std::size_t element)>;  // none: "element 12"

// The largest |got - expected| in units of the root mean square of `expected` (or as it is, where that is 0). Complex
// numbers are given as twice as many real ones.
Comparison compare(std::span<const float> got, std::span<const float> expected, double allowed,
                   const Where& where = {});
Comparison compare(std::span<const double> got, std::span<const double> expected, double allowed,
                   const Where& where = {});

// Equal to the bit, for work that only moves data or counts in integers. The error is the number of bytes that differ.
Comparison compare_bytes(std::span<const std::byte> got, std::span<const std::byte> expected, const Where& where = {});

}  // namespace ridge::planner
