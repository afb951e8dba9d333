// Row kernels of the host variants: weighted sums of neighbours with explicit SIMD, vector programs and tapes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <ridge/stencil/update.hpp>

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

template <class T>
using RowKernel = std::function<void(const Rows<T>&)>;

// Keeps the order of the terms: bit-identical to their definition in linear<T>() on every instruction set. `streaming`:
// non-temporal stores where available (call streaming_fence() on the thread before another thread reads its rows).
template <class T>
RowKernel<T> linear_rows(const std::vector<Term>& terms, const Offset& radius, std::size_t fields,
                         bool streaming = false);
void streaming_fence();

// The unrolled shape whose points, in its order, are these terms.
ShapeName shape_of(const std::vector<Term>& terms);

// Weighted sums of integer cells, which wrap: row i of `in` is already shifted by its offset.
void sum_integers(const std::int32_t* const* in, const std::int32_t* weights, std::size_t count, std::int32_t* out,
                  std::size_t begin, std::size_t end);
// Bytes are summed as wider integers and truncated when stored.
void sum_integers(const std::uint8_t* const* in, const std::int32_t* weights, std::size_t count, std::uint8_t* out,
                  std::size_t begin, std::size_t end);

// A vector program as a row kernel.
// Bit-identical to the update, unless nothing in it compares (is_smooth): then within rounding.
template <class T>
RowKernel<T> vector_rows(const Update<T>& update);

// Row kernel for updates that are known only as expressions: one operation after another over blocks of cells that stay
// in the first-level cache.
template <class T>
std::function<void(const Rows<T>&)> tape_rows(const std::vector<Expression>& outputs, const Offset& radius);

}  // namespace ridge::stencil
