// SIMD kernels of linear_rows, dispatched by instruction set at run time.
#pragma once
#include <cstddef>

namespace ridge::stencil {

// Weighted sum of `count` rows: out[x] = weights[0] * in[0][x], then one FMA per row, for x in [begin, end).
template <class T>
using SumTerms = void (*)(const T* const* in, const T* weights, std::size_t count, T* out, std::size_t begin,
                          std::size_t end);
// Rows of one field in the order of Rows<T>, weights in the shape's order; `kRows` output rows.
template <class T>
using SumShape = void (*)(const T* const* in, const T* weights, T* const* out, std::size_t begin, std::size_t end);

enum class ShapeName { none, line_1, line_2, star_2d_1, star_2d_2, box_2d_1, star_3d_1, star_3d_2, box_3d_1 };

template <class T>
SumTerms<T> sum_terms(bool streaming);
// Null if there is no such kernel; rows is 1, 2 or 4.
template <class T>
SumShape<T> sum_shape(ShapeName shape, std::size_t rows, bool streaming);

}  // namespace ridge::stencil
