// Spreading and interpolation of the points of one tile, for any vector width. A row of the kernel's box along the
// fastest axis is one to four vectors of reals or interleaved complex numbers; wider rows are processed four vectors at
// a time. Spreading reads and writes aligned vectors only: on x86 an addition to a vector that crosses a cache line
// takes three times as long as one to two aligned vectors.
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

// kParts: reals per value, 2 for complex values.
template <class T, std::size_t kParts>
using Value = std::conditional_t<kParts == 1, T, std::complex<T>>;
template <class T, std::size_t kParts>
constexpr std::size_t kPerVector = kLanes<T> / kParts;  // values

constexpr std::size_t kBlock = 32;       // points whose weights are computed before they are used
constexpr std::size_t kChains = 8;       // points whose polynomials are evaluated together
constexpr std::size_t kMostVectors = 4;  // of a row in registers

// Kernel values of a block of points along one axis; along the fastest axis with zeros on both sides.
template <class T>
struct AxisWeights {
  static constexpr std::size_t kRow = 2 * kLanes<T> + kWidest;
  alignas(64) T row[kBlock][kRow];

  HWY_INLINE T* of(std::size_t point) { return row[point] + kLanes<T>; }
  HWY_INLINE const T* of(std::size_t point) const { return row[point] + kLanes<T>; }
};

// Weights per axis, slowest first. An unused axis has one cell of weight 1.
template <class T>
struct Weights {
  AxisWeights<T> axis[3];

  explicit Weights(std::size_t axes) {
    std::memset(static_cast<void*>(&axis[2]), 0, sizeof axis[2]);
    for (std::size_t i = 0; i + axes < 3; ++i) {
      for (std::size_t p = 0; p < kBlock; ++p) axis[i].of(p)[0] = 1;
    }
  }
};

// Evaluates the kernel for kChains points at a time: independent multiply-adds hide each other's latency.
template <class T>
HWY_INLINE void Evaluate(const KernelTable<T>& table, const T* s, std::size_t count, AxisWeights<T>& out) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  for (std::size_t first = 0; first < count; first += kChains) {
    for (std::size_t at = 0; at < table.width; at += kLanes<T>) {
      V value[kChains];
      for (V& v : value) v = hn::Load(d, table.coefficient[0] + at);
      for (std::size_t p = 1; p < table.terms; ++p) {
        const V coefficient = hn::Load(d, table.coefficient[p] + at);
        for (std::size_t k = 0; k < kChains; ++k) {
          value[k] = hn::MulAdd(value[k], hn::Set(d, s[first + k]), coefficient);
        }
      }
      for (std::size_t k = 0; k < kChains; ++k) hn::Store(value[k], d, out.of(first + k) + at);
    }
  }
}

// Arguments of a block of points, one axis after another.
template <class T>
struct Arguments {
  alignas(64) T s[3][kBlock];

  Arguments(const SortedPoint<T>* points, std::size_t count) {
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t p = 0; p < count; ++p) s[i][p] = points[p].s[i];
      for (std::size_t p = count; p < kBlock; ++p) s[i][p] = 0;
    }
  }
};

// The value in all lanes, or the complex number in every pair of lanes.
HWY_INLINE hn::Vec<Tag<float>> Repeat(float value) { return hn::Set(Tag<float>(), value); }
HWY_INLINE hn::Vec<Tag<double>> Repeat(double value) { return hn::Set(Tag<double>(), value); }
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

// The next kPerVector weights, each for all parts of a cell.
template <std::size_t kParts, class T>
HWY_INLINE hn::Vec<Tag<T>> LoadWeights(const T* weights) {
  const Tag<T> d;
  if constexpr (kParts == 1) return hn::LoadU(d, weights);
  const hn::RebindToUnsigned<Tag<T>> lanes;
  return hn::TableLookupLanes(hn::LoadU(d, weights), hn::IndicesFromVec(d, hn::ShiftRight<1>(hn::Iota(lanes, 0))));
}

// Rows and planes of a point's box in the local grid. Strides are in reals.
struct Box {
  std::size_t rows, planes, row_stride, plane_stride;
};

// `x` are the weights of the cells at `at`, which is aligned: zeros before the point's first cell.
template <std::size_t kVectors, std::size_t kParts, class T>
HWY_INLINE void AddBox(const Box& box, const T* x, const T* y, const T* z, const Value<T, kParts>& strength, T* at) {
  const Tag<T> d;
  const auto parts = Repeat(strength);
  hn::Vec<Tag<T>> row[kVectors], scaled[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    row[v] = hn::Mul(LoadWeights<kParts>(x + v * kPerVector<T, kParts>), parts);
  }
  for (std::size_t plane = 0; plane < box.planes; ++plane) {
    const auto factor = hn::Set(d, z[plane]);
    for (std::size_t v = 0; v < kVectors; ++v) scaled[v] = hn::Mul(row[v], factor);
    T* to = at + plane * box.plane_stride;
#pragma GCC unroll 4
    for (std::size_t r = 0; r < box.rows; ++r, to += box.row_stride) {
      const auto weight = hn::Set(d, y[r]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        T* cells = to + v * kLanes<T>;
        hn::Store(hn::MulAdd(scaled[v], weight, hn::Load(d, cells)), d, cells);
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

// Sum of a row's cells times the weights along the fastest axis.
template <std::size_t kVectors, std::size_t kParts, class T>
HWY_INLINE Value<T, kParts> SumRow(const hn::Vec<Tag<T>>* sum, const T* x) {
  auto total = hn::Mul(sum[0], LoadWeights<kParts>(x));
  for (std::size_t v = 1; v < kVectors; ++v) {
    total = hn::MulAdd(sum[v], LoadWeights<kParts>(x + v * kPerVector<T, kParts>), total);
  }
  if constexpr (kParts == 1) {
    return hn::GetLane(hn::SumOfLanes(Tag<T>(), total));
  } else {
    return SumPairs(Tag<T>(), total);
  }
}

// Weights of one point: x, y, z of the value, and those of its derivatives by the same axes.
template <class T>
struct PointWeights {
  const T *x, *y, *z, *by_x, *by_y, *by_z;
};

// Adds the value at a point to sums[0] and, with kSlopes, its derivatives by z, y and x to sums[1 .. 3]. Cells are
// loaded once for all of them. Rows alternate between kSets sums, whose chains of additions are independent. Loops are
// unrolled, so that GCC keeps the sums in registers instead of memory.
template <std::size_t kVectors, bool kSlopes, std::size_t kParts, class T>
HWY_INLINE void ReadBox(const Box& box, const PointWeights<T>& weights, const T* at, Value<T, kParts>* sums) {
  constexpr std::size_t kSets = kVectors == 1 && !kSlopes ? 4 : kVectors <= 2 || !kSlopes ? 2 : 1;
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  V sum[kVectors], by_y[kVectors], by_z[kVectors], part[kSets][kVectors], slope[kSets][kVectors];
#pragma GCC unroll 4
  for (std::size_t v = 0; v < kVectors; ++v) sum[v] = by_y[v] = by_z[v] = hn::Zero(d);
  for (std::size_t plane = 0; plane < box.planes; ++plane) {
    const T* from = at + plane * box.plane_stride;
#pragma GCC unroll 4
    for (std::size_t k = 0; k < kSets; ++k) {
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kVectors; ++v) part[k][v] = slope[k][v] = hn::Zero(d);
    }
    const auto add_row = [&](std::size_t r, std::size_t k) HWY_ATTR {
      const V weight = hn::Set(d, weights.y[r]);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kVectors; ++v) {
        const V cells = hn::LoadU(d, from + r * box.row_stride + v * kLanes<T>);
        part[k][v] = hn::MulAdd(cells, weight, part[k][v]);
        if constexpr (kSlopes) slope[k][v] = hn::MulAdd(cells, hn::Set(d, weights.by_y[r]), slope[k][v]);
      }
    };
    std::size_t r = 0;
    for (; r + kSets <= box.rows; r += kSets) {
#pragma GCC unroll 4
      for (std::size_t k = 0; k < kSets; ++k) add_row(r + k, k);
    }
    for (; r < box.rows; ++r) add_row(r, 0);
    const V factor = hn::Set(d, weights.z[plane]);
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kVectors; ++v) {
#pragma GCC unroll 4
      for (std::size_t k = 1; k < kSets; ++k) part[0][v] = hn::Add(part[0][v], part[k][v]);
      sum[v] = hn::MulAdd(part[0][v], factor, sum[v]);
      if constexpr (kSlopes) {
#pragma GCC unroll 4
        for (std::size_t k = 1; k < kSets; ++k) slope[0][v] = hn::Add(slope[0][v], slope[k][v]);
        by_y[v] = hn::MulAdd(slope[0][v], factor, by_y[v]);
        by_z[v] = hn::MulAdd(part[0][v], hn::Set(d, weights.by_z[plane]), by_z[v]);
      }
    }
  }
  sums[0] += SumRow<kVectors, kParts>(sum, weights.x);
  if constexpr (kSlopes) {
    sums[1] += SumRow<kVectors, kParts>(by_z, weights.x);
    sums[2] += SumRow<kVectors, kParts>(by_y, weights.x);
    sums[3] += SumRow<kVectors, kParts>(sum, weights.by_x);
  }
}

template <std::size_t kParts, class T>
Box BoxOf(const TileJob<T>& job) {
  return {.rows = job.axes > 1 ? job.table->width : 1,
          .planes = job.axes > 2 ? job.table->width : 1,
          .row_stride = kParts * job.row_stride,
          .plane_stride = kParts * job.plane_stride};
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

// Points of a block by the number of aligned vectors that their rows touch: `fewest` or one more.
struct VectorGroups {
  std::uint8_t point[2][kBlock];
  std::size_t count[2] = {0, 0}, fewest;

  // `each`: values of a vector.
  template <class T>
  VectorGroups(const SortedPoint<T>* points, std::size_t block, std::size_t width, std::size_t each)
      : fewest((width + each - 1) / each) {
    for (std::size_t p = 0; p < block; ++p) {
      const std::size_t group = points[p].cell % each + width > fewest * each ? 1 : 0;
      point[group][count[group]++] = static_cast<std::uint8_t>(p);
    }
  }
};

template <class T, std::size_t kParts>
void SpreadTile(const TileJob<T>& job, const T* strengths) {
  constexpr std::size_t kEach = kPerVector<T, kParts>;
  const auto* const given = reinterpret_cast<const Value<T, kParts>*>(strengths);
  const Box box = BoxOf<kParts>(job);
  Weights<T> weights(job.axes);
  Value<T, kParts> gathered[kBlock];
  for (std::size_t first = 0; first < job.count; first += kBlock) {
    const std::size_t count = std::min(kBlock, job.count - first);
    const SortedPoint<T>* points = job.points + first;
    // A loop of loads only keeps many cache misses in flight; the next block's begin while this one is computed.
    for (std::size_t p = 0; p < count; ++p) gathered[p] = given[points[p].index];
    for (std::size_t p = kBlock; p < std::min(2 * kBlock, job.count - first); ++p) {
      __builtin_prefetch(given + points[p].index);
    }
    const Arguments<T> arguments(points, count);
    for (std::size_t i = 3 - job.axes; i < 3; ++i) Evaluate(*job.table, arguments.s[i], count, weights.axis[i]);
    const VectorGroups groups(points, count, job.table->width, kEach);
    for (std::size_t group = 0; group < 2; ++group) {
      ForVectors(groups.fewest + group, [&](auto some, std::size_t from) HWY_ATTR {
        for (std::size_t i = 0; i < groups.count[group]; ++i) {
          const std::size_t p = groups.point[group][i], shift = points[p].cell % kEach;
          AddBox<some(), kParts>(box, weights.axis[2].of(p) + from * kEach - shift, weights.axis[1].of(p),
                                 weights.axis[0].of(p), gathered[p],
                                 job.local + kParts * (points[p].cell - shift) + from * kLanes<T>);
        }
      });
    }
  }
}

// values: of the function; with kSlopes also its derivatives, slowest axis first, null for unused axes.
template <bool kSlopes, std::size_t kParts, class T>
HWY_INLINE void InterpolateTile(const TileJob<T>& job, const std::array<T*, 4>& values) {
  constexpr std::size_t kOutputs = kSlopes ? 4 : 1, kEach = kPerVector<T, kParts>;
  const Box box = BoxOf<kParts>(job);
  const std::size_t vectors = (job.table->width + kEach - 1) / kEach;
  Weights<T> weights(job.axes), slopes(job.axes);
  Value<T, kParts> sums[kBlock][kOutputs];
  for (std::size_t first = 0; first < job.count; first += kBlock) {
    const std::size_t count = std::min(kBlock, job.count - first);
    const SortedPoint<T>* points = job.points + first;
    for (std::size_t p = 0; p < count; ++p) __builtin_prefetch(values[0] + kParts * points[p].index, 1);
    const Arguments<T> arguments(points, count);
    for (std::size_t i = 3 - job.axes; i < 3; ++i) {
      Evaluate(*job.table, arguments.s[i], count, weights.axis[i]);
      if constexpr (kSlopes) Evaluate(job.slopes[i], arguments.s[i], count, slopes.axis[i]);
    }
    for (std::size_t p = 0; p < count; ++p) std::fill_n(sums[p], kOutputs, Value<T, kParts>());
    ForVectors(vectors, [&](auto some, std::size_t from) HWY_ATTR {
      const std::size_t skip = from * kEach;
      for (std::size_t p = 0; p < count; ++p) {
        const PointWeights<T> point{weights.axis[2].of(p) + skip, weights.axis[1].of(p), weights.axis[0].of(p),
                                    slopes.axis[2].of(p) + skip,  slopes.axis[1].of(p),  slopes.axis[0].of(p)};
        ReadBox<some(), kSlopes, kParts>(box, point, job.local + kParts * (std::size_t{points[p].cell} + skip),
                                         sums[p]);
      }
    });
    for (std::size_t k = 0; k < kOutputs; ++k) {
      auto* const out = reinterpret_cast<Value<T, kParts>*>(values[k]);
      if (out == nullptr) continue;
      for (std::size_t p = 0; p < count; ++p) out[points[p].index] = sums[p][k];
    }
  }
}

template <class T, std::size_t kParts>
void ReadTile(const TileJob<T>& job, T* values) {
  InterpolateTile<false, kParts>(job, {values, nullptr, nullptr, nullptr});
}
template <class T>
void ReadSlopes(const TileJob<T>& job, const std::array<T*, 4>& values) {
  InterpolateTile<true, 2>(job, values);
}

template <class T>
void AddRow(const T* from, T* to, std::size_t count) {
  const Tag<T> d;
  std::size_t i = 0;
  for (; i + kLanes<T> <= count; i += kLanes<T>) {
    hn::StoreU(hn::Add(hn::LoadU(d, from + i), hn::LoadU(d, to + i)), d, to + i);
  }
  for (; i < count; ++i) to[i] += from[i];
}

// x / (2 pi) has a rounding error that moves the point by up to cells * 2^-54 cells. For double the error is kept and
// added after the whole cells have been removed. Float coordinates are computed in double, which needs no correction.
// Reads and writes whole vectors beyond `count`: the arrays hold whole vectors.
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
    const auto cell = hn::DemoteTo(whole, folded);
    const auto tile = hn::Min(hn::ShiftRightSame(cell, axis.shift), hn::Set(whole, axis.last_tile));
    const auto within = hn::Sub(cell, hn::ShiftLeftSame(tile, axis.shift));
    const auto bin = hn::Add(hn::Mul(tile, hn::Set(whole, axis.per_tile)),
                             hn::Mul(hn::ShiftRight<2>(within), hn::Set(whole, axis.per_part)));
    hn::StoreU(hn::Add(hn::LoadU(whole, axis.bin + j), bin), whole, axis.bin + j);
    hn::StoreU(hn::Add(hn::LoadU(whole, axis.local + j), hn::Mul(within, hn::Set(whole, axis.per_cell))), whole,
               axis.local + j);
    if constexpr (sizeof(T) == 4) {
      hn::StoreU(hn::DemoteTo(narrow, argument), narrow, s + j);
    } else {
      hn::StoreU(argument, d, s + j);
    }
  }
}

template <class T>
SpreadKernels<T> AllKernels(bool real) {
  return {real ? &SpreadTile<T, 1> : &SpreadTile<T, 2>,
          real ? &ReadTile<T, 1> : &ReadTile<T, 2>,
          &ReadSlopes<T>,  // complex values only
          &AddRow<T>,
          &PlaceAxis<T, float>,
          &PlaceAxis<T, double>};
}

}  // namespace

SpreadKernels<float> FloatKernels(bool real) { return AllKernels<float>(real); }
SpreadKernels<double> DoubleKernels(bool real) { return AllKernels<double>(real); }

}  // namespace ridge::nufft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::nufft {

HWY_EXPORT(FloatKernels);
HWY_EXPORT(DoubleKernels);

template <>
SpreadKernels<float> spread_kernels(bool real) {
  return HWY_DYNAMIC_DISPATCH(FloatKernels)(real);
}
template <>
SpreadKernels<double> spread_kernels(bool real) {
  return HWY_DYNAMIC_DISPATCH(DoubleKernels)(real);
}

}  // namespace ridge::nufft
#endif
