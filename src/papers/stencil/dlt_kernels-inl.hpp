// Row kernels in the dimension-lifted transpose: a plain loop for the compiler and unrolled SIMD shapes; for one
// element type (Number, cmake/RidgeNumbers.cmake) and every instruction set. Targets as in
// src/stencil/host/kernels/linear_kernels-inl.hpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "papers/stencil/dlt_kernels-inl.hpp"
#include "base/simd_targets.hpp"

#include <hwy/foreach_target.h>
// foreach_target must come first
#include <hwy/highway.h>

#include <cmath>

#include "papers/stencil/dlt_rows.hpp"
#include "stencil/host/kernels/linear_shape.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::stencil::HWY_NAMESPACE {
namespace {  // anonymous: the units of float and double define the same names
namespace hn = hwy::HWY_NAMESPACE;

using T = Number;

// Block by block through L1, so that the compiler sees one simple loop per term.
void CompilerTerms(const T* const* in, const T* weights, std::size_t count, T* HWY_RESTRICT out, std::size_t begin,
                   std::size_t end) {
  if (count == 5) {
    const T *a = in[0], *b = in[1], *c = in[2], *d = in[3], *e = in[4];
    const T wa = weights[0], wb = weights[1], wc = weights[2], wd = weights[3], we = weights[4];
    for (std::size_t x = begin; x < end; ++x)
      out[x] = std::fma(we, e[x], std::fma(wd, d[x], std::fma(wc, c[x], std::fma(wb, b[x], wa * a[x]))));
    return;
  }
  constexpr std::size_t kPiece = 1024;
  T sums[kPiece];
  for (std::size_t x = begin; x < end; x += kPiece) {
    const std::size_t cells = end - x < kPiece ? end - x : kPiece;
    for (std::size_t i = 0; i < count; ++i) {
      const T* from = in[i] + x;
      const T weight = weights[i];
      if (i == 0) {
        for (std::size_t k = 0; k < cells; ++k) sums[k] = weight * from[k];
      } else {
        for (std::size_t k = 0; k < cells; ++k) sums[k] = std::fma(weight, from[k], sums[k]);
      }
    }
    for (std::size_t k = 0; k < cells; ++k) out[x + k] = sums[k];
  }
}

#if HWY_TARGET == HWY_SCALAR || !HWY_NATIVE_FMA

SumShape<T> Find(ShapeName, std::size_t) { return nullptr; }
std::size_t GetLanes() { return 4; }

#else

using D = hn::ScalableTag<T>;
using V = hn::Vec<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));  // exact: the remaining targets have fixed vector sizes
std::size_t GetLanes() { return static_cast<std::size_t>(kLanes); }

template <class S, int kRows>
constexpr bool Used(int dz, int line, int dx) {
  for (int r = 0; r < kRows; ++r) {
    if (S::has(dz, line - r, dx)) return true;
  }
  return false;
}

// True if one of kUnroll adjacent output vectors reads the input vector that is `at` vectors after the first output.
template <class S, int kRows, int kUnroll>
constexpr bool Wanted(int dz, int line, int at) {
  for (int u = 0; u < kUnroll; ++u) {
    if (at - u >= -S::rx && at - u <= S::rx && Used<S, kRows>(dz, line, at - u)) return true;
  }
  return false;
}

template <class S, int kRows, int kUnroll, int kDz, int kLine, int kAt>
HWY_INLINE void LoadRow(const T* row, V (&values)[kUnroll + 2 * S::rx]) {
  if constexpr (kAt < kUnroll + S::rx) {
    if constexpr (Wanted<S, kRows, kUnroll>(kDz, kLine, kAt)) values[kAt + S::rx] = hn::LoadU(D(), row + kAt * kLanes);
    LoadRow<S, kRows, kUnroll, kDz, kLine, kAt + 1>(row, values);
  }
}

template <class S, int kRows, int kUnroll, int kDz, int kLine, int kDx, int kRow>
HWY_INLINE void AddRow(const V (&values)[kUnroll + 2 * S::rx], const V (&weights)[S::points],
                       V (&sums)[kRows][kUnroll]) {
  if constexpr (kDx <= S::rx) {
    if constexpr (kRow < kRows) {
      if constexpr (S::has(kDz, kLine - kRow, kDx)) {
        constexpr int kIndex = S::index(kDz, kLine - kRow, kDx);
        for (int u = 0; u < kUnroll; ++u) {
          const V value = values[u + kDx + S::rx];
          sums[kRow][u] =
              kIndex == 0 ? hn::Mul(weights[kIndex], value) : hn::MulAdd(weights[kIndex], value, sums[kRow][u]);
        }
      }
      AddRow<S, kRows, kUnroll, kDz, kLine, kDx, kRow + 1>(values, weights, sums);
    } else {
      AddRow<S, kRows, kUnroll, kDz, kLine, kDx + 1, 0>(values, weights, sums);
    }
  }
}

// Visits input rows in memory order: each sum keeps its order.
template <class S, int kRows, int kUnroll, int kInput>
HWY_INLINE void InputRows(const T* const* rows, std::size_t x, const V (&weights)[S::points],
                          V (&sums)[kRows][kUnroll]) {
  constexpr int kHeight = 2 * S::ry + kRows;
  if constexpr (kInput < (2 * S::rz + 1) * kHeight) {
    constexpr int kDz = kInput / kHeight - S::rz, kLine = kInput % kHeight - S::ry;
    V values[kUnroll + 2 * S::rx];
    LoadRow<S, kRows, kUnroll, kDz, kLine, -S::rx>(rows[kInput] + x, values);
    AddRow<S, kRows, kUnroll, kDz, kLine, -S::rx, 0>(values, weights, sums);
    InputRows<S, kRows, kUnroll, kInput + 1>(rows, x, weights, sums);
  }
}

template <class S, int kRows, int kUnroll>
HWY_INLINE void BlockAt(const T* const* rows, const V (&weights)[S::points], T* const* out, std::size_t x) {
  V sums[kRows][kUnroll];
  InputRows<S, kRows, kUnroll, 0>(rows, x, weights, sums);
  for (int r = 0; r < kRows; ++r) {
    for (int u = 0; u < kUnroll; ++u) hn::StoreU(sums[r][u], D(), out[r] + x + u * kLanes);
  }
}

// Whole vectors only: rows in this layout have no partial ones.
template <class S, int kRows, int kUnroll>
void Block(const T* const* in, const T* weights, T* const* out, std::size_t begin, std::size_t end) {
  constexpr std::size_t kTable = (2 * S::rz + 1) * (2 * S::ry + kRows);
  const T* rows[kTable];
  T* to[kRows];
  for (std::size_t i = 0; i < kTable; ++i) rows[i] = in[i];
  for (int r = 0; r < kRows; ++r) to[r] = out[r];
  V broadcast[S::points];
  for (int i = 0; i < S::points; ++i) broadcast[i] = hn::Set(D(), weights[i]);
  std::size_t x = begin;
  for (; x + kUnroll * kLanes <= end; x += kUnroll * kLanes) BlockAt<S, kRows, kUnroll>(rows, broadcast, to, x);
  for (; x + kLanes <= end; x += kLanes) BlockAt<S, kRows, 1>(rows, broadcast, to, x);
}

template <class S>
SumShape<T> WithRows(std::size_t rows) {
  switch (rows) {
    case 1:
      return Block<S, 1, 4>;
    case 2:
      return Block<S, 2, 4>;
    case 4:
      return Block<S, 4, 2>;
    default:
      return nullptr;
  }
}

SumShape<T> Find(ShapeName shape, std::size_t rows) {
  switch (shape) {
    case ShapeName::line_1:
      return WithRows<Shape<0, 0, 1, true> >(rows);
    case ShapeName::star_2d_1:
      return WithRows<Shape<0, 1, 1, true> >(rows);
    case ShapeName::box_2d_1:
      return WithRows<Shape<0, 1, 1, false> >(rows);
    case ShapeName::star_2d_2:
      return WithRows<Shape<0, 2, 2, true> >(rows);
    case ShapeName::star_3d_1:
      return WithRows<Shape<1, 1, 1, true> >(rows);
    default:
      return nullptr;
  }
}

#endif

SumTerms<T> GetCompiler() { return CompilerTerms; }

}  // namespace
}  // namespace ridge::stencil::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::stencil {

HWY_EXPORT(GetLanes);
HWY_EXPORT(GetCompiler);
HWY_EXPORT(Find);

template <>
std::size_t dlt_lanes<Number>() {
  return HWY_DYNAMIC_DISPATCH(GetLanes)();
}
template <>
SumTerms<Number> dlt_compiler_kernel() {
  return HWY_DYNAMIC_DISPATCH(GetCompiler)();
}
template <>
SumShape<Number> dlt_simd_kernel(ShapeName shape, std::size_t rows) {
  return HWY_DYNAMIC_DISPATCH(Find)(shape, rows);
}

}  // namespace ridge::stencil
#endif
