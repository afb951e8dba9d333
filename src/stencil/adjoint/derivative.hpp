// The transposed derivative of any update, as an update.
#pragma once
#include <ridge/stencil/update.hpp>

namespace ridge::stencil {

// Fields: the derivatives of a number with respect to the update's fields after a step, which become those before it;
// then one sum per coefficient, to which the step adds the derivative with respect to that coefficient. Coefficients:
// those of the update, its fields before the step, and a mask that is 1 in the cells that the step changes and 0
// elsewhere. Error{invalid_argument} for updates with layers or a free surface outside their expressions.
template <class T>
Update<T> derivative_update(const Update<T>& update);

}  // namespace ridge::stencil
