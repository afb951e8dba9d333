// Sums of delayed rows for any vector width.
#include "base/simd_byte_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search/host/sums.cpp"
#include <hwy/foreach_target.h>
// foreach_target must be included first
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "search/host/sums.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::search::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Loads the narrower input type as lanes of the sum's type.
template <class In, class D>
HWY_INLINE hn::Vec<D> LoadAs(D d, const In* from) {
  if constexpr (sizeof(In) == sizeof(hn::TFromD<D>)) {
    return hn::LoadU(d, from);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<In, D>(), from));
  }
}

template <class D, class Out>
HWY_INLINE void StoreAs(D d, hn::Vec<D> sum, Out* to) {
  if constexpr (std::is_same_v<Out, float>) {
    const hn::RebindToSigned<D> di;
    const hn::Rebind<float, D> df;
    hn::StoreU(hn::ConvertTo(df, hn::BitCast(di, sum)), df, to);
  } else {
    hn::StoreU(sum, d, to);
  }
}

template <class In, class Total, class Out>
void AddRowsOf(const void* const* rows, std::size_t terms, void* to, std::size_t count) {
  const hn::ScalableTag<Total> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto in = reinterpret_cast<const In* const*>(rows);
  auto* out = static_cast<Out*>(to);
  std::size_t t = 0;
  for (; t + 4 * lanes <= count; t += 4 * lanes) {
    const In* p = in[0] + t;
    auto a = LoadAs(d, p), b = LoadAs(d, p + lanes), c = LoadAs(d, p + 2 * lanes), e = LoadAs(d, p + 3 * lanes);
    for (std::size_t j = 1; j < terms; ++j) {
      p = in[j] + t;
      a = hn::Add(a, LoadAs(d, p));
      b = hn::Add(b, LoadAs(d, p + lanes));
      c = hn::Add(c, LoadAs(d, p + 2 * lanes));
      e = hn::Add(e, LoadAs(d, p + 3 * lanes));
    }
    StoreAs(d, a, out + t);
    StoreAs(d, b, out + t + lanes);
    StoreAs(d, c, out + t + 2 * lanes);
    StoreAs(d, e, out + t + 3 * lanes);
  }
  for (; t < count && count >= lanes; t += lanes) {
    t = std::min(t, count - lanes);  // the last vector overlaps the one before
    auto sum = LoadAs(d, in[0] + t);
    for (std::size_t j = 1; j < terms; ++j) sum = hn::Add(sum, LoadAs(d, in[j] + t));
    StoreAs(d, sum, out + t);
  }
  for (; t < count; ++t) {
    Total sum = 0;
    for (std::size_t j = 0; j < terms; ++j) sum = static_cast<Total>(sum + in[j][t]);
    out[t] = static_cast<Out>(sum);
  }
}

constexpr std::size_t kVectors = 8;

// Two sums per vector of bytes, in 16-bit lanes: of whole lanes modulo 2^16 (raw), and of their upper bytes (odd). The
// sum of the lower bytes is raw - 256 * odd, exact because it is below 2^16.
void AddStrip(const StripJob& job) {
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::ScalableTag<std::uint16_t> d16;
  const hn::ScalableTag<float> df;
  const hn::Rebind<std::int32_t, decltype(df)> d32;
  const hn::Rebind<std::uint16_t, decltype(df)> quarter;
  const std::size_t bytes = hn::Lanes(d8), lanes = hn::Lanes(df);
  auto r0 = hn::Zero(d16), r1 = r0, r2 = r0, r3 = r0, r4 = r0, r5 = r0, r6 = r0, r7 = r0;
  auto o0 = r0, o1 = r0, o2 = r0, o3 = r0, o4 = r0, o5 = r0, o6 = r0, o7 = r0;
  for (std::size_t c = 0; c < job.channels; ++c) {
    const std::uint8_t* p = job.in + c * job.row + job.delays[c];
    const auto add = [&](auto& raw, auto& odd, std::size_t k) HWY_ATTR {
      const auto v = hn::BitCast(d16, hn::LoadU(d8, p + k * bytes));
      raw = hn::Add(raw, v);
      odd = hn::Add(odd, hn::ShiftRight<8>(v));
    };
    add(r0, o0, 0), add(r1, o1, 1), add(r2, o2, 2), add(r3, o3, 3);
    add(r4, o4, 4), add(r5, o5, 5), add(r6, o6, 6), add(r7, o7, 7);
  }
  HWY_ALIGN std::uint16_t sums[kVectors * HWY_MAX_BYTES];
  const auto store = [&](auto raw, auto odd, std::size_t k) HWY_ATTR {
    hn::StoreInterleaved2(hn::Sub(raw, hn::ShiftLeft<8>(odd)), odd, d16, sums + k * bytes);
  };
  store(r0, o0, 0), store(r1, o1, 1), store(r2, o2, 2), store(r3, o3, 3);
  store(r4, o4, 4), store(r5, o5, 5), store(r6, o6, 6), store(r7, o7, 7);
  for (std::size_t t = 0; t < kVectors * bytes; t += lanes) {
    auto value = hn::ConvertTo(df, hn::PromoteTo(d32, hn::LoadU(quarter, sums + t)));
    if (job.add) value = hn::Add(value, hn::LoadU(df, job.out + t));
    hn::StoreU(value, df, job.out + t);
  }
}

}  // namespace

SumKernels Kernels() {
  using u8 = std::uint8_t;
  using u16 = std::uint16_t;
  using u32 = std::uint32_t;
  return {&AddRowsOf<u8, u16, u16>,
          &AddRowsOf<u16, u16, u16>,
          &AddRowsOf<u16, u32, u32>,
          &AddRowsOf<u32, u32, u32>,
          &AddRowsOf<u8, u32, float>,
          &AddRowsOf<u16, u32, float>,
          &AddRowsOf<u32, u32, float>,
          kVectors * hn::Lanes(hn::ScalableTag<u8>()),
          &AddStrip};
}

}  // namespace ridge::search::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::search {

HWY_EXPORT(Kernels);

const SumKernels& sum_kernels() {
  static const SumKernels kernels = HWY_DYNAMIC_DISPATCH(Kernels)();
  return kernels;
}

AddRows SumKernels::add_rows(Sum in, Sum out) const {
  if (in == Sum::u8) return out == Sum::f32 ? u8_f32 : u8_u16;
  if (in == Sum::u16) return out == Sum::f32 ? u16_f32 : out == Sum::u32 ? u16_u32 : u16_u16;
  return out == Sum::f32 ? u32_f32 : u32_u32;
}

}  // namespace ridge::search
#endif
