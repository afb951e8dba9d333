// Correlator kernels of the host, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filterbank/host/products.cpp"
// Highway needs this order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>

#include "filterbank/host/products.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::filterbank::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using std::size_t;

#if HWY_TARGET == HWY_SCALAR
constexpr size_t kLanes = 1;
#else
constexpr size_t kLanes = HWY_LANES(float) > kProductChannels ? kProductChannels : HWY_LANES(float);
#endif
using F = hn::CappedTag<float, kLanes>;
using V = hn::Vec<F>;

// 16 architectural registers hold half as many sums as 32: two columns at a time.
constexpr bool kFewRegisters = HWY_ARCH_X86 && HWY_TARGET != HWY_AVX3 && HWY_TARGET != HWY_AVX3_DL;
constexpr size_t kColumns = kFewRegisters ? 2 : kTileColumns;

template <size_t C>
HWY_INLINE void columns(const ProductTile& tile, size_t first, size_t v) {
  const F f;
  V re[kTileRows][C], im[kTileRows][C];
  float* const sums = tile.sums + first * kSignalFloats + v;
#pragma GCC unroll 2
  for (size_t r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 4
    for (size_t c = 0; c < C; ++c) {
      re[r][c] = hn::Load(f, sums + (r * kTileColumns + c) * kSignalFloats);
      im[r][c] = hn::Load(f, sums + (r * kTileColumns + c) * kSignalFloats + kProductChannels);
    }
  }
  const float* HWY_RESTRICT x = tile.rows + v;
  const float* HWY_RESTRICT y = tile.columns + first * kSignalFloats + v;
  for (size_t t = 0; t < tile.times; ++t, x += tile.time_stride, y += tile.time_stride) {
#pragma GCC unroll 2
    for (size_t r = 0; r < kTileRows; ++r) {
      const V xr = hn::Load(f, x + r * kSignalFloats), xi = hn::Load(f, x + r * kSignalFloats + kProductChannels);
#pragma GCC unroll 4
      for (size_t c = 0; c < C; ++c) {
        const V yr = hn::Load(f, y + c * kSignalFloats), yi = hn::Load(f, y + c * kSignalFloats + kProductChannels);
        re[r][c] = hn::MulAdd(xr, yr, re[r][c]);
        im[r][c] = hn::MulAdd(xi, yr, im[r][c]);
        re[r][c] = hn::MulAdd(xi, yi, re[r][c]);
        im[r][c] = hn::NegMulAdd(xr, yi, im[r][c]);
      }
    }
  }
#pragma GCC unroll 2
  for (size_t r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 4
    for (size_t c = 0; c < C; ++c) {
      hn::Store(re[r][c], f, sums + (r * kTileColumns + c) * kSignalFloats);
      hn::Store(im[r][c], f, sums + (r * kTileColumns + c) * kSignalFloats + kProductChannels);
    }
  }
}

void Tile(const ProductTile& tile) {
  for (size_t v = 0; v < kProductChannels; v += kLanes) {
    for (size_t c = 0; c < kTileColumns; c += kColumns) columns<kColumns>(tile, c, v);
  }
}

void Split(const float* from, size_t count, float* to) {
  if (count == kProductChannels) {
    const F f;
    for (size_t v = 0; v < kProductChannels; v += kLanes) {
      V re = hn::Zero(f), im = hn::Zero(f);
      hn::LoadInterleaved2(f, from + 2 * v, re, im);
      hn::Store(re, f, to + v);
      hn::Store(im, f, to + kProductChannels + v);
    }
    return;
  }
  std::fill(to, to + kSignalFloats, 0.0f);
  for (size_t k = 0; k < count; ++k) to[k] = from[2 * k], to[kProductChannels + k] = from[2 * k + 1];
}

ProductKernels Products() { return {Tile, Split}; }

}  // namespace
}  // namespace ridge::filterbank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::filterbank {
HWY_EXPORT(Products);
const ProductKernels& product_kernels() {
  static const ProductKernels chosen = HWY_DYNAMIC_DISPATCH(Products)();
  return chosen;
}
}  // namespace ridge::filterbank
#endif
