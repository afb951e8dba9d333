// Rows of an update that is known as expressions only: operation after operation over a stretch of cells that stays in
// the first cache.
#pragma once
#include <functional>
#include <vector>

#include <ridge/stencil/update.hpp>

namespace ridge::stencil {

template <class T>
std::function<void(const Rows<T>&)> tape_rows(const std::vector<Expression>& outputs, const Offset& radius);

}  // namespace ridge::stencil
