// Vectorized row kernel of the Euler equations on the host.
#pragma once
#include <ridge/stencil/problems.hpp>

namespace ridge::stencil {

// Computes the update of euler() on these rows, bit for bit, with every intermediate computed once instead of up to
// thirteen times. More rows at once are more efficient, because two rows beyond either side are processed too.
template <class T>
void euler_rows(const Euler& euler, const Rows<T>& rows);
template <>
void euler_rows(const Euler& euler, const Rows<float>& rows);
template <>
void euler_rows(const Euler& euler, const Rows<double>& rows);

}  // namespace ridge::stencil
