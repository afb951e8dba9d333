// Delinearization: chooses an array's dimensions from its subscripts in the nest, so that a[y * w + x] becomes a[y][x].
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "place/analysis/relations.hpp"

namespace ridge::place::analysis {

std::map<int, Shape> choose_shapes(const Nest& nest);  // by variable; no strides if one dimension is enough
std::optional<std::vector<Poly>> take_apart(const Poly& subscript, const Shape& shape);

}  // namespace ridge::place::analysis
