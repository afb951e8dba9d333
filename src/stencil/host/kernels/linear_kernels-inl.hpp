// Row kernels of linear stencils: weighted sums over stars and boxes, unrolled at compile time, and over any list of
// rows; for one element type (Number, cmake/RidgeNumbers.cmake) and every instruction set. SVE is excluded: its vectors
// have no compile-time size, so arrays of them cannot be kept in registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/host/kernels/linear_kernels-inl.hpp"
#include "base/simd_targets.hpp"

#include <hwy/foreach_target.h>
// foreach_target must come first
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "stencil/host/kernels/lane_shift-inl.hpp"
#include "stencil/host/kernels/linear_rows.hpp"
#include "stencil/host/kernels/linear_shape.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::stencil::HWY_NAMESPACE {
namespace {  // the units for float and double define the same names
namespace hn = hwy::HWY_NAMESPACE;

using T = Number;
using D = hn::ScalableTag<T>;
using V = hn::Vec<D>;

HWY_INLINE void SumPlainly(const T* const* in, const T* weights, std::size_t count, T* out, std::size_t begin,
                           std::size_t end) {
  for (std::size_t x = begin; x < end; ++x) {
    T sum = weights[0] * in[0][x];
    for (std::size_t i = 1; i < count; ++i) sum = std::fma(weights[i], in[i][x], sum);
    out[x] = sum;
  }
}

// Without native FMA the vector unit would round differently from the definition.
#if HWY_TARGET == HWY_SCALAR || !HWY_NATIVE_FMA

template <bool kStreaming>
void Terms(const T* const* in, const T* weights, std::size_t count, T* out, std::size_t begin, std::size_t end) {
  SumPlainly(in, weights, count, out, begin, end);
}
template <bool kStreaming>
SumShape<T> ShapeWith(ShapeName, std::size_t) {
  return nullptr;
}

#else

constexpr std::size_t kLanes = hn::MaxLanes(D());  // exact: the remaining targets have fixed vector sizes

// Stores kCount adjacent vectors.
template <bool kStreaming, std::size_t kCount>
HWY_INLINE void Put(const V (&vectors)[kCount], T* to) {
  const D d;
#if HWY_ARCH_ARM_A64
  // Highway's Stream is a plain store here; the non-temporal pair store is the only such instruction.
  if constexpr (kStreaming && kCount % 2 == 0) {
    for (std::size_t u = 0; u < kCount; u += 2) {
      asm volatile("stnp %q1, %q2, [%0]"
                   :
                   : "r"(to + u * kLanes), "w"(vectors[u].raw), "w"(vectors[u + 1].raw)
                   : "memory");
    }
    return;
  }
#endif
  for (std::size_t u = 0; u < kCount; ++u) {
    if constexpr (kStreaming) {
      hn::Stream(vectors[u], d, to + u * kLanes);
    } else {
      hn::StoreU(vectors[u], d, to + u * kLanes);
    }
  }
}

// The first x from `begin` on at which stores are aligned. Only streaming stores require it, but a vector across two
// cache lines costs two accesses, and rows start on a line, so that only loads at x - 1 and x + 1 straddle lines.
HWY_INLINE std::size_t FirstAligned(const T* out, std::size_t begin) {
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(out + begin) / sizeof(T) % kLanes;
  return beyond == 0 ? begin : begin + kLanes - beyond;
}

template <bool kStreaming, std::size_t kUnroll>
HWY_INLINE void TermsAt(const T* const* in, const T* weights, std::size_t count, T* out, std::size_t x) {
  const D d;
  V sums[kUnroll];
  {
    const V weight = hn::Set(d, weights[0]);
    for (std::size_t u = 0; u < kUnroll; ++u) sums[u] = hn::Mul(weight, hn::LoadU(d, in[0] + x + u * kLanes));
  }
  for (std::size_t i = 1; i < count; ++i) {
    const V weight = hn::Set(d, weights[i]);
    const T* from = in[i] + x;
    for (std::size_t u = 0; u < kUnroll; ++u) sums[u] = hn::MulAdd(weight, hn::LoadU(d, from + u * kLanes), sums[u]);
  }
  Put<kStreaming>(sums, out + x);
}

template <bool kStreaming>
void Terms(const T* const* in, const T* weights, std::size_t count, T* out, std::size_t begin, std::size_t end) {
  constexpr std::size_t kUnroll = 8;
  // The vectors at both ends overlap the others and compute the same values again.
  if (end - begin < 2 * kLanes) return SumPlainly(in, weights, count, out, begin, end);
  TermsAt<false, 1>(in, weights, count, out, begin);
  std::size_t x = FirstAligned(out, begin);
  for (; x + kUnroll * kLanes <= end; x += kUnroll * kLanes) TermsAt<kStreaming, kUnroll>(in, weights, count, out, x);
  for (; x + kLanes <= end; x += kLanes) TermsAt<kStreaming, 1>(in, weights, count, out, x);
  if (x < end) TermsAt<false, 1>(in, weights, count, out, end - kLanes);
}

// Adds a point to the sums of all output rows from kRow on that read it.
template <class S, int kRows, int kUnroll, int kDz, int kLine, int kDx, int kRow>
HWY_INLINE void Add(const V (&values)[kUnroll], const V (&weights)[S::points], V (&sums)[kRows][kUnroll]) {
  if constexpr (kRow < kRows) {
    if constexpr (S::has(kDz, kLine - kRow, kDx)) {
      constexpr int kIndex = S::index(kDz, kLine - kRow, kDx);
      for (int u = 0; u < kUnroll; ++u) {
        sums[kRow][u] =
            kIndex == 0 ? hn::Mul(weights[kIndex], values[u]) : hn::MulAdd(weights[kIndex], values[u], sums[kRow][u]);
      }
    }
    Add<S, kRows, kUnroll, kDz, kLine, kDx, kRow + 1>(values, weights, sums);
  }
}

template <class S, int kRows>
constexpr bool Used(int dz, int line, int dx) {
  for (int r = 0; r < kRows; ++r) {
    if (S::has(dz, line - r, dx)) return true;
  }
  return false;
}

// Visits the points of a block of kRows output rows in memory order. Each point is loaded once and added to every
// output row that reads it; each sum keeps its own order. kShifted: neighbours along x are made from aligned vectors,
// including one before and one after the block.
template <class S, int kRows, int kUnroll, bool kShifted, int kPoint>
HWY_INLINE void Point(const T* const* rows, std::size_t x, const V (&weights)[S::points], V (&sums)[kRows][kUnroll]) {
  constexpr int kWidth = 2 * S::rx + 1, kHeight = 2 * S::ry + kRows;
  constexpr int kRow = kPoint / kWidth, kDx = kPoint % kWidth - S::rx;
  constexpr int kDz = kRow / kHeight - S::rz,
                kLine = kRow % kHeight - S::ry;  // output row r reads it at dy = kLine - r
  if constexpr (Used<S, kRows>(kDz, kLine, kDx)) {
    const D d;
    V values[kUnroll];
    for (int u = 0; u < kUnroll; ++u) {
      if constexpr (kShifted) {
        values[u] = LoadShifted<kDx>(d, rows[kRow] + x + u * static_cast<int>(kLanes));
      } else {
        values[u] = hn::LoadU(d, rows[kRow] + x + kDx + u * static_cast<int>(kLanes));
      }
    }
    Add<S, kRows, kUnroll, kDz, kLine, kDx, 0>(values, weights, sums);
  }
}

// Called in sequence, not nested: compile time grows with the square of the nesting depth.
template <class S, int kRows, int kUnroll, bool kShifted, int... kPoint>
HWY_INLINE void Points(const T* const* rows, std::size_t x, const V (&weights)[S::points], V (&sums)[kRows][kUnroll],
                       std::integer_sequence<int, kPoint...>) {
  (Point<S, kRows, kUnroll, kShifted, kPoint>(rows, x, weights, sums), ...);
}

template <class S, bool kStreaming, int kRows, int kUnroll, bool kShifted = false>
HWY_INLINE void BlockAt(const T* const* rows, const V (&weights)[S::points], T* const* out, std::size_t x) {
  V sums[kRows][kUnroll];
  constexpr int kPoints = (2 * S::rz + 1) * (2 * S::ry + kRows) * (2 * S::rx + 1);
  Points<S, kRows, kUnroll, kShifted>(rows, x, weights, sums, std::make_integer_sequence<int, kPoints>());
  for (int r = 0; r < kRows; ++r) Put<kStreaming>(sums[r], out[r] + x);
}

// The ends of rows, one vector at a time; the last one overlaps its neighbour and computes the same values again. Not
// inlined, so that it is compiled only once.
template <class S, int kRows>
HWY_NOINLINE void BlockEdge(const T* const* rows, const V (&weights)[S::points], T* const* out, std::size_t x,
                            std::size_t end) {
  for (; x < end; x += kLanes) BlockAt<S, false, kRows, 1>(rows, weights, out, std::min(x, end - kLanes));
}

// Rows shorter than two vectors.
template <class S, int kRows>
HWY_INLINE void BlockPlainly(const T* const* rows, const T* weights, T* const* out, std::size_t begin,
                             std::size_t end) {
  const T* points[S::points];
  for (int r = 0; r < kRows && begin < end; ++r) {
    int i = 0;
    for (int z = -S::rz; z <= S::rz; ++z) {
      for (int y = -S::ry; y <= S::ry; ++y) {
        for (int x = -S::rx; x <= S::rx; ++x) {
          if (S::has(z, y, x)) points[i++] = rows[(z + S::rz) * (2 * S::ry + kRows) + y + S::ry + r] + x;
        }
      }
    }
    SumPlainly(points, weights, S::points, out[r], begin, end);
  }
}

template <class S, bool kStreaming, int kRows, int kUnroll>
void Block(const T* const* in, const T* weights, T* const* out, std::size_t begin, std::size_t end) {
  constexpr std::size_t kTable = (2 * S::rz + 1) * (2 * S::ry + kRows);
  const T* rows[kTable];  // a local copy, so that no store can alias it
  T* to[kRows];
  for (std::size_t i = 0; i < kTable; ++i) rows[i] = in[i];
  for (int r = 0; r < kRows; ++r) to[r] = out[r];
  const D d;
  V broadcast[S::points];
  for (int i = 0; i < S::points; ++i) broadcast[i] = hn::Set(d, weights[i]);
  if (end - begin < 2 * kLanes) return BlockPlainly<S, kRows>(rows, weights, to, begin, end);
  BlockEdge<S, kRows>(rows, broadcast, to, begin, begin + kLanes);
  std::size_t x = FirstAligned(to[0], begin);  // all rows have the same alignment
  if constexpr (kLaneShifts && S::rx == 1 && S::points <= 7) {
    // Only cells that the sums read are known to exist: from one cell before the range to one cell after it.
    for (; x + kLanes <= end && x + 1 < begin + kLanes; x += kLanes)
      BlockAt<S, kStreaming, kRows, 1>(rows, broadcast, to, x);
    for (; x + (kUnroll + 1) * kLanes <= end + 1; x += kUnroll * kLanes)
      BlockAt<S, kStreaming, kRows, kUnroll, true>(rows, broadcast, to, x);
  }
  for (; x + kUnroll * kLanes <= end; x += kUnroll * kLanes)
    BlockAt<S, kStreaming, kRows, kUnroll>(rows, broadcast, to, x);
  BlockEdge<S, kRows>(rows, broadcast, to, x, end);
}

// Vectors per iteration, chosen so that sums, values and weights of the small shapes fit 16 to 32 registers.
template <class S, bool kStreaming>
SumShape<T> WithRows(std::size_t rows) {
  switch (rows) {
    case 1:
      return Block<S, kStreaming, 1, 4>;
    case 2:
      return Block<S, kStreaming, 2, 4>;
    case 4:
      return Block < S, kStreaming, 4, kLaneShifts && S::points <= 5 ? 4 : 2 > ;
    default:
      return nullptr;
  }
}

template <bool kStreaming>
SumShape<T> ShapeWith(ShapeName shape, std::size_t rows) {
  switch (shape) {
    case ShapeName::line_1:
      return WithRows<Shape<0, 0, 1, true>, kStreaming>(rows);
    case ShapeName::line_2:
      return WithRows<Shape<0, 0, 2, true>, kStreaming>(rows);
    case ShapeName::star_2d_1:
      return WithRows<Shape<0, 1, 1, true>, kStreaming>(rows);
    case ShapeName::star_2d_2:
      return WithRows<Shape<0, 2, 2, true>, kStreaming>(rows);
    case ShapeName::box_2d_1:
      return WithRows<Shape<0, 1, 1, false>, kStreaming>(rows);
    case ShapeName::star_3d_1:
      return WithRows<Shape<1, 1, 1, true>, kStreaming>(rows);
    case ShapeName::star_3d_2:
      return WithRows<Shape<2, 2, 2, true>, kStreaming>(rows);
    case ShapeName::box_3d_1:
      return WithRows<Shape<1, 1, 1, false>, kStreaming>(rows);
    case ShapeName::none:
      break;
  }
  return nullptr;
}

#endif

SumTerms<T> GetTerms(bool streaming) { return streaming ? Terms<true> : Terms<false>; }
SumShape<T> GetShape(ShapeName shape, std::size_t rows, bool streaming) {
  return streaming ? ShapeWith<true>(shape, rows) : ShapeWith<false>(shape, rows);
}

}  // namespace
}  // namespace ridge::stencil::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::stencil {

HWY_EXPORT(GetTerms);
HWY_EXPORT(GetShape);

template <>
SumTerms<Number> sum_terms(bool streaming) {
  return HWY_DYNAMIC_DISPATCH(GetTerms)(streaming);
}
template <>
SumShape<Number> sum_shape(ShapeName shape, std::size_t rows, bool streaming) {
  return HWY_DYNAMIC_DISPATCH(GetShape)(shape, rows, streaming);
}

}  // namespace ridge::stencil
#endif
