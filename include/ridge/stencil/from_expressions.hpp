// Builds an update from expressions, for formulas unknown at compile time: a traced Python function, a formula from a
// file.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/stencil/update.hpp>

namespace ridge::stencil {

// `outputs` are the new values of the fields, made of make_read(), make_constant() and make_node() (values.hpp).
// Weighted sums become linear<T>(), in memory order. Other expressions are evaluated on the host one operation at a
// time for a few hundred cells, bit-identical to update<T>() of the same operations. Error{invalid_argument} for
// expressions that are not a valid stencil.
template <class T>
Update<T> from_expressions(std::size_t dimensions, const std::vector<Expression>& outputs, std::string name = "");

}  // namespace ridge::stencil
