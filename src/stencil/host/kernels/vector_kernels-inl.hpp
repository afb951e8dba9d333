// Loops of vector programs: element-wise operations, weighted sums, products of sums and the star kernels of waves; for
// one element type (Number, cmake/RidgeNumbers.cmake) and every instruction set. SVE is excluded: arrays of its vectors
// cannot be kept in registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/host/kernels/vector_kernels-inl.hpp"
#include "base/simd_targets.hpp"

#include <hwy/foreach_target.h>
// foreach_target must come first
#include <hwy/highway.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "stencil/host/kernels/vector_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::stencil::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using T = Number;
using D = hn::ScalableTag<T>;
using V = hn::Vec<D>;

HWY_INLINE V Fused(V a, V b, V c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#else
  // A single rounding on every instruction set, even if slow.
  const D d;
  T p[hn::MaxLanes(D())], q[hn::MaxLanes(D())], r[hn::MaxLanes(D())];
  hn::StoreU(a, d, p);
  hn::StoreU(b, d, q);
  hn::StoreU(c, d, r);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) r[i] = std::fma(p[i], q[i], r[i]);
  return hn::LoadU(d, r);
#endif
}

constexpr std::size_t kLanes = hn::MaxLanes(D());  // exact: the remaining targets have fixed vector sizes

// Loads fewer cells than a vector holds.
HWY_INLINE V LoadFew(const T* from, std::size_t count) {
#if !HWY_MEM_OPS_MIGHT_FAULT
  return hn::MaskedLoad(hn::FirstN(D(), count), D(), from);
#else
  T few[kLanes] = {};
  for (std::size_t i = 0; i < count; ++i) few[i] = from[i];
  return hn::LoadU(D(), few);
#endif
}
HWY_INLINE void StoreFew(V vector, T* to, std::size_t count) {
#if !HWY_MEM_OPS_MIGHT_FAULT
  hn::BlendedStore(vector, hn::FirstN(D(), count), D(), to);
#else
  T few[kLanes];
  hn::StoreU(vector, D(), few);
  for (std::size_t i = 0; i < count; ++i) to[i] = few[i];
#endif
}

template <class F>
HWY_INLINE void Each(const T* a, const T* b, const T* c, T* out, std::size_t count, const F& f) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t x = 0;
  for (; x + lanes <= count; x += lanes)
    hn::StoreU(f(hn::LoadU(d, a + x), hn::LoadU(d, b + x), hn::LoadU(d, c + x)), d, out + x);
  if (x < count) {
    const std::size_t left = count - x;
    StoreFew(f(LoadFew(a + x, left), LoadFew(b + x, left), LoadFew(c + x, left)), out + x, left);
  }
}

void Apply(VectorWord word, const T* a, const T* b, const T* c, T* out, std::size_t count) {
  const D d;
  switch (word) {
    case VectorWord::add:
      return Each(a, b, b, out, count, [](V p, V q, V) HWY_ATTR { return hn::Add(p, q); });
    case VectorWord::subtract:
      return Each(a, b, b, out, count, [](V p, V q, V) HWY_ATTR { return hn::Sub(p, q); });
    case VectorWord::multiply:
      return Each(a, b, b, out, count, [](V p, V q, V) HWY_ATTR { return hn::Mul(p, q); });
    case VectorWord::divide:
      return Each(a, b, b, out, count, [](V p, V q, V) HWY_ATTR { return hn::Div(p, q); });
    case VectorWord::multiply_add:
      return Each(a, b, c, out, count, [](V p, V q, V r) HWY_ATTR { return Fused(p, q, r); });
    case VectorWord::multiply_subtract:
      return Each(a, b, c, out, count, [](V p, V q, V r) HWY_ATTR { return Fused(p, q, hn::Neg(r)); });
    case VectorWord::negative_multiply_add:
      return Each(a, b, c, out, count, [](V p, V q, V r) HWY_ATTR { return Fused(hn::Neg(p), q, r); });
    case VectorWord::minimum:
      return Each(a, b, b, out, count, [](V p, V q, V) HWY_ATTR { return hn::IfThenElse(hn::Lt(q, p), q, p); });
    case VectorWord::maximum:
      return Each(a, b, b, out, count, [](V p, V q, V) HWY_ATTR { return hn::IfThenElse(hn::Lt(p, q), q, p); });
    case VectorWord::absolute:
      return Each(a, a, a, out, count, [](V p, V, V) HWY_ATTR { return hn::Abs(p); });
    case VectorWord::square_root:
      return Each(a, a, a, out, count, [](V p, V, V) HWY_ATTR { return hn::Sqrt(p); });
    case VectorWord::negate:
      return Each(a, a, a, out, count, [](V p, V, V) HWY_ATTR { return hn::Neg(p); });
    case VectorWord::less:
      return Each(a, b, b, out, count, [d](V p, V q, V) HWY_ATTR { return hn::VecFromMask(d, hn::Lt(p, q)); });
    case VectorWord::less_equal:
      return Each(a, b, b, out, count, [d](V p, V q, V) HWY_ATTR { return hn::VecFromMask(d, hn::Le(p, q)); });
    case VectorWord::equal:
      return Each(a, b, b, out, count, [d](V p, V q, V) HWY_ATTR { return hn::VecFromMask(d, hn::Eq(p, q)); });
    case VectorWord::both:
      return Each(a, b, b, out, count, [](V p, V q, V) HWY_ATTR { return hn::And(p, q); });
    case VectorWord::either:
      return Each(a, b, b, out, count, [](V p, V q, V) HWY_ATTR { return hn::Or(p, q); });
    case VectorWord::opposite:
      return Each(a, a, a, out, count, [](V p, V, V) HWY_ATTR { return hn::Not(p); });
    case VectorWord::select:
      return Each(a, b, c, out, count, [](V p, V q, V r) HWY_ATTR { return hn::IfThenElse(hn::MaskFromVec(p), q, r); });
    case VectorWord::copy:
      return Each(a, a, a, out, count, [](V p, V, V) HWY_ATTR { return p; });
  }
}

template <std::size_t kUnroll>
HWY_INLINE void SumAt(const T* const* in, const T* weights, std::size_t count, T constant, T* out, std::size_t x) {
  const D d;
  V sums[kUnroll];
  for (std::size_t u = 0; u < kUnroll; ++u) sums[u] = hn::Set(d, constant);
  for (std::size_t i = 0; i < count; ++i) {
    const V weight = hn::Set(d, weights[i]);
    const T* from = in[i] + x;
    for (std::size_t u = 0; u < kUnroll; ++u) sums[u] = Fused(weight, hn::LoadU(d, from + u * kLanes), sums[u]);
  }
  for (std::size_t u = 0; u < kUnroll; ++u) hn::StoreU(sums[u], d, out + x + u * kLanes);
}

void Sum(const T* const* in, const T* weights, std::size_t count, T constant, T* out, std::size_t begin,
         std::size_t end, bool again) {
  const D d;
  const auto part = [&](std::size_t from, std::size_t left) HWY_ATTR {
    V sum = hn::Set(d, constant);
    for (std::size_t i = 0; i < count; ++i) sum = Fused(hn::Set(d, weights[i]), LoadFew(in[i] + from, left), sum);
    StoreFew(sum, out + from, left);
  };
  std::size_t x = begin;
  // Up to an aligned store position: a vector across two cache lines costs two accesses.
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(out + begin) / sizeof(T) % kLanes;
  if (beyond != 0 && begin + kLanes <= end && !again) {
    part(x, kLanes - beyond);
    x += kLanes - beyond;
  }
  // Fewer vectors at once would wait for the latency of their own sums.
  for (; x + 8 * kLanes <= end; x += 8 * kLanes) SumAt<8>(in, weights, count, constant, out, x);
  for (; x + 4 * kLanes <= end; x += 4 * kLanes) SumAt<4>(in, weights, count, constant, out, x);
  for (; x + 2 * kLanes <= end; x += 2 * kLanes) SumAt<2>(in, weights, count, constant, out, x);
  for (; x + kLanes <= end; x += kLanes) SumAt<1>(in, weights, count, constant, out, x);
  if (x == end) return;
  if (again && begin + kLanes <= end) {
    SumAt<1>(in, weights, count, constant, out, end - kLanes);
  } else {
    part(x, end - x);
  }
}

// Adds row i of the input, times its weights, to the sums of the output rows kFirst to kEnd - 1 of a block.
template <std::size_t kFirst, std::size_t kEnd, std::size_t kUnroll>
HWY_INLINE void RowAcross(const T* const* in, const T* weights, std::size_t i, std::size_t x,
                          V (&sums)[kBlockRows][kUnroll]) {
  const D d;
  const T* const from = in[i] + x;
  V values[kUnroll];
  for (std::size_t u = 0; u < kUnroll; ++u) values[u] = hn::LoadU(d, from + u * kLanes);
  for (std::size_t r = kFirst; r < kEnd; ++r) {
    const V weight = hn::Set(d, weights[i - r]);
    for (std::size_t u = 0; u < kUnroll; ++u) sums[r][u] = Fused(weight, values[u], sums[r][u]);
  }
}

static_assert(kBlockRows == 4);
template <std::size_t kUnroll>
HWY_INLINE void Across(const T* const* in, std::size_t count, const T* weights, std::size_t x,
                       V (&sums)[kBlockRows][kUnroll]) {
  if (count == 3) {
    RowAcross<0, 1>(in, weights, 0, x, sums);
    RowAcross<0, 2>(in, weights, 1, x, sums);
    RowAcross<0, 3>(in, weights, 2, x, sums);
    RowAcross<1, 4>(in, weights, 3, x, sums);
    RowAcross<2, 4>(in, weights, 4, x, sums);
    RowAcross<3, 4>(in, weights, 5, x, sums);
    return;
  }
  if (count == 2) {
    RowAcross<0, 1>(in, weights, 0, x, sums);
    RowAcross<0, 2>(in, weights, 1, x, sums);
    RowAcross<1, 3>(in, weights, 2, x, sums);
    RowAcross<2, 4>(in, weights, 3, x, sums);
    RowAcross<3, 4>(in, weights, 4, x, sums);
    return;
  }
  RowAcross<0, 1>(in, weights, 0, x, sums);
  RowAcross<0, 2>(in, weights, 1, x, sums);
  RowAcross<0, 3>(in, weights, 2, x, sums);
  for (std::size_t i = 3; i < count; ++i) RowAcross<0, 4>(in, weights, i, x, sums);
  RowAcross<1, 4>(in, weights, count, x, sums);
  RowAcross<2, 4>(in, weights, count + 1, x, sums);
  RowAcross<3, 4>(in, weights, count + 2, x, sums);
}

template <std::size_t kUnroll>
HWY_INLINE void SumsOfRows(const RowsProduct<T>::Part& part, std::size_t x, V (&sums)[kBlockRows][kUnroll]) {
  const D d;
  for (std::size_t r = 0; r < kBlockRows; ++r) {
    for (std::size_t u = 0; u < kUnroll; ++u) sums[r][u] = hn::Set(d, part.constant);
  }
  const T* const* in = part.in;
  const T* weights = part.weights;
  for (std::size_t i = 0; i < part.run_count; ++i) {
    const std::size_t count = part.runs[i].count;
    if (part.runs[i].across) {
      Across(in, count, weights, x, sums);
      in += count + kBlockRows - 1;
    } else {
      const T* from[kBlockRows];
      for (std::size_t r = 0; r < kBlockRows; ++r) from[r] = in[r] + x;
      for (std::size_t k = 0; k < count; ++k) {
        const V weight = hn::Set(d, weights[k]);
        for (std::size_t r = 0; r < kBlockRows; ++r) {
          for (std::size_t u = 0; u < kUnroll; ++u)
            sums[r][u] = Fused(weight, hn::LoadU(d, from[r] + k + u * kLanes), sums[r][u]);
        }
      }
      in += kBlockRows;
    }
    weights += count;
  }
}

// Sum of one row; `load` reads a vector at a row's cell.
template <std::size_t kUnroll, class Load>
HWY_INLINE void SumOfRow(const RowsProduct<T>::Part& part, std::size_t r, const Load& load, V (&sums)[kUnroll]) {
  const D d;
  for (std::size_t u = 0; u < kUnroll; ++u) sums[u] = hn::Set(d, part.constant);
  const T* const* in = part.in;
  const T* weight = part.weights;
  for (std::size_t i = 0; i < part.run_count; ++i) {
    for (std::size_t k = 0; k < part.runs[i].count; ++k) {
      const T* const row = part.runs[i].across ? in[r + k] : in[r] + k;
      const V factor = hn::Set(d, *weight++);
      for (std::size_t u = 0; u < kUnroll; ++u) sums[u] = Fused(factor, load(row + u * kLanes), sums[u]);
    }
    in += part.runs[i].across ? part.runs[i].count + kBlockRows - 1 : kBlockRows;
  }
}

template <std::size_t kUnroll>
HWY_INLINE void RowsAt(const RowsProduct<T>& product, T* const* out, std::size_t x) {
  const D d;
  V sums[kBlockRows][kUnroll];
  SumsOfRows(product.sum, x, sums);
  for (std::size_t r = 0; r < kBlockRows; ++r) {
    if (product.factors != nullptr) {
      V more[kUnroll];
      SumOfRow(
          product.more, r, [x](const T* row) HWY_ATTR { return hn::LoadU(D(), row + x); }, more);
      for (std::size_t u = 0; u < kUnroll; ++u)
        sums[r][u] = Fused(hn::LoadU(d, product.factors[r] + x + u * kLanes), sums[r][u], more[u]);
    }
    for (std::size_t u = 0; u < kUnroll; ++u) hn::StoreU(sums[r][u], d, out[r] + x + u * kLanes);
  }
  for (std::size_t i = 0; i < product.ahead_count; ++i) {
    for (std::size_t at = 0; at < kUnroll * kLanes; at += 64 / sizeof(T))
      __builtin_prefetch(product.ahead[i] + x + at, 0, 2);
  }
}

// The remaining cells, fewer than a vector, one row at a time.
HWY_NOINLINE void RowsPart(const RowsProduct<T>& product, T* const* out, std::size_t x, std::size_t left) {
  const auto load = [x, left](const T* row) HWY_ATTR { return LoadFew(row + x, left); };
  for (std::size_t r = 0; r < kBlockRows; ++r) {
    V sum[1], more[1];
    SumOfRow(product.sum, r, load, sum);
    if (product.factors != nullptr) {
      SumOfRow(product.more, r, load, more);
      sum[0] = Fused(load(product.factors[r]), sum[0], more[0]);
    }
    StoreFew(sum[0], out[r] + x, left);
  }
}

void Rows(const RowsProduct<T>& product, T* const* out, std::size_t count, bool again) {
  // As many sums as leave registers for values and weights.
  constexpr std::size_t kUnroll = HWY_TARGET == HWY_AVX2 ? 2 : 4;
  std::size_t x = 0;
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(out[0]) / sizeof(T) % kLanes;
  if (beyond != 0 && kLanes <= count && !again) {
    x = kLanes - beyond;
    RowsPart(product, out, 0, x);
  }
  for (; x + kUnroll * kLanes <= count; x += kUnroll * kLanes) RowsAt<kUnroll>(product, out, x);
  for (; x + kLanes <= count; x += kLanes) RowsAt<1>(product, out, x);
  if (x == count) return;
  if (again && kLanes <= count) {
    RowsAt<1>(product, out, count - kLanes);
  } else {
    RowsPart(product, out, x, count - x);
  }
}

constexpr std::size_t kMostProducts = HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3 ? 4 : 8;  // with 16 registers, or 32

template <std::size_t kUnroll>
HWY_INLINE void SumPart(const SumProduct<T>::Part& part, std::size_t x, V (&sums)[kUnroll]) {
  const D d;
  for (std::size_t u = 0; u < kUnroll; ++u) sums[u] = hn::Set(d, part.constant);
  for (std::size_t i = 0; i < part.count; ++i) {
    const V weight = hn::Set(d, part.weights[i]);
    const T* from = part.in[i] + x;
    for (std::size_t u = 0; u < kUnroll; ++u) sums[u] = Fused(weight, hn::LoadU(d, from + u * kLanes), sums[u]);
  }
}
template <std::size_t kUnroll>
HWY_INLINE void ProductAt(const SumProduct<T>& product, T* out, std::size_t x) {
  const D d;
  V sums[kUnroll], more[kUnroll];
  SumPart(product.sum, x, sums);
  SumPart(product.more, x, more);
  for (std::size_t u = 0; u < kUnroll; ++u) {
    const std::size_t at = x + u * kLanes;
    hn::StoreU(Fused(hn::LoadU(d, product.factor + at), sums[u], more[u]), d, out + at);
  }
  for (std::size_t r = 0; r < product.ahead_count; ++r) {
    for (std::size_t at = 0; at < kUnroll * kLanes; at += 64 / sizeof(T))
      __builtin_prefetch(product.ahead[r] + x + at, 0, 2);
  }
}
HWY_INLINE void ProductPart(const SumProduct<T>& product, T* out, std::size_t x, std::size_t left) {
  const D d;
  const auto sum = [&](const SumProduct<T>::Part& part) HWY_ATTR {
    V all = hn::Set(d, part.constant);
    for (std::size_t i = 0; i < part.count; ++i)
      all = Fused(hn::Set(d, part.weights[i]), LoadFew(part.in[i] + x, left), all);
    return all;
  };
  StoreFew(Fused(LoadFew(product.factor + x, left), sum(product.sum), sum(product.more)), out + x, left);
}
template <std::size_t kVectors>
HWY_INLINE std::size_t LastProducts(const SumProduct<T>& product, T* out, std::size_t x, std::size_t vectors) {
  if constexpr (kVectors > 0) {
    if (vectors < kVectors) return LastProducts<kVectors - 1>(product, out, x, vectors);
    ProductAt<kVectors>(product, out, x);
  }
  return x + kVectors * kLanes;
}
void Product(const SumProduct<T>& product, T* out, std::size_t count) {
  std::size_t x = 0;
  // On x86 vectors are as long as cache lines: stores, and most loads, should not straddle two.
  const std::size_t beyond = HWY_ARCH_X86 ? reinterpret_cast<std::uintptr_t>(out) / sizeof(T) % kLanes : 0;
  if (beyond != 0 && count > kLanes) {
    x = kLanes - beyond;
    ProductPart(product, out, 0, x);
  }
  for (; x + kMostProducts * kLanes <= count; x += kMostProducts * kLanes) ProductAt<kMostProducts>(product, out, x);
  x = LastProducts<kMostProducts - 1>(product, out, x, (count - x) / kLanes);
  if (x < count) ProductPart(product, out, x, count - x);
}

#if HWY_ARCH_X86 && HWY_NATIVE_FMA

template <std::size_t R>
struct StarWeights {
  V center, own, older, across[R], beside[R], along[R];
};

template <std::size_t R, bool kBeside, std::size_t kMedia, std::size_t kRows>
HWY_INLINE void StarAt(const StarWeights<R>& w, const StarRows<T>& rows, std::size_t x, std::size_t begin,
                       std::size_t end) {
  constexpr std::ptrdiff_t kReach = R, kCount = kRows;
  const D d;
  // The rest of a vector at a row's end may be written by another thread.
  const bool whole = x >= begin && x + kLanes <= end;
  const auto some = hn::AndNot(hn::FirstN(d, begin > x ? begin - x : 0), hn::FirstN(d, end - x));
  V sums[kRows];
  HWY_UNROLL(4)
  for (std::size_t r = 0; r < kRows; ++r) sums[r] = hn::Zero(d);
  HWY_UNROLL(12)
  for (std::ptrdiff_t i = -kReach; i < kCount + kReach; ++i) {
    const V cell = hn::LoadU(d, (kRows == 1 ? rows.across[i + kReach] : rows.in + i * rows.plane) + x);
    HWY_UNROLL(4)
    for (std::ptrdiff_t r = 0; r < kCount; ++r) {
      const std::ptrdiff_t distance = i < r ? r - i : i - r;
      if (distance > kReach) continue;
      sums[r] = Fused(distance == 0 ? w.center : w.across[distance == 0 ? 0 : distance - 1], cell, sums[r]);
    }
  }
  HWY_UNROLL(4)
  for (std::ptrdiff_t r = 0; r < kCount; ++r) {
    const T* const row = (kRows == 1 ? rows.across[kReach] : rows.in + r * rows.plane) + x;
    HWY_UNROLL(4)
    for (std::ptrdiff_t k = 1; k <= kReach; ++k) {
      sums[r] = Fused(w.along[k - 1], hn::Add(hn::LoadU(d, row - k), hn::LoadU(d, row + k)), sums[r]);
      if (!kBeside) continue;
      const T* const before = kRows == 1 ? rows.beside[kReach - k] + x : row - k * rows.pitch;
      const T* const behind = kRows == 1 ? rows.beside[kReach + k] + x : row + k * rows.pitch;
      sums[r] = Fused(w.beside[k - 1], hn::Add(hn::LoadU(d, before), hn::LoadU(d, behind)), sums[r]);
    }
    T* const out = rows.out + r * rows.plane + x;
    const V old = whole ? hn::LoadU(d, out) : hn::MaskedLoad(some, d, out);
    V result = hn::Mul(w.older, old);
    if constexpr (kMedia == 0) {
      result = hn::Add(sums[r], result);
    } else {
      const V more = Fused(w.own, hn::LoadU(d, row), result);
      result = Fused(hn::LoadU(d, rows.media[0] + r * rows.plane + x), sums[r], more);
      if constexpr (kMedia > 1) result = Fused(hn::LoadU(d, rows.media[1] + r * rows.plane + x), result, old);
    }
    if (whole) {
      hn::StoreU(result, d, out);
    } else {
      hn::BlendedStore(result, some, d, out);
    }
    for (const T* const next : rows.ahead) {
      if (next != nullptr) __builtin_prefetch(next + r * rows.plane + x, 0, 2);
    }
  }
}

template <std::size_t R, bool kBeside, std::size_t kMedia, std::size_t kRows>
void StarLoop(const Star<T>& star, const StarRows<T>& given, std::size_t begin, std::size_t end) {
  const D d;
  const StarRows<T> rows = given;  // a local copy: stores do not alias it
  StarWeights<R> w{hn::Set(d, star.center), hn::Set(d, star.own), hn::Set(d, star.older), {}, {}, {}};
  HWY_UNROLL(4)
  for (std::size_t k = 0; k < R; ++k) {
    w.across[k] = hn::Set(d, star.across_weights[k]);
    w.beside[k] = hn::Set(d, star.beside_weights[k]);
    w.along[k] = hn::Set(d, star.along_weights[k]);
  }
  for (std::size_t x = begin / kLanes * kLanes; x < end; x += kLanes)
    StarAt<R, kBeside, kMedia, kRows>(w, rows, x, begin, end);
}

template <std::size_t R, std::size_t kRows>
void StarOf(const Star<T>& star, const StarRows<T>& rows, std::size_t begin, std::size_t end) {
  static constexpr VectorKernels<T>::OfStar kLoops[2][kMostMedia + 1] = {
      {StarLoop<R, false, 0, kRows>, StarLoop<R, false, 1, kRows>, StarLoop<R, false, 2, kRows>},
      {StarLoop<R, true, 0, kRows>, StarLoop<R, true, 1, kRows>, StarLoop<R, true, 2, kRows>}};
  kLoops[star.beside ? 1 : 0][star.media](star, rows, begin, end);
}

template <std::size_t kRows>
void StarBy(const Star<T>& star, const StarRows<T>& rows, std::size_t begin, std::size_t end) {
  static_assert(kMostRadius == 4);
  switch (star.radius) {
    case 1:
      return StarOf<1, kRows>(star, rows, begin, end);
    case 2:
      return StarOf<2, kRows>(star, rows, begin, end);
    case 3:
      return StarOf<3, kRows>(star, rows, begin, end);
    default:
      return StarOf<4, kRows>(star, rows, begin, end);
  }
}
constexpr VectorKernels<T>::OfStar kStarBlock = StarBy<kBlockRows>, kStarRow = StarBy<1>;

#else
constexpr VectorKernels<T>::OfStar kStarBlock = nullptr, kStarRow = nullptr;
#endif

const VectorKernels<T>& Kernels() {
  static constexpr VectorKernels<T> kKernels{Apply, Sum, Rows, Product, kStarBlock, kStarRow};
  return kKernels;
}

}  // namespace
}  // namespace ridge::stencil::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::stencil {

HWY_EXPORT(Kernels);

template <>
const VectorKernels<Number>& vector_kernels() {
  return HWY_DYNAMIC_DISPATCH(Kernels)();
}

}  // namespace ridge::stencil
#endif
