// a[y * w + x] as a[y][x]: the shape of an array is chosen from all its subscripts in the nest.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "place/analysis/relations.hpp"

namespace ridge::place::analysis {

std::map<int, Shape> choose_shapes(const Nest& nest);  // by variable; no strides where one dimension will do
std::optional<std::vector<Poly>> take_apart(const Poly& subscript, const Shape& shape);

}  // namespace ridge::place::analysis
