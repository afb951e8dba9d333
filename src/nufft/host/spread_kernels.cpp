// Spreading and interpolation of the points of one tile, for any vector width. A row of the kernel's box along the
// fastest axis is one to four vectors of interleaved complex numbers; wider rows are processed four vectors at a time.
#include "base/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nufft/host/spread_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target must be included first
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "nufft/host/spread_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::nufft::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
constexpr std::size_t kLanes = hn::MaxLanes(Tag<T>());  // exact: all enabled targets have vectors of a fixed size

constexpr std::size_t kBlock = 32;       // points whose weights are computed before they are used
constexpr std::size_t kMostVectors = 4;  // of a row in registers

// Kernel values of a block of points: x along the fastest axis, in pairs; y and z per row and plane.
template <class T>
struct Weights {
  alignas(64) T x[kBlock][2 * kWidest];
  alignas(64) T y[kBlock][kWidest];
  alignas(64) T z[kBlock][kWidest];
};

template <class T>
HWY_INLINE void Evaluate(const T* table, std::size_t stride, std::size_t terms, std::size_t count, T s, T* out) {
  const Tag<T> d;
  const auto argument = hn::Set(d, s);
  for (std::size_t at = 0; at < count; at += kLanes<T>) {
    auto value = hn::Load(d, table + at);
    for (std::size_t p = 1; p < terms; ++p) value = hn::MulAdd(value, argument, hn::Load(d, table + p * stride + at));
    hn::Store(value, d, out + at);
  }
}

template <class T>
HWY_INLINE void EvaluateBlock(const TileJob<T>& job, std::size_t first, std::size_t count, Weights<T>& weights) {
  const KernelTable<T>& x = *job.table[2];
  for (std::size_t p = 0; p < count; ++p) {
    const SortedPoint<T>& point = job.points[first + p];
    Evaluate(&x.pairs[0][0], 2 * kWidest, x.terms, 2 * x.width, point.s[2], weights.x[p]);
    if (job.axes > 1) Evaluate(&job.table[1]->single[0][0], kWidest, x.terms, x.width, point.s[1], weights.y[p]);
    if (job.axes > 2) Evaluate(&job.table[0]->single[0][0], kWidest, x.terms, x.width, point.s[0], weights.z[p]);
  }
}

// The complex number in every pair of lanes.
template <class T>
HWY_INLINE hn::Vec<Tag<T>> Repeat(const std::complex<T>& value) {
  const Tag<T> d;
  if constexpr (sizeof(T) == 4) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return hn::BitCast(d, hn::Set(hn::Repartition<std::uint64_t, Tag<T>>(), bits));
  } else {
    return hn::LoadDup128(d, reinterpret_cast<const T*>(&value));
  }
}

// Rows and planes of a point's box in the local grid. Strides are in reals.
struct Box {
  std::size_t rows, planes, row_stride, plane_stride;
};

template <std::size_t kVectors, class T>
HWY_INLINE void AddBox(const Box& box, const T* x, const T* y, const T* z, const std::complex<T>& strength, T* at) {
  const Tag<T> d;
  const auto parts = Repeat(strength);
  hn::Vec<Tag<T>> row[kVectors], scaled[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) row[v] = hn::Mul(hn::Load(d, x + v * kLanes<T>), parts);
  for (std::size_t plane = 0; plane < box.planes; ++plane) {
    const auto factor = hn::Set(d, z[plane]);
    for (std::size_t v = 0; v < kVectors; ++v) scaled[v] = hn::Mul(row[v], factor);
    T* to = at + plane * box.plane_stride;
#pragma GCC unroll 4
    for (std::size_t r = 0; r < box.rows; ++r, to += box.row_stride) {
      const auto weight = hn::Set(d, y[r]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        T* cells = to + v * kLanes<T>;
        hn::StoreU(hn::MulAdd(scaled[v], weight, hn::LoadU(d, cells)), d, cells);
      }
    }
  }
}

// Sums of a vector's even and odd lanes, added to a complex number.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE std::complex<T> SumPairs(D d, hn::Vec<D> vector) {
  if constexpr (hn::MaxLanes(D()) * sizeof(T) > 16) {
    const hn::Half<D> half;
    return SumPairs(half, hn::Add(hn::LowerHalf(half, vector), hn::UpperHalf(half, vector)));
  } else {
    alignas(16) T lanes[16 / sizeof(T)];
    hn::Store(vector, d, lanes);
    if constexpr (sizeof(T) == 4) return {lanes[0] + lanes[2], lanes[1] + lanes[3]};
    return {lanes[0], lanes[1]};
  }
}

template <std::size_t kVectors, class T>
HWY_INLINE std::complex<T> ReadBox(const Box& box, const T* x, const T* y, const T* z, const T* at) {
  const Tag<T> d;
  hn::Vec<Tag<T>> sum[kVectors], part[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  for (std::size_t plane = 0; plane < box.planes; ++plane) {
    const T* from = at + plane * box.plane_stride;
    for (std::size_t v = 0; v < kVectors; ++v) part[v] = hn::Zero(d);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < box.rows; ++r, from += box.row_stride) {
      const auto weight = hn::Set(d, y[r]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        part[v] = hn::MulAdd(hn::LoadU(d, from + v * kLanes<T>), weight, part[v]);
      }
    }
    const auto factor = hn::Set(d, z[plane]);
    for (std::size_t v = 0; v < kVectors; ++v) sum[v] = hn::MulAdd(part[v], factor, sum[v]);
  }
  auto total = hn::Mul(sum[0], hn::Load(d, x));
  for (std::size_t v = 1; v < kVectors; ++v) total = hn::MulAdd(sum[v], hn::Load(d, x + v * kLanes<T>), total);
  return SumPairs(d, total);
}

template <class T>
Box BoxOf(const TileJob<T>& job) {
  return {.rows = job.axes > 1 ? job.table[2]->width : 1,
          .planes = job.axes > 2 ? job.table[2]->width : 1,
          .row_stride = 2 * job.row_stride,
          .plane_stride = 2 * job.plane_stride};
}

// Calls use(vectors, first vector) for the vectors of a row, at most kMostVectors at a time.
template <class F>
HWY_INLINE void ForVectors(std::size_t vectors, const F& use) {
  for (std::size_t first = 0; first < vectors; first += kMostVectors) {
    switch (std::min(vectors - first, kMostVectors)) {
      case 1:
        use(std::integral_constant<std::size_t, 1>(), first);
        break;
      case 2:
        use(std::integral_constant<std::size_t, 2>(), first);
        break;
      case 3:
        use(std::integral_constant<std::size_t, 3>(), first);
        break;
      default:
        use(std::integral_constant<std::size_t, kMostVectors>(), first);
    }
  }
}

template <class T>
void SetUnusedAxes(std::size_t axes, Weights<T>& weights) {
  for (std::size_t p = 0; p < kBlock; ++p) {
    if (axes < 2) weights.y[p][0] = 1;
    if (axes < 3) weights.z[p][0] = 1;
  }
}

template <class T>
void SpreadTile(const TileJob<T>& job, const std::complex<T>* strengths) {
  const Box box = BoxOf(job);
  const std::size_t vectors = (2 * job.table[2]->width + kLanes<T> - 1) / kLanes<T>;
  T* const local = reinterpret_cast<T*>(job.local);
  Weights<T> weights;
  SetUnusedAxes(job.axes, weights);
  std::complex<T> gathered[kBlock];
  for (std::size_t first = 0; first < job.count; first += kBlock) {
    const std::size_t count = std::min(kBlock, job.count - first);
    const SortedPoint<T>* points = job.points + first;
    // A loop of loads only keeps many cache misses in flight.
    for (std::size_t p = 0; p < count; ++p) gathered[p] = strengths[points[p].index];
    EvaluateBlock(job, first, count, weights);
    ForVectors(vectors, [&](auto some, std::size_t from) HWY_ATTR {
      const std::size_t skip = from * kLanes<T>;
      for (std::size_t p = 0; p < count; ++p) {
        AddBox<some()>(box, weights.x[p] + skip, weights.y[p], weights.z[p], gathered[p],
                       local + 2 * std::size_t{points[p].cell} + skip);
      }
    });
  }
}

template <class T>
void InterpolateTile(const TileJob<T>& job, std::complex<T>* values) {
  const Box box = BoxOf(job);
  const std::size_t vectors = (2 * job.table[2]->width + kLanes<T> - 1) / kLanes<T>;
  const T* const local = reinterpret_cast<const T*>(job.local);
  Weights<T> weights;
  SetUnusedAxes(job.axes, weights);
  std::complex<T> sums[kBlock];
  for (std::size_t first = 0; first < job.count; first += kBlock) {
    const std::size_t count = std::min(kBlock, job.count - first);
    const SortedPoint<T>* points = job.points + first;
    EvaluateBlock(job, first, count, weights);
    for (std::size_t p = 0; p < count; ++p) sums[p] = 0;
    ForVectors(vectors, [&](auto some, std::size_t from) HWY_ATTR {
      const std::size_t skip = from * kLanes<T>;
      for (std::size_t p = 0; p < count; ++p) {
        sums[p] += ReadBox<some()>(box, weights.x[p] + skip, weights.y[p], weights.z[p],
                                   local + 2 * std::size_t{points[p].cell} + skip);
      }
    });
    for (std::size_t p = 0; p < count; ++p) values[points[p].index] = sums[p];
  }
}

template <class T>
void AddRow(const std::complex<T>* from, std::complex<T>* to, std::size_t count) {
  const Tag<T> d;
  const T* in = reinterpret_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(to);
  std::size_t i = 0;
  for (; i + kLanes<T> <= 2 * count; i += kLanes<T>) {
    hn::StoreU(hn::Add(hn::LoadU(d, in + i), hn::LoadU(d, out + i)), d, out + i);
  }
  for (; i < 2 * count; ++i) out[i] += in[i];
}

// x / (2 pi) has a rounding error that moves the point by up to cells * 2^-54 cells. For double the error is kept and
// added after the whole cells have been removed. Float coordinates have bits to spare in double. Reads and writes whole
// vectors beyond `count`: the arrays hold whole vectors.
template <class T, class Coordinate>
void PlaceAxis(const Coordinate* x, std::size_t count, const PlacedAxis& axis, T* s) {
  constexpr double kInverse = 0.15915494309189535, kInverseLow = -9.839338337591243e-18;  // 1 / (2 pi)
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const hn::Rebind<std::int32_t, decltype(d)> whole;
  const auto cells = hn::Set(d, axis.cells), half_width = hn::Set(d, axis.half_width), one = hn::Set(d, 1.0);
  for (std::size_t j = 0; j < count; j += hn::Lanes(d)) {
    hn::Vec<decltype(d)> value, error = hn::Zero(d);
    if constexpr (sizeof(Coordinate) == 4) {
      value = hn::PromoteTo(d, hn::LoadU(narrow, x + j));
    } else {
      value = hn::LoadU(d, x + j);
    }
    auto turns = hn::Mul(value, hn::Set(d, kInverse));
    if constexpr (sizeof(Coordinate) == 8) {
      error = hn::MulAdd(value, hn::Set(d, kInverseLow), hn::MulSub(value, hn::Set(d, kInverse), turns));
    }
    turns = hn::Sub(turns, hn::Round(turns));
    const auto position = hn::Mul(turns, cells);
    if constexpr (sizeof(Coordinate) == 8) error = hn::MulAdd(error, cells, hn::MulSub(turns, cells, position));
    const auto left = hn::Sub(position, half_width), first = hn::Ceil(left);
    const auto distance = hn::Sub(hn::Sub(first, left), error);
    const auto argument = hn::Sub(hn::Add(distance, distance), one);
    const auto folded = hn::IfThenElse(hn::Lt(first, hn::Zero(d)), hn::Add(first, cells), first);
    hn::StoreU(hn::DemoteTo(whole, folded), whole, axis.cell + j);
    if constexpr (sizeof(T) == 4) {
      hn::StoreU(hn::DemoteTo(narrow, argument), narrow, s + j);
    } else {
      hn::StoreU(argument, d, s + j);
    }
  }
}

template <class T>
SpreadKernels<T> AllKernels() {
  return {&SpreadTile<T>, &InterpolateTile<T>, &AddRow<T>, &PlaceAxis<T, float>, &PlaceAxis<T, double>};
}

}  // namespace

SpreadKernels<float> FloatKernels() { return AllKernels<float>(); }
SpreadKernels<double> DoubleKernels() { return AllKernels<double>(); }

}  // namespace ridge::nufft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::nufft {

HWY_EXPORT(FloatKernels);
HWY_EXPORT(DoubleKernels);

template <>
SpreadKernels<float> spread_kernels() {
  return HWY_DYNAMIC_DISPATCH(FloatKernels)();
}
template <>
SpreadKernels<double> spread_kernels() {
  return HWY_DYNAMIC_DISPATCH(DoubleKernels)();
}

}  // namespace ridge::nufft
#endif
