// Weighted sums of stations for any vector width.
#include "base/simd_byte_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search/host/beam_sums.cpp"
#include <hwy/foreach_target.h>
// foreach_target must be included first
#include <hwy/highway.h>

#include "search/host/rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::search::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Four vectors of times at once: eight independent sums hide the latency of multiplications.
void AddStations(const float* real, const float* imaginary, const std::complex<float>* weights, std::size_t stations,
                 float* sum_real, float* sum_imaginary) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t t = 0; t < kBeamTile; t += 4 * lanes) {
    const auto at = [&](std::size_t k) { return t + k * lanes < kBeamTile ? t + k * lanes : t; };
    const std::size_t t1 = at(1), t2 = at(2), t3 = at(3);
    auto r0 = hn::Zero(d), i0 = r0, r1 = r0, i1 = r0, r2 = r0, i2 = r0, r3 = r0, i3 = r0;
    for (std::size_t s = 0; s < stations; ++s) {
      const auto wr = hn::Set(d, weights[s].real()), wi = hn::Set(d, weights[s].imag());
      const float *x = real + s * kBeamTile, *y = imaginary + s * kBeamTile;
      const auto add = [&](decltype(r0)& r, decltype(r0)& i, std::size_t time) {
        const auto a = hn::LoadU(d, x + time), b = hn::LoadU(d, y + time);
        r = hn::NegMulAdd(wi, b, hn::MulAdd(wr, a, r));
        i = hn::MulAdd(wi, a, hn::MulAdd(wr, b, i));
      };
      add(r0, i0, t), add(r1, i1, t1), add(r2, i2, t2), add(r3, i3, t3);
    }
    hn::StoreU(r0, d, sum_real + t), hn::StoreU(i0, d, sum_imaginary + t);
    hn::StoreU(r1, d, sum_real + t1), hn::StoreU(i1, d, sum_imaginary + t1);
    hn::StoreU(r2, d, sum_real + t2), hn::StoreU(i2, d, sum_imaginary + t2);
    hn::StoreU(r3, d, sum_real + t3), hn::StoreU(i3, d, sum_imaginary + t3);
  }
}

// The sums at samples of -128: samples are stored plus 128.
struct Start {
  std::int32_t real = 0, imaginary = 0;
};
Start start_of(const ByteFactors* weights, std::size_t pairs) {
  Start start;
  const auto sum = [](std::int32_t two) { return static_cast<std::int16_t>(two) + (two >> 16); };
  for (std::size_t s = 0; s < pairs; ++s) {
    const std::int32_t real = sum(weights[s].real), imaginary = sum(weights[s].imaginary);
    start.real -= 128 * (real - imaginary), start.imaginary -= 128 * (real + imaginary);
  }
  return start;
}

void AddByteStations(const std::uint8_t* quads, const ByteFactors* weights, std::size_t pairs, float* power) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::Repartition<std::int16_t, decltype(d)> d16;
  const hn::Repartition<std::uint16_t, decltype(d)> u16;
  const hn::Rebind<float, decltype(d)> df;
  const std::size_t lanes = hn::Lanes(d);
  const Start start = start_of(weights, pairs);
  const auto factor = [&](std::int32_t two) { return hn::BitCast(d16, hn::Set(d, two)); };
  for (std::size_t t = 0; t < kBeamTile; t += 2 * lanes) {
    const std::size_t second = t + lanes < kBeamTile ? t + lanes : t;
    auto r0 = hn::Zero(d), i0 = r0, r1 = r0, i1 = r0;
    auto r2 = r0, i2 = r0, r3 = r0, i3 = r0;  // a part of the products, on some instruction sets
    const auto add = [&](decltype(r0)& r, decltype(r0)& i, decltype(r0)& r_rest, decltype(r0)& i_rest,
                         const std::uint8_t* at, const ByteFactors& w) {
      const auto both = hn::BitCast(u16, hn::LoadU(hn::Repartition<std::uint8_t, decltype(d)>(), at));
      const auto a = hn::BitCast(d16, hn::And(both, hn::Set(u16, 0x00ff)));
      const auto b = hn::BitCast(d16, hn::ShiftRight<8>(both));
      r = hn::ReorderWidenMulAccumulate(d, a, factor(w.real), r, r_rest);
      r = hn::ReorderWidenMulAccumulate(d, b, factor(w.negative), r, r_rest);
      i = hn::ReorderWidenMulAccumulate(d, a, factor(w.imaginary), i, i_rest);
      i = hn::ReorderWidenMulAccumulate(d, b, factor(w.real), i, i_rest);
    };
    for (std::size_t s = 0; s < pairs; ++s) {
      const std::uint8_t* row = quads + 4 * s * kBeamTile;
      add(r0, i0, r2, i2, row + 4 * t, weights[s]);
      add(r1, i1, r3, i3, row + 4 * second, weights[s]);
    }
    const auto store = [&](auto r, auto i, float* to) {
      const auto x = hn::ConvertTo(df, hn::Add(r, hn::Set(d, start.real)));
      const auto y = hn::ConvertTo(df, hn::Add(i, hn::Set(d, start.imaginary)));
      hn::StoreU(hn::MulAdd(x, x, hn::Mul(y, y)), df, to);
    };
    store(hn::RearrangeToOddPlusEven(r0, r2), hn::RearrangeToOddPlusEven(i0, i2), power + t);
    store(hn::RearrangeToOddPlusEven(r1, r3), hn::RearrangeToOddPlusEven(i1, i3), power + second);
  }
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
static_assert(kBeamTile == 64);
// Four products of bytes per instruction. Highway's AVX3 does not include VNNI, so the instruction is written out.
void AddByteStationsByVnni(const std::uint8_t* quads, const ByteFactors* weights, std::size_t pairs, float* power) {
  const Start start = start_of(weights, pairs);
  __m512i r0 = _mm512_set1_epi32(start.real), r1 = r0, r2 = r0, r3 = r0;
  __m512i i0 = _mm512_set1_epi32(start.imaginary), i1 = i0, i2 = i0, i3 = i0;
  const auto add = [](__m512i& r, __m512i& i, const std::uint8_t* at, __m512i real, __m512i imaginary) {
    const __m512i x = _mm512_loadu_si512(at);
    asm("vpdpbusd %2, %1, %0" : "+v"(r) : "v"(x), "v"(real));
    asm("vpdpbusd %2, %1, %0" : "+v"(i) : "v"(x), "v"(imaginary));
  };
  for (std::size_t s = 0; s < pairs; ++s, quads += 4 * kBeamTile) {
    const __m512i real = _mm512_set1_epi32(weights[s].real_bytes);
    const __m512i imaginary = _mm512_set1_epi32(weights[s].imaginary_bytes);
    add(r0, i0, quads, real, imaginary);
    add(r1, i1, quads + 64, real, imaginary);
    add(r2, i2, quads + 128, real, imaginary);
    add(r3, i3, quads + 192, real, imaginary);
  }
  const auto store = [](__m512i r, __m512i i, float* to) {
    const __m512 x = _mm512_cvtepi32_ps(r), y = _mm512_cvtepi32_ps(i);
    _mm512_storeu_ps(to, _mm512_fmadd_ps(x, x, _mm512_mul_ps(y, y)));
  };
  store(r0, i0, power), store(r1, i1, power + 16), store(r2, i2, power + 32), store(r3, i3, power + 48);
}
bool has_vnni() { return __builtin_cpu_supports("avx512vnni") != 0; }
#else
constexpr auto* AddByteStationsByVnni = &AddByteStations;
bool has_vnni() { return false; }
#endif

}  // namespace

BeamSums ChosenSums() { return &AddStations; }
BytePower ChosenBytePower() { return has_vnni() ? AddByteStationsByVnni : &AddByteStations; }
BytePower ChosenWordPower() { return &AddByteStations; }

}  // namespace ridge::search::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::search {

HWY_EXPORT(ChosenSums);
HWY_EXPORT(ChosenBytePower);
HWY_EXPORT(ChosenWordPower);

BeamSums beam_sums() { return HWY_DYNAMIC_DISPATCH(ChosenSums)(); }
BytePower byte_power() { return HWY_DYNAMIC_DISPATCH(ChosenBytePower)(); }
BytePower byte_power_of_words() { return HWY_DYNAMIC_DISPATCH(ChosenWordPower)(); }

}  // namespace ridge::search
#endif
