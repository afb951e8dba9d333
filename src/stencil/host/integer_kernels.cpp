#include "stencil/host/integer_kernels.hpp"

// SVE is left out: its vectors have no size at compile time, and arrays of them no registers.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/host/integer_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::stencil::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<std::uint32_t>;  // unsigned: integers wrap
using V = hn::Vec<D>;
constexpr std::size_t kLanes = hn::MaxLanes(D()), kUnroll = 8;

HWY_INLINE V Load(const std::int32_t* from) { return hn::BitCast(D(), hn::LoadU(hn::RebindToSigned<D>(), from)); }
HWY_INLINE V Load(const std::uint8_t* from) {
  return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<std::uint8_t, D>(), from));
}
HWY_INLINE void Store(V sum, std::int32_t* to) {
  const hn::RebindToSigned<D> d;
  hn::StoreU(hn::BitCast(d, sum), d, to);
}
HWY_INLINE void Store(V sum, std::uint8_t* to) {
  const hn::Rebind<std::uint8_t, D> d;
  hn::StoreU(hn::TruncateTo(d, sum), d, to);
}

// Many sums in registers at once, a term of all of them after the other.
template <class T>
void Sum(const T* const* in, const std::int32_t* weights, std::size_t count, T* out, std::size_t begin,
         std::size_t end) {
  const D d;
  std::size_t x = begin;
  for (; x + kUnroll * kLanes <= end; x += kUnroll * kLanes) {
    V sums[kUnroll];
    for (std::size_t u = 0; u < kUnroll; ++u) sums[u] = hn::Zero(d);
    for (std::size_t i = 0; i < count; ++i) {
      const V weight = hn::Set(d, static_cast<std::uint32_t>(weights[i]));
      const T* from = in[i] + x;
      for (std::size_t u = 0; u < kUnroll; ++u) sums[u] = hn::Add(sums[u], hn::Mul(weight, Load(from + u * kLanes)));
    }
    for (std::size_t u = 0; u < kUnroll; ++u) Store(sums[u], out + x + u * kLanes);
  }
  for (; x < end; ++x) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < count; ++i)
      sum += static_cast<std::uint32_t>(weights[i]) * static_cast<std::uint32_t>(in[i][x]);
    out[x] = static_cast<T>(sum);
  }
}

void SumInts(const std::int32_t* const* in, const std::int32_t* weights, std::size_t count, std::int32_t* out,
             std::size_t begin, std::size_t end) {
  Sum(in, weights, count, out, begin, end);
}
void SumBytes(const std::uint8_t* const* in, const std::int32_t* weights, std::size_t count, std::uint8_t* out,
              std::size_t begin, std::size_t end) {
  Sum(in, weights, count, out, begin, end);
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
