// Compares an answer with the reference. NaN or a missing value always counts as wrong.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace ridge::planner {

struct Comparison {
  double worst = 0;                                // largest error found; NaN if an answer is NaN
  double allowed = 0;                              // largest error that rounding explains
  std::string where{};                             // position of the largest error: "row 3, column 5"
  bool right() const { return worst <= allowed; }  // false for NaN
  std::string text() const;                        // "worst error 3e-02 at row 3, column 5, allowed 4e-07"
};

using Where = std::function<std::string(std::size_t element)>;  // empty: "element 12"

// The largest |got - expected| in units of the root mean square of `expected` (absolute if that is 0). Complex numbers
// are passed as twice as many real ones.
Comparison compare(std::span<const float> got, std::span<const float> expected, double allowed,
                   const Where& where = {});
Comparison compare(std::span<const double> got, std::span<const double> expected, double allowed,
                   const Where& where = {});

// Bytewise equality, for work that only moves data or counts in integers. The error is the number of differing bytes.
Comparison compare_bytes(std::span<const std::byte> got, std::span<const std::byte> expected, const Where& where = {});

}  // namespace ridge::planner
