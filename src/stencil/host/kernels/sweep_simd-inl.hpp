// Kernels of overlapped-tile sweeps over linear stencils: blocks of several planes and rows of output, summed in vector
// registers; for one element type (Number, cmake/RidgeNumbers.cmake) and every instruction set. SVE is excluded: its
// vectors have no compile-time size, so arrays of them cannot be kept in registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/host/kernels/sweep_simd-inl.hpp"
#include "base/simd_targets.hpp"

#include <hwy/foreach_target.h>
// foreach_target must come first
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "stencil/host/kernels/lane_shift-inl.hpp"
#include "stencil/host/kernels/linear_shape.hpp"
#include "stencil/host/kernels/sweep_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::stencil::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using T = Number;

// Without native FMA the vector unit would round differently from the definition.
#if HWY_TARGET == HWY_SCALAR || !HWY_NATIVE_FMA

template <bool kStreaming>
SumBlock<T> Find(KnownShape, std::size_t, std::size_t) {
  return nullptr;
}

#else

using D = hn::ScalableTag<T>;
using V = hn::Vec<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));  // exact: the remaining targets have fixed vector sizes

// Order in which the sums of a block are computed. Both keep the order within each sum.
enum class Order {
  by_term,   // one term of every output row, then the next: many independent sums, no loads ahead
  by_point,  // one point of the window into every output row that reads it: each point is loaded once
};

// Calls f(0), f(1), ... with compile-time constants: GCC keeps arrays of vectors in registers only if all indices are
// constants.
template <int kCount, class F>
HWY_INLINE void Each(const F& f) {
  [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) HWY_ATTR __attribute__((always_inline)) {
    (f(std::integral_constant<int, kIndex>()), ...);
  }
  (std::make_integer_sequence<int, kCount>());
}

// Keeps the compiler from moving later loads before these sums, which would cause spills.
HWY_INLINE void KeepOrder() { asm volatile(""); }

template <class S>
struct Points {
  std::array<Offset, S::points> at{};
  constexpr Points() {
    std::size_t i = 0;
    for (int z = -S::rz; z <= S::rz; ++z) {
      for (int y = -S::ry; y <= S::ry; ++y) {
        for (int x = -S::rx; x <= S::rx; ++x) {
          if (S::has(z, y, x)) at[i++] = {z, y, x};
        }
      }
    }
  }
};

// The points that a block reads, in memory order, and the term that each is in the output rows that read it.
template <class S, int kPlanes, int kRows>
struct Window {
  static constexpr int kHeight = 2 * S::ry + kRows, kMost = S::points * kPlanes * kRows;
  int row[kMost] = {}, dx[kMost] = {}, term[kMost][kPlanes * kRows] = {}, count = 0;
  constexpr Window() {
    int next[kPlanes * kRows] = {};  // a sum's terms are in its own order too
    for (int r = 0; r < (2 * S::rz + kPlanes) * kHeight; ++r) {
      for (int x = -S::rx; x <= S::rx; ++x) {
        bool used = false;
        for (int k = 0; k < kPlanes * kRows; ++k) {
          const bool has = S::has(r / kHeight - S::rz - k / kRows, r % kHeight - S::ry - k % kRows, x);
          if (count < kMost) term[count][k] = has ? next[k]++ : -1;
          used = used || has;
        }
        if (!used) continue;
        row[count] = r;
        dx[count++] = x;
      }
    }
  }
};

// Adjacent vectors. One function for all terms and rows: a lambda per term would be a separate type and dominate the
// compile time.
template <int kUnroll>
struct Side {
  template <class F>
  static HWY_INLINE void Every(const F& f) {
    Each<kUnroll>(f);
  }
  static HWY_INLINE void Load(const T* from, V (&values)[kUnroll]) {
    Every([&](auto u) HWY_ATTR __attribute__((always_inline)) { values[u] = hn::LoadU(D(), from + u * kLanes); });
  }
  template <int kDx>
  static HWY_INLINE void LoadNeighbours(const T* from, V (&values)[kUnroll]) {
    Every([&](auto u) HWY_ATTR
          __attribute__((always_inline)) { values[u] = LoadShifted<kDx>(D(), from + u * kLanes); });
  }
  static HWY_INLINE void First(V weight, const V (&values)[kUnroll], V (&sums)[kUnroll]) {
    Every([&](auto u) HWY_ATTR __attribute__((always_inline)) { sums[u] = hn::Mul(weight, values[u]); });
  }
  static HWY_INLINE void Add(V weight, const V (&values)[kUnroll], V (&sums)[kUnroll]) {
    Every([&](auto u) HWY_ATTR __attribute__((always_inline)) { sums[u] = hn::MulAdd(weight, values[u], sums[u]); });
  }
  template <bool kStreaming>
  static HWY_INLINE void Store(const V (&sums)[kUnroll], T* to) {
    Every([&](auto u) HWY_ATTR __attribute__((always_inline)) {
      if constexpr (kStreaming) {
        hn::Stream(sums[u], D(), to + u * kLanes);
      } else {
        hn::StoreU(sums[u], D(), to + u * kLanes);
      }
    });
  }
};

template <class S, int kPlanes, int kRows, int kUnroll>
HWY_INLINE void SumByTerm(const T* const* rows, const V* weights, std::ptrdiff_t x,
                          V (&sums)[kPlanes * kRows][kUnroll]) {
  static constexpr Points<S> kPoints;
  constexpr int kHeight = 2 * S::ry + kRows;
  Each<S::points>([&](auto t) HWY_ATTR __attribute__((always_inline)) {
    Each<kPlanes * kRows>([&](auto k) HWY_ATTR __attribute__((always_inline)) {
      constexpr int kDx = kPoints.at[t][2];
      constexpr int kRow = (k / kRows + S::rz + kPoints.at[t][0]) * kHeight + k % kRows + S::ry + kPoints.at[t][1];
      V values[kUnroll];
      Side<kUnroll>::Load(rows[kRow] + x + kDx, values);
      if constexpr (t == 0) {
        Side<kUnroll>::First(weights[t], values, sums[k]);
      } else {
        Side<kUnroll>::Add(weights[t], values, sums[k]);
      }
    });
    KeepOrder();
  });
}

// kShifted: neighbours along x are made from aligned vectors, including one before and one after the block.
template <class S, int kPlanes, int kRows, int kUnroll, bool kShifted>
HWY_INLINE void SumByPoint(const T* const* rows, const V* weights, std::ptrdiff_t x,
                           V (&sums)[kPlanes * kRows][kUnroll]) {
  static constexpr Window<S, kPlanes, kRows> kWindow;
  Each<kWindow.count>([&](auto i) HWY_ATTR __attribute__((always_inline)) {
    constexpr int kRow = kWindow.row[i], kDx = kWindow.dx[i];
    V values[kUnroll];
    if constexpr (kShifted) {
      Side<kUnroll>::template LoadNeighbours<kDx>(rows[kRow] + x, values);
    } else {
      Side<kUnroll>::Load(rows[kRow] + x + kDx, values);
    }
    Each<kPlanes * kRows>([&](auto k) HWY_ATTR __attribute__((always_inline)) {
      constexpr int kTerm = kWindow.term[i][k];
      if constexpr (kTerm == 0) {
        Side<kUnroll>::First(weights[0], values, sums[k]);
      } else if constexpr (kTerm > 0) {
        Side<kUnroll>::Add(weights[kTerm], values, sums[k]);
      }
    });
    KeepOrder();
  });
}

template <class S, int kPlanes, int kRows, int kUnroll, Order kOrder, bool kStreaming, bool kShifted = false>
HWY_INLINE void SumAt(const T* const* rows, const V* weights, T* const* out, std::ptrdiff_t x) {
  V sums[kPlanes * kRows][kUnroll];
  if constexpr (kOrder == Order::by_term) {
    SumByTerm<S, kPlanes, kRows, kUnroll>(rows, weights, x, sums);
  } else {
    SumByPoint<S, kPlanes, kRows, kUnroll, kShifted>(rows, weights, x, sums);
  }
  Each<kPlanes * kRows>([&](auto k) HWY_ATTR __attribute__((always_inline)) {
    Side<kUnroll>::template Store<kStreaming>(sums[k], out[k] + x);
  });
}

template <class S>
constexpr bool kSmallStar = S::points <= 7 && S::rx == 1;

// Ranges narrower than a vector.
template <class S, int kPlanes, int kRows>
HWY_NOINLINE void SumPlainly(const T* const* rows, const T* weights, T* const* out, std::ptrdiff_t begin,
                             std::ptrdiff_t end) {
  static constexpr Points<S> kPoints;
  for (int k = 0; k < kPlanes * kRows; ++k) {
    for (std::ptrdiff_t x = begin; x < end; ++x) {
      T sum{};
      for (int t = 0; t < S::points; ++t) {
        const Offset& at = kPoints.at[static_cast<std::size_t>(t)];
        const T value = rows[(k / kRows + S::rz + at[0]) * (2 * S::ry + kRows) + k % kRows + S::ry + at[1]][x + at[2]];
        sum = t == 0 ? weights[0] * value : std::fma(weights[t], value, sum);
      }
      out[k][x] = sum;
    }
  }
}

template <class S, int kPlanes, int kRows, int kUnroll, Order kOrder, bool kStreaming>
void Block(const T* const* in, const T* weights, T* const* out, std::size_t from, std::size_t to, const T* ahead,
           std::size_t ahead_lines) {
  constexpr int kTable = (2 * S::rz + kPlanes) * (2 * S::ry + kRows);
  const T* rows[kTable];  // a local copy, so that no store can alias it
  T* target[kPlanes * kRows];
  for (int i = 0; i < kTable; ++i) rows[i] = in[i];
  for (int k = 0; k < kPlanes * kRows; ++k) target[k] = out[k];
  std::ptrdiff_t x = static_cast<std::ptrdiff_t>(from);
  const std::ptrdiff_t end = static_cast<std::ptrdiff_t>(to);
  if (end - x < kLanes) return SumPlainly<S, kPlanes, kRows>(rows, weights, target, x, end);
  const D d;
  V broadcast[S::points];
  Each<S::points>([&](auto t) HWY_ATTR __attribute__((always_inline)) { broadcast[t] = hn::Set(d, weights[t]); });
  // The first vector, up to an aligned position, and the last one overlap their neighbours and compute the same values
  // again.
  const auto beyond = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(target[0] + x) / sizeof(T) % kLanes);
  if (beyond != 0) {
    SumAt<S, kPlanes, kRows, 1, kOrder, false>(rows, broadcast, target, x);
    x += kLanes - beyond;
  }
  const std::size_t turns = static_cast<std::size_t>(end - x) / (kUnroll * kLanes) + 1;
  std::size_t due = 0;
  const auto fetch = [&]() HWY_ATTR __attribute__((always_inline)) {
    for (due += ahead_lines; due >= turns; due -= turns) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += 64 / sizeof(T);
    }
  };
  if constexpr (kLaneShifts && kSmallStar<S> && kOrder == Order::by_point) {
    // Only cells that the sums read are known to exist: from one cell before the range to one cell after it.
    for (; x + kLanes <= end && x - kLanes < static_cast<std::ptrdiff_t>(from) - 1; x += kLanes)
      SumAt<S, kPlanes, kRows, 1, kOrder, kStreaming>(rows, broadcast, target, x);
    for (; x + (kUnroll + 1) * kLanes <= end + 1; x += kUnroll * kLanes) {
      fetch();
      SumAt<S, kPlanes, kRows, kUnroll, kOrder, kStreaming, true>(rows, broadcast, target, x);
    }
  }
  for (; x + kUnroll * kLanes <= end; x += kUnroll * kLanes) {
    fetch();
    SumAt<S, kPlanes, kRows, kUnroll, kOrder, kStreaming>(rows, broadcast, target, x);
  }
  for (; x + kLanes <= end; x += kLanes) SumAt<S, kPlanes, kRows, 1, kOrder, kStreaming>(rows, broadcast, target, x);
  if (x < end) SumAt<S, kPlanes, kRows, 1, kOrder, false>(rows, broadcast, target, end - kLanes);
}

// Vectors per iteration, by measurement (docs/design/stencil-host.md): enough independent sums hide the FMA latency,
// and with the weights they fit the registers.
constexpr int kRegisters = HWY_ARCH_X86 && kLanes * sizeof(T) < 64 ? 16 : 32;

template <class S, int kPlanes, int kRows, bool kStreaming>
SumBlock<T> Chosen() {
  constexpr int kSums = kPlanes * kRows;
  constexpr int kMost = kRegisters == 16 ? 8 : 16;
  constexpr bool kWide = HWY_ARCH_ARM ? kSmallStar<S> || S::points <= 9 : kLaneShifts && kSmallStar<S> && S::rz == 0;
  constexpr int kUnroll = kSums >= 4 ? (kWide ? kMost / kSums : 2) : (kSums == 1 ? 8 : 4) * kMost / 16;
  constexpr Order kOrder = HWY_ARCH_ARM && kSmallStar<S> ? Order::by_term : Order::by_point;
  return Block<S, kPlanes, kRows, kUnroll, kOrder, kStreaming>;
}

template <class S, bool kStreaming>
SumBlock<T> WithRows(std::size_t planes, std::size_t rows) {
  if (planes == 1 && rows == 1) return Chosen<S, 1, 1, kStreaming>();
  if constexpr (S::ry > 0) {
    if (planes == 1 && rows == 4) return Chosen<S, 1, 4, kStreaming>();
  }
  if constexpr (S::rz == 1) {
    if (planes == 2 && rows == 2) return Chosen<S, 2, 2, kStreaming>();
    if (planes == 2 && rows == 1) return Chosen<S, 2, 1, kStreaming>();
  }
  return nullptr;
}

template <bool kStreaming>
SumBlock<T> Find(KnownShape shape, std::size_t planes, std::size_t rows) {
  switch (shape) {
    case KnownShape::line_1:
      return WithRows<Shape<0, 0, 1, true>, kStreaming>(planes, rows);
    case KnownShape::line_2:
      return WithRows<Shape<0, 0, 2, true>, kStreaming>(planes, rows);
    case KnownShape::star_2d_1:
      return WithRows<Shape<0, 1, 1, true>, kStreaming>(planes, rows);
    case KnownShape::star_2d_2:
      return WithRows<Shape<0, 2, 2, true>, kStreaming>(planes, rows);
    case KnownShape::star_2d_4:
      return WithRows<Shape<0, 4, 4, true>, kStreaming>(planes, rows);
    case KnownShape::box_2d_1:
      return WithRows<Shape<0, 1, 1, false>, kStreaming>(planes, rows);
    case KnownShape::star_3d_1:
      return WithRows<Shape<1, 1, 1, true>, kStreaming>(planes, rows);
    case KnownShape::star_3d_2:
      return WithRows<Shape<2, 2, 2, true>, kStreaming>(planes, rows);
    case KnownShape::star_3d_3:
      return WithRows<Shape<3, 3, 3, true>, kStreaming>(planes, rows);
    case KnownShape::star_3d_4:
      return WithRows<Shape<4, 4, 4, true>, kStreaming>(planes, rows);
    case KnownShape::box_3d_1:
      return WithRows<Shape<1, 1, 1, false>, kStreaming>(planes, rows);
    case KnownShape::none:
      break;
  }
  return nullptr;
}

#endif

SumBlock<T> GetBlock(KnownShape shape, std::size_t planes, std::size_t rows, bool streaming) {
  constexpr bool kStreams = HWY_ARCH_X86;  // Highway's Stream is a plain store on other architectures
  return streaming ? Find<kStreams>(shape, planes, rows) : Find<false>(shape, planes, rows);
}

std::size_t VectorCells() { return hn::MaxLanes(hn::ScalableTag<T>()); }

}  // namespace
}  // namespace ridge::stencil::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::stencil {

HWY_EXPORT(GetBlock);
HWY_EXPORT(VectorCells);

template <>
SumBlock<Number> sweep_sum(KnownShape shape, std::size_t planes, std::size_t rows, bool streaming) {
  return HWY_DYNAMIC_DISPATCH(GetBlock)(shape, planes, rows, streaming);
}
template <>
std::size_t sweep_vector<Number>() {
  return HWY_DYNAMIC_DISPATCH(VectorCells)();
}

}  // namespace ridge::stencil
#endif
