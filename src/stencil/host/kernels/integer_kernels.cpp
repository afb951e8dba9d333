// Weighted sums of integer cells, compiled for each instruction set.
#include "stencil/host/kernels/linear_rows.hpp"

// SVE is excluded: its vectors have no compile-time size, so arrays of them cannot be kept in registers.
#include "base/simd_byte_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/host/kernels/integer_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come first
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::stencil::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Unsigned arithmetic, because integers wrap. The low eight bits of a sum depend only on those of its terms, so 16 bits
// suffice for bytes.
struct Ints {
  using Cell = std::int32_t;
  using Number = std::uint32_t;
  using D = hn::ScalableTag<Number>;
  static HWY_INLINE hn::Vec<D> Load(const Cell* from) {
    return hn::BitCast(D(), hn::LoadU(hn::RebindToSigned<D>(), from));
  }
  static HWY_INLINE void Store(hn::Vec<D> sum, Cell* to) {
    const hn::RebindToSigned<D> d;
    hn::StoreU(hn::BitCast(d, sum), d, to);
  }
};
struct Bytes {
  using Cell = std::uint8_t;
  using Number = std::uint16_t;
  using D = hn::ScalableTag<Number>;
  static HWY_INLINE hn::Vec<D> Load(const Cell* from) {
    return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<Cell, D>(), from));
  }
  static HWY_INLINE void Store(hn::Vec<D> sum, Cell* to) {
    const hn::Rebind<Cell, D> d;
    hn::StoreU(hn::TruncateTo(d, sum), d, to);
  }
};

// Keeps many sums in registers and adds one term to all of them at a time.
template <class K>
void Sum(const typename K::Cell* const* in, const std::int32_t* weights, std::size_t count, typename K::Cell* out,
         std::size_t begin, std::size_t end) {
  const typename K::D d;
  using V = hn::Vec<typename K::D>;
  constexpr std::size_t kLanes = hn::MaxLanes(d), kUnroll = 8;
  std::size_t x = begin;
  for (; x + kUnroll * kLanes <= end; x += kUnroll * kLanes) {
    V sums[kUnroll];
    for (std::size_t u = 0; u < kUnroll; ++u) sums[u] = hn::Zero(d);
    for (std::size_t i = 0; i < count; ++i) {
      const V weight = hn::Set(d, static_cast<typename K::Number>(weights[i]));
      const typename K::Cell* from = in[i] + x;
      for (std::size_t u = 0; u < kUnroll; ++u) sums[u] = hn::Add(sums[u], hn::Mul(weight, K::Load(from + u * kLanes)));
    }
    for (std::size_t u = 0; u < kUnroll; ++u) K::Store(sums[u], out + x + u * kLanes);
  }
  for (; x < end; ++x) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < count; ++i)
      sum += static_cast<std::uint32_t>(weights[i]) * static_cast<std::uint32_t>(in[i][x]);
    out[x] = static_cast<typename K::Cell>(sum);
  }
}

void SumInts(const std::int32_t* const* in, const std::int32_t* weights, std::size_t count, std::int32_t* out,
             std::size_t begin, std::size_t end) {
  Sum<Ints>(in, weights, count, out, begin, end);
}
void SumBytes(const std::uint8_t* const* in, const std::int32_t* weights, std::size_t count, std::uint8_t* out,
              std::size_t begin, std::size_t end) {
  Sum<Bytes>(in, weights, count, out, begin, end);
}

}  // namespace
}  // namespace ridge::stencil::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::stencil {

HWY_EXPORT(SumInts);
HWY_EXPORT(SumBytes);

void sum_integers(const std::int32_t* const* in, const std::int32_t* weights, std::size_t count, std::int32_t* out,
                  std::size_t begin, std::size_t end) {
  HWY_DYNAMIC_DISPATCH(SumInts)(in, weights, count, out, begin, end);
}
void sum_integers(const std::uint8_t* const* in, const std::int32_t* weights, std::size_t count, std::uint8_t* out,
                  std::size_t begin, std::size_t end) {
  HWY_DYNAMIC_DISPATCH(SumBytes)(in, weights, count, out, begin, end);
}

}  // namespace ridge::stencil
#endif
