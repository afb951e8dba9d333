// The largest error of a sequence; a NaN is kept (base/worst.hpp).
#pragma once
#include <complex>
#include <cstddef>
#include <limits>

#include "base/worst.hpp"

namespace ridge::test {

using base::worse;
using base::Worst;

// The largest distance between two sequences, real or complex; infinite if their lengths differ.
template <class A, class B>
double largest_difference(const A& a, const B& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  Worst worst;
  for (std::size_t i = 0; i < a.size(); ++i) worst.add(static_cast<double>(std::abs(a[i] - b[i])));
  return worst.value();
}

}  // namespace ridge::test
