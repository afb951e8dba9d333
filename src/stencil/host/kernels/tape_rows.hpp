// Row kernel for updates that are known only as expressions: one operation after another over blocks of cells that stay
// in the first-level cache.
#pragma once
#include <functional>
#include <vector>

#include <ridge/stencil/update.hpp>

namespace ridge::stencil {

template <class T>
std::function<void(const Rows<T>&)> tape_rows(const std::vector<Expression>& outputs, const Offset& radius);

}  // namespace ridge::stencil
