// Vector operations of the flow kernels by Highway, with at most kMost lanes. Included once per target.
#if defined(RIDGE_IMAGE_FLOW_ENGINE_HIGHWAY) == defined(HWY_TARGET_TOGGLE)
#ifdef RIDGE_IMAGE_FLOW_ENGINE_HIGHWAY
#undef RIDGE_IMAGE_FLOW_ENGINE_HIGHWAY
#else
#define RIDGE_IMAGE_FLOW_ENGINE_HIGHWAY
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::image::flow {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int kMost>
struct Engine {
  using D = hn::CappedTag<float, kMost>;
  using DW = hn::RebindToUnsigned<D>;
  using DI = hn::RebindToSigned<D>;
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  using F = hn::Vec<D>;
  using W = hn::Vec<DW>;
  using Four = const float*;

  static HWY_INLINE F load(const float* p) { return hn::LoadU(D(), p); }
  static HWY_INLINE void store(float* p, F x) { hn::StoreU(x, D(), p); }
  static HWY_INLINE F set(float x) { return hn::Set(D(), x); }
  static HWY_INLINE F add(F a, F b) { return hn::Add(a, b); }
  static HWY_INLINE F sub(F a, F b) { return hn::Sub(a, b); }
  static HWY_INLINE F mul(F a, F b) { return hn::Mul(a, b); }
  static HWY_INLINE F max(F a, F b) { return hn::Max(a, b); }
  static HWY_INLINE F fma(F a, F b, F c) { return hn::MulAdd(a, b, c); }
  static HWY_INLINE W words(const void* p) { return hn::LoadU(DW(), static_cast<const uint32_t*>(p)); }
  static HWY_INLINE W all(const uint32_t* word) { return hn::Set(DW(), *word); }
  static HWY_INLINE W cells_of_four(const uint32_t* word) {  // each word of a row repeated four times
    if constexpr (kLanes == 4) {
      return all(word);
    } else {
      return hn::ConcatLowerLower(DW(), all(word + 1), all(word));
    }
  }

  // Differences of bytes, widened to pairs of 16 bits, squared and added (pmaddwd and its equivalents).
  static HWY_INLINE hn::Vec<DI> whole_squares(W a, W b) {
    const hn::Repartition<uint8_t, D> d8;
    const hn::Repartition<uint16_t, D> d16;
    const hn::Repartition<int16_t, D> i16;
    const auto x = hn::BitCast(d8, a), y = hn::BitCast(d8, b);
    const auto apart = hn::BitCast(d16, hn::Or(hn::SaturatedSub(x, y), hn::SaturatedSub(y, x)));
    const auto even = hn::BitCast(i16, hn::And(apart, hn::Set(d16, 0x00ff)));
    const auto odd = hn::BitCast(i16, hn::ShiftRight<8>(apart));
    auto rest = hn::Zero(DI());
    auto sum = hn::ReorderWidenMulAccumulate(DI(), even, even, hn::Zero(DI()), rest);
    sum = hn::ReorderWidenMulAccumulate(DI(), odd, odd, sum, rest);
    return hn::RearrangeToOddPlusEven(sum, rest);
  }
  static HWY_INLINE F lifted_squares(W a, W b) {  // 2^23 + squares, without a conversion
    return hn::BitCast(D(), hn::Add(whole_squares(a, b), hn::Set(DI(), 0x4b000000)));
  }
  static constexpr float kSquaresUnit = 1.0f;
  static HWY_INLINE F squares(W a, W b) { return hn::ConvertTo(D(), whole_squares(a, b)); }
  static HWY_INLINE F as_float(W a, W b) { return squares(a, b); }

  static HWY_INLINE Four four(const float* p) { return p; }
  template <int kLane>
  static HWY_INLINE F fma_one(F a, Four w, F c) {
    return hn::MulAdd(a, hn::Set(D(), w[kLane]), c);
  }
  static HWY_INLINE F exponent_of(F z) { return hn::BitCast(D(), hn::ShiftLeft<9>(hn::BitCast(DW(), z))); }
  static HWY_INLINE F scale_by_bits(F p, F z) {
    return hn::BitCast(D(), hn::Add(hn::BitCast(DW(), p), hn::ShiftLeft<23>(hn::BitCast(DW(), z))));
  }
  static HWY_INLINE int first_least(const float* values, int count) {  // count is a multiple of the lanes
    F least = load(values), index = set(0.0f);
    for (int k = kLanes; k < count; k += kLanes) {
      const F next = load(values + k);
      index = hn::IfThenElse(hn::Lt(next, least), set(static_cast<float>(k)), index);
      least = hn::Min(least, next);
    }
    float low[kLanes], place[kLanes];
    store(low, least);
    store(place, index);
    int best = 0;
    for (int i = 1; i < kLanes; ++i) {
      if (low[i] < low[best] ||
          (low[i] == low[best] && place[i] + static_cast<float>(i) < place[best] + static_cast<float>(best))) {
        best = i;
      }
    }
    return static_cast<int>(place[best]) + best;
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image::flow
HWY_AFTER_NAMESPACE();
#endif
