// The transpose and the derivative of an update, as updates.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include <ridge/stencil/update.hpp>

#include "stencil/layout.hpp"

namespace ridge::stencil {

template <class T>
struct AdjointUpdate {
  Update<T> update{};
  // The fields of `update` are those of the adjoint, multiplied by this coefficient at each cell and by these signs. In
  // this form the adjoint of leapfrog in a medium equals the forward update, so the same kernels compute it.
  std::optional<std::size_t> scale{};
  std::vector<int> signs{};
  // Sides with a mirror border across which the update is not symmetric: the grid is continued there by the radius, and
  // the values of these ghost cells are added to the cells that they mirror.
  std::array<bool, 3> continue_low{}, continue_high{};
};

// Error{invalid_argument} if the update is not linear, or has layers and is not leapfrog in a medium.
template <class T>
AdjointUpdate<T> adjoint_update(const Update<T>& update, const Layout& layout);

// The transposed derivative of any update, as an update.
// Fields: the derivatives of a number with respect to the update's fields after a step, which become those before it;
// then one sum per coefficient, to which the step adds the derivative with respect to that coefficient. Coefficients:
// those of the update, its fields before the step, and a mask that is 1 in the cells that the step changes and 0
// elsewhere. Error{invalid_argument} for updates with layers or a free surface outside their expressions.
template <class T>
Update<T> derivative_update(const Update<T>& update);

}  // namespace ridge::stencil
