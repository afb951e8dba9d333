// Normalization and boxcar filters for any vector width.
#include "base/simd_byte_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search/host/rows.cpp"
#include <hwy/foreach_target.h>
// foreach_target must be included first
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/host/rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::search::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

void FromBytes(const std::uint8_t* in, float* out, std::size_t count) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::int32_t, decltype(d)> d32;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::StoreU(hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, in + i))), d, out + i);
  }
  for (; i < count; ++i) out[i] = in[i];
}

void Accumulate(const float* x, const float* reference, float* sum, float* square, std::size_t count) {
  const hn::ScalableTag<float> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto v = hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, reference + i));
    hn::StoreU(hn::Add(hn::LoadU(d, sum + i), v), d, sum + i);
    hn::StoreU(hn::MulAdd(v, v, hn::LoadU(d, square + i)), d, square + i);
  }
  for (; i < count; ++i) {
    const float v = x[i] - reference[i];
    sum[i] += v;
    square[i] += v * v;
  }
}

void Quantize(const float* x, const float* scale, const float* offset, std::uint8_t* out, std::size_t count) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::int32_t, decltype(d)> d32;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const auto most = hn::Set(d, 255.0F);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto v = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, scale + i), hn::LoadU(d, offset + i));
    const auto bounded = hn::Min(hn::Max(v, hn::Zero(d)), most);
    hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(d32, hn::Add(bounded, hn::Set(d, 0.5F)))), d8, out + i);
  }
  for (; i < count; ++i) {
    const float v = std::min(std::max(x[i] * scale[i] + offset[i], 0.0F), 255.0F);
    out[i] = static_cast<std::uint8_t>(v + 0.5F);
  }
}

void Halve(const std::uint8_t* in, std::uint8_t* out, std::size_t count) {
  const hn::ScalableTag<std::uint16_t> d16;
  const hn::RebindToSigned<decltype(d16)> di;
  const hn::Rebind<std::uint8_t, decltype(d16)> d8;
  const hn::Repartition<std::uint8_t, decltype(d16)> whole;
  constexpr std::int16_t kRoot = 23170;  // 2^15 / sqrt(2)
  const auto mean = hn::Set(di, static_cast<std::int16_t>(2 * kByteMean));
  std::size_t i = 0;
  for (; i + hn::Lanes(d16) <= count; i += hn::Lanes(d16)) {
    const auto pair = hn::BitCast(d16, hn::LoadU(whole, in + 2 * i));
    const auto sum = hn::BitCast(di, hn::Add(hn::And(pair, hn::Set(d16, 0xff)), hn::ShiftRight<8>(pair)));
    const auto scaled = hn::MulFixedPoint15(hn::Sub(sum, mean), hn::Set(di, kRoot));
    hn::StoreU(hn::DemoteTo(d8, hn::Add(scaled, hn::Set(di, static_cast<std::int16_t>(kByteMean)))), d8, out + i);
  }
  for (; i < count; ++i) {
    const int scaled = ((in[2 * i] + in[2 * i + 1] - 2 * kByteMean) * kRoot + (1 << 14)) >> 15;
    out[i] = static_cast<std::uint8_t>(std::clamp(scaled + kByteMean, 0, 255));
  }
}

float LargestSum(const float* prefix, std::size_t width, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  float best = -std::numeric_limits<float>::infinity();
  std::size_t t = 0;
  if (count >= 2 * lanes) {
    auto a = hn::Set(d, best), b = a;
    for (; t + 2 * lanes <= count; t += 2 * lanes) {
      a = hn::Max(a, hn::Sub(hn::LoadU(d, prefix + t + width), hn::LoadU(d, prefix + t)));
      b = hn::Max(b, hn::Sub(hn::LoadU(d, prefix + t + width + lanes), hn::LoadU(d, prefix + t + lanes)));
    }
    best = hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
  }
  for (; t < count; ++t) best = std::max(best, prefix[t + width] - prefix[t]);
  return best;
}

void Moments(const float* x, float reference, std::size_t count, float* sum, float* square) {
  const hn::ScalableTag<float> d;
  auto s = hn::Zero(d), q = s;
  const auto middle = hn::Set(d, reference);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto v = hn::Sub(hn::LoadU(d, x + i), middle);
    s = hn::Add(s, v);
    q = hn::MulAdd(v, v, q);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, s)), squares = hn::GetLane(hn::SumOfLanes(d, q));
  for (; i < count; ++i) {
    const float v = x[i] - reference;
    total += v;
    squares += v * v;
  }
  *sum = total;
  *square = squares;
}

}  // namespace

RowKernels Rows() { return {&FromBytes, &Accumulate, &Quantize, &Halve, &LargestSum, &Moments}; }

}  // namespace ridge::search::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::search {

HWY_EXPORT(Rows);

const RowKernels& row_kernels() {
  static const RowKernels kernels = HWY_DYNAMIC_DISPATCH(Rows)();
  return kernels;
}

}  // namespace ridge::search
#endif
