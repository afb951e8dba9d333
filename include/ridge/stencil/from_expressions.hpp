// An update from its expressions alone, for callers whose formulas are not known when they are compiled: a Python
// function that was traced, a formula out of a file.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/stencil/update.hpp>

namespace ridge::stencil {

// `outputs` are the new values of the fields, made of make_read(), make_constant() and make_node() (values.hpp).
// Weighted sums become linear<T>(), in the order of memory; others are worked off on the host a few hundred cells an
// operation, to the last bit what update<T>() of the same operations gives. Error{invalid_argument} for what no stencil
// can be.
template <class T>
Update<T> from_expressions(std::size_t dimensions, const std::vector<Expression>& outputs, std::string name = "");

}  // namespace ridge::stencil
