// An update as a linear map of its fields: a list of terms per output, which can be transposed term by term.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <ridge/stencil/update.hpp>

namespace ridge::stencil {

// An expression of coefficients and constants. Factors are equal if their texts are.
struct Factor {
  Expression value{};
  std::string text{};
};

// weight * factors * (input field at an offset)
struct LinearTerm {
  double weight = 0;
  std::vector<Factor> factors{};  // sorted by text
  std::size_t input = 0;
  Offset offset{};
};

struct LinearMap {
  std::size_t inputs = 0;
  std::vector<std::vector<LinearTerm>> outputs{};  // sorted; equal terms are merged
};

// Expands the outputs into terms; constant terms are dropped. Error{invalid_argument} if an output is not linear in the
// fields.
LinearMap linear_map(const std::vector<Expression>& outputs, std::size_t inputs);

// Gather form of the transpose: a term of output i that reads input k at offset o becomes a term of output k that reads
// input i at -o, with its factors moved by -o.
LinearMap transposed(const LinearMap& map);

// The map of the fields multiplied by a coefficient: c map(fields / c). Empty if that is not linear with the
// coefficient at the cell itself only: every term that reads a neighbour must have the coefficient of that neighbour as
// a factor.
std::optional<LinearMap> scaled_by(const LinearMap& map, std::size_t coefficient);

// One sign per field such that changing the signs of `map` gives `other`; empty if there are none.
std::optional<std::vector<int>> signs_between(const LinearMap& map, const LinearMap& other);

// True if the map is unchanged when the axis is reversed.
bool is_symmetric(const LinearMap& map, std::size_t axis);

// A map in two steps: `values` are computed from the fields at each cell, and `map` reads them at neighbours, as inputs
// that follow the fields.
struct SharedTerms {
  LinearMap values{};
  LinearMap map{};
};
SharedTerms share_terms(const LinearMap& map);

std::vector<Expression> to_expressions(const LinearMap& map);

// The expression as seen from a cell `by` away: every read is moved by it.
Expression moved(const Expression& expression, const Offset& by);

}  // namespace ridge::stencil
