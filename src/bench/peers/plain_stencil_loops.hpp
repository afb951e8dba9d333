// Row loops of the baseline stencil.
#pragma once
#include <cstddef>

namespace ridge::cli {

// One row: out[x] = centre * in[0][x] + other * (the sum of in[1 ..][x]), for x in [begin, end).
template <class T>
using PlainRow = void (*)(const T* const* in, T centre, T other, T* out, std::size_t begin, std::size_t end);

// For 3, 5, 7, 9, 13, 17, 19, 25 or 27 points, compiled for this processor; null for another number.
template <class T>
PlainRow<T> plain_row(std::size_t points);

}  // namespace ridge::cli
