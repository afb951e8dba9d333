// Euler's equations on the host: rows of cells in vectors.
#pragma once
#include <ridge/stencil/problems.hpp>

namespace ridge::stencil {

// What the update of euler() does to these rows, to the last bit, with every intermediate computed once for all who
// need it instead of up to thirteen times. The more rows at once the better: two rows beyond either side are worked on
// too.
template <class T>
void euler_rows(const Euler& euler, const Rows<T>& rows);
template <>
void euler_rows(const Euler& euler, const Rows<float>& rows);
template <>
void euler_rows(const Euler& euler, const Rows<double>& rows);

}  // namespace ridge::stencil
