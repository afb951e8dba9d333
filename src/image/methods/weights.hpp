// Weights of filters as the methods see them: products of a column and a row, and windows.
#pragma once
#include <optional>
#include <vector>

#include <ridge/image/operators.hpp>

namespace ridge::image {

// Weights of a separable operator; with step 2 only every second row and column is kept (a pyramid level).
struct Product {
  std::vector<double> down, across;
  std::size_t step = 1;
};
// Returns false for operators that are not separable.
bool product_of(const Operation& operation, Depth depth, Product& product);

struct Window {  // out(r, c) = sum weights(i, j) in(r + i - rows / 2, c + j - columns / 2)
  std::size_t rows = 0, columns = 0;
  std::vector<double> weights = {};
  double direct_flops = 0;  // operations per value with the cheapest sum of separable terms
};
Window window_of(const Product& product);
// Empty for operators whose window is never large enough for transforms to pay off, and for those without weights.
std::optional<Window> window_of(const Operation& operation, Depth depth);

}  // namespace ridge::image
