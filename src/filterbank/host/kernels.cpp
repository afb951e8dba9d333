// Sample conversion and FIR kernels of the host filter bank, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filterbank/host/kernels.cpp"
// Highway needs this order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/cache_control.h>
// clang-format on

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "filterbank/host/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::filterbank::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using std::size_t;

#if HWY_TARGET == HWY_SCALAR
constexpr size_t kLanes = 1;
#else
constexpr size_t kLanes = HWY_LANES(float) > kBlockFloats ? kBlockFloats : HWY_LANES(float);
#endif
using F = hn::CappedTag<float, kLanes>;
using V = hn::Vec<F>;

// 16 architectural registers hold half as many accumulators as 32.
constexpr bool kFewRegisters = HWY_ARCH_X86 && HWY_TARGET != HWY_AVX3 && HWY_TARGET != HWY_AVX3_DL;
constexpr size_t kAccumulators = kFewRegisters ? 8 : 16;
constexpr size_t kChunk = kFewRegisters ? 4 : 8;  // taps whose weights are in registers

// --- conversion ----------------------------------------------------------------------------------------------------

template <class T>
HWY_INLINE void convert_plainly(const ConvertRow& row, size_t from_sample) {
  for (size_t n = from_sample; n < row.channels; ++n) {
    for (size_t p = 0; p < row.polarizations; ++p) {
      T parts[2];
      std::memcpy(parts, row.from + (n * row.polarizations + p) * sizeof parts, sizeof parts);
      float* to = row.to + n / kBlock * row.block_stride + p * kBlockFloats + n % kBlock * 2;
      to[0] = static_cast<float>(parts[0]);
      to[1] = static_cast<float>(parts[1]);
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
template <class D>
HWY_INLINE hn::Vec<D> load_bytes(D d, const std::byte* from) {
  const hn::Repartition<std::uint8_t, D> bytes;
  return hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from)));
}

// Stores eight int16 numbers as floats.
template <size_t kWidth = kLanes>
HWY_INLINE void store_eight(hn::Vec<hn::CappedTag<std::int16_t, 8>> numbers, float* to) {
  if constexpr (kWidth >= 8) {
    const hn::CappedTag<float, kWidth >= 8 ? 8 : 4> f;
    const hn::RebindToSigned<decltype(f)> i;
    hn::StoreU(hn::ConvertTo(f, hn::PromoteTo(i, numbers)), f, to);
  } else {
    const hn::CappedTag<float, 4> f;
    const hn::RebindToSigned<decltype(f)> i;
    const hn::CappedTag<std::int16_t, 8> s;
    hn::StoreU(hn::ConvertTo(f, hn::PromoteTo(i, hn::LowerHalf(numbers))), f, to);
    hn::StoreU(hn::ConvertTo(f, hn::PromoteTo(i, hn::UpperHalf(hn::Half<decltype(s)>(), numbers))), f, to + 4);
  }
}

HWY_INLINE void store_sixteen(hn::Vec<hn::CappedTag<std::int8_t, 16>> numbers, float* to) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  const hn::CappedTag<float, 16> f;
  const hn::RebindToSigned<decltype(f)> i;
  return hn::StoreU(hn::ConvertTo(f, hn::PromoteTo(i, numbers)), f, to);
#else
  const hn::CappedTag<std::int8_t, 16> b;
  const hn::CappedTag<std::int16_t, 8> s;
  store_eight(hn::PromoteTo(s, hn::LowerHalf(numbers)), to);
  store_eight(hn::PromoteTo(s, hn::UpperHalf(hn::Half<decltype(b)>(), numbers)), to + 8);
#endif
}
#endif

// Converts kBlock samples of each polarization.
template <size_t P>
HWY_INLINE void block_of_int8(const std::byte* from, float* to) {
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<std::int8_t, 16> bytes;
  if constexpr (P == 1) {
    store_sixteen(load_bytes(bytes, from), to);
  } else {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    // Converted to float first: a sample is then 64 bits, and one permutation of both vectors extracts a polarization.
    const F f;
    const hn::RebindToSigned<F> i;
    const hn::Repartition<std::uint64_t, F> samples;
    const auto a = hn::BitCast(samples, hn::ConvertTo(f, hn::PromoteTo(i, load_bytes(bytes, from))));
    const auto b = hn::BitCast(samples, hn::ConvertTo(f, hn::PromoteTo(i, load_bytes(bytes, from + 16))));
    hn::StoreU(hn::BitCast(f, hn::ConcatEven(samples, b, a)), f, to);
    hn::StoreU(hn::BitCast(f, hn::ConcatOdd(samples, b, a)), f, to + kBlockFloats);
#else
    const hn::CappedTag<std::uint16_t, 8> pairs;
    const auto a = load_bytes(pairs, from), b = load_bytes(pairs, from + 16);
    store_sixteen(hn::BitCast(bytes, hn::ConcatEven(pairs, b, a)), to);
    store_sixteen(hn::BitCast(bytes, hn::ConcatOdd(pairs, b, a)), to + kBlockFloats);
#endif
  }
#else
  convert_plainly<std::int8_t>({.from = from, .channels = kBlock, .polarizations = P, .to = to, .block_stride = 0}, 0);
#endif
}

template <size_t P>
HWY_INLINE void block_of_int16(const std::byte* from, float* to) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  const hn::CappedTag<float, 16> f;
  const hn::RebindToSigned<decltype(f)> i;
  const hn::CappedTag<std::int16_t, 16> numbers;
  if constexpr (P == 1) {
    hn::StoreU(hn::ConvertTo(f, hn::PromoteTo(i, load_bytes(numbers, from))), f, to);
  } else {
    const hn::CappedTag<std::uint32_t, 16> pairs;
    const hn::Half<decltype(pairs)> half;
    const auto both = load_bytes(pairs, from);
    const auto x = hn::BitCast(numbers, hn::LowerHalf(half, hn::ConcatEven(pairs, both, both)));
    const auto y = hn::BitCast(numbers, hn::LowerHalf(half, hn::ConcatOdd(pairs, both, both)));
    hn::StoreU(hn::ConvertTo(f, hn::PromoteTo(i, x)), f, to);
    hn::StoreU(hn::ConvertTo(f, hn::PromoteTo(i, y)), f, to + kBlockFloats);
  }
#elif HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<std::int16_t, 8> numbers;
  const hn::CappedTag<std::uint32_t, 4> pairs;
  for (size_t half = 0; half < 2; ++half) {
    float* there = to + half * 8;
    if constexpr (P == 1) {
      store_eight(load_bytes(numbers, from + half * 16), there);
    } else {
      const auto a = load_bytes(pairs, from + half * 32), b = load_bytes(pairs, from + half * 32 + 16);
      store_eight(hn::BitCast(numbers, hn::ConcatEven(pairs, b, a)), there);
      store_eight(hn::BitCast(numbers, hn::ConcatOdd(pairs, b, a)), there + kBlockFloats);
    }
  }
#else
  convert_plainly<std::int16_t>({.from = from, .channels = kBlock, .polarizations = P, .to = to, .block_stride = 0}, 0);
#endif
}

template <size_t P>
HWY_INLINE void block_of_float(const std::byte* from, float* to) {
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 4> numbers;
  const hn::CappedTag<std::uint64_t, 2> pairs;
  for (size_t quarter = 0; quarter < 4; ++quarter) {
    float* there = to + quarter * 4;
    if constexpr (P == 1) {
      hn::StoreU(load_bytes(numbers, from + quarter * 16), numbers, there);
    } else {
      const auto a = load_bytes(pairs, from + quarter * 32), b = load_bytes(pairs, from + quarter * 32 + 16);
      hn::StoreU(hn::BitCast(numbers, hn::ConcatLowerLower(pairs, b, a)), numbers, there);
      hn::StoreU(hn::BitCast(numbers, hn::ConcatUpperUpper(pairs, b, a)), numbers, there + kBlockFloats);
    }
  }
#else
  convert_plainly<float>({.from = from, .channels = kBlock, .polarizations = P, .to = to, .block_stride = 0}, 0);
#endif
}

// Called by name, because compilers at low optimization levels do not inline through a function parameter.
template <class T, size_t P>
HWY_INLINE void convert_block(const std::byte* from, float* to) {
  if constexpr (std::is_same_v<T, std::int8_t>) {
    block_of_int8<P>(from, to);
  } else if constexpr (std::is_same_v<T, std::int16_t>) {
    block_of_int16<P>(from, to);
  } else {
    block_of_float<P>(from, to);
  }
}

// Converts a row of numbers T.
template <class T, size_t P>
HWY_INLINE void row_by_blocks(const ConvertRow& row) {
  size_t done = 0;
  float* to = row.to;
  for (; done + kBlock <= row.channels; done += kBlock, to += row.block_stride) {
    convert_block<T, P>(row.from + done * P * 2 * sizeof(T), to);
  }
  convert_plainly<T>(row, done);
}

template <class T, size_t P>
HWY_INLINE void rows_of_block(const ConvertBlock& task) {
  const size_t offset = task.first * P * 2 * sizeof(T);
  float* to = task.to;
  for (size_t r = 0; r < task.count; ++r, to += P * kBlockFloats) {
    if (task.channels == kBlock) {
      convert_block<T, P>(task.rows[r] + offset, to);
      continue;
    }
    for (size_t i = 0; i < P * kBlockFloats; ++i) to[i] = 0;
    convert_plainly<T>(
        {.from = task.rows[r] + offset, .channels = task.channels, .polarizations = P, .to = to, .block_stride = 0}, 0);
  }
}

void ConvertInt8(const ConvertRow& row) {
  row.polarizations == 1 ? row_by_blocks<std::int8_t, 1>(row) : row_by_blocks<std::int8_t, 2>(row);
}
void ConvertInt16(const ConvertRow& row) {
  row.polarizations == 1 ? row_by_blocks<std::int16_t, 1>(row) : row_by_blocks<std::int16_t, 2>(row);
}
void ConvertFloat(const ConvertRow& row) {
  row.polarizations == 1 ? row_by_blocks<float, 1>(row) : row_by_blocks<float, 2>(row);
}
void BlockInt8(const ConvertBlock& task) {
  task.polarizations == 1 ? rows_of_block<std::int8_t, 1>(task) : rows_of_block<std::int8_t, 2>(task);
}
void BlockInt16(const ConvertBlock& task) {
  task.polarizations == 1 ? rows_of_block<std::int16_t, 1>(task) : rows_of_block<std::int16_t, 2>(task);
}
void BlockFloat(const ConvertBlock& task) {
  task.polarizations == 1 ? rows_of_block<float, 1>(task) : rows_of_block<float, 2>(task);
}

void UnpackInt4(const std::byte* from, size_t samples, signed char* to) {
  size_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<std::int8_t, 16> bytes;
  const hn::CappedTag<std::int16_t, 8> words;
  for (; done + 16 <= samples; done += 16) {
    // Sign-extends nibbles within 16-bit words by shifts.
    const auto both = load_bytes(words, from + done);
    const auto high_odd = hn::ShiftRight<12>(both);
    const auto high_even = hn::ShiftRight<12>(hn::ShiftLeft<8>(both));
    const auto low_odd = hn::ShiftRight<12>(hn::ShiftLeft<4>(both));
    const auto low_even = hn::ShiftRight<12>(hn::ShiftLeft<12>(both));
    const auto mask = hn::Set(words, std::int16_t{0xff});
    const auto re = hn::Or(hn::And(low_even, mask), hn::ShiftLeft<8>(low_odd));
    const auto im = hn::Or(hn::And(high_even, mask), hn::ShiftLeft<8>(high_odd));
    const auto re8 = hn::BitCast(bytes, re), im8 = hn::BitCast(bytes, im);
    auto* const there = reinterpret_cast<std::int8_t*>(to) + 2 * done;
    hn::StoreU(hn::InterleaveLower(bytes, re8, im8), bytes, there);
    hn::StoreU(hn::InterleaveUpper(bytes, re8, im8), bytes, there + 16);
  }
#endif
  for (; done < samples; ++done) {
    const int both = static_cast<int>(from[done]);
    to[2 * done] = static_cast<signed char>(((both & 15) ^ 8) - 8);
    to[2 * done + 1] = static_cast<signed char>(((both >> 4) ^ 8) - 8);
  }
}

void BlockInt4(const ConvertBlock& task) {
  const size_t samples = task.channels * task.polarizations;
  alignas(16) signed char unpacked[2 * 2 * kBlock];
  const auto* from = reinterpret_cast<const std::byte*>(unpacked);
  ConvertBlock one = task;
  one.rows = &from;
  one.count = 1;
  one.first = 0;
  for (size_t r = 0; r < task.count; ++r, one.to += task.polarizations * kBlockFloats) {
    UnpackInt4(task.rows[r] + task.first * task.polarizations, samples, unpacked);
    BlockInt8(one);
  }
}

// --- FIR -----------------------------------------------------------------------------------------------------------

// sum += x * w by the instruction itself: otherwise the compiler moves some of the 16 accumulators in every chunk and
// reloads samples.
HWY_INLINE void multiply_add(V x, V w, V& sum) {
#if HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64
  asm("fmla %0.4s, %1.4s, %2.4s" : "+w"(sum.raw) : "w"(x.raw), "w"(w.raw));
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  asm("vfmadd231ps %2, %1, %0" : "+v"(sum.raw) : "v"(x.raw), "v"(w.raw));
#else
  sum = hn::MulAdd(x, w, sum);
#endif
}

// acc[b][p] += rows[b + k] * weights[k] for k < K, in increasing k for every b; each row is loaded once.
template <size_t K, size_t kTimes, size_t P>
HWY_INLINE void chunk(const float* HWY_RESTRICT rows, const float* HWY_RESTRICT weights, size_t stride,
                      V (&acc)[kTimes][P]) {
  const F f;
  V w[K];
#pragma GCC unroll 8
  for (size_t k = 0; k < K; ++k) w[k] = hn::LoadU(f, weights + k * stride);
#pragma GCC unroll 24
  for (size_t r = 0; r < K + kTimes - 1; ++r) {
#pragma GCC unroll 2
    for (size_t p = 0; p < P; ++p) {
      const V x = hn::Load(f, rows + (r * P + p) * kBlockFloats);
#pragma GCC unroll 16
      for (size_t i = 0; i < kTimes; ++i) {
        const size_t b = kTimes - 1 - i;
        if (r >= b && r - b < K) multiply_add(x, w[r - b], acc[b][p]);
      }
    }
  }
}

template <size_t kTimes, size_t P>
HWY_INLINE void rest(size_t taps, const float* rows, const float* weights, size_t stride, V (&acc)[kTimes][P]) {
  switch (taps) {
    case 1:
      return chunk<1>(rows, weights, stride, acc);
    case 2:
      return chunk<2>(rows, weights, stride, acc);
    case 3:
      return chunk<3>(rows, weights, stride, acc);
    case 4:
      return chunk<4>(rows, weights, stride, acc);
    case 5:
      return chunk<5>(rows, weights, stride, acc);
    case 6:
      return chunk<6>(rows, weights, stride, acc);
    case 7:
      return chunk<7>(rows, weights, stride, acc);
    default:
      return;
  }
}

template <size_t P>
void Tile(const FirBlock& block) {
  constexpr size_t kTimes = kAccumulators / P;
  const F f;
  for (size_t t = 0; t < block.times; t += kTimes) {
    for (size_t v = 0; v < kBlockFloats; v += kLanes) {
      V acc[kTimes][P];
#pragma GCC unroll 16
      for (size_t b = 0; b < kTimes; ++b) {
#pragma GCC unroll 2
        for (size_t p = 0; p < P; ++p) acc[b][p] = hn::Zero(f);
      }
      const float* rows = block.rows + t * P * kBlockFloats + v;
      const float* weights = block.weights + v;
      size_t taps = block.taps;
      for (; taps >= kChunk; taps -= kChunk) {
        chunk<kChunk>(rows, weights, block.weight_stride, acc);
        rows += kChunk * P * kBlockFloats;
        weights += kChunk * block.weight_stride;
      }
      rest(taps, rows, weights, block.weight_stride, acc);
      float* out = block.out + t * block.time_stride + v;
#pragma GCC unroll 16
      for (size_t b = 0; b < kTimes; ++b) {
#pragma GCC unroll 2
        for (size_t p = 0; p < P; ++p) {
          hn::Store(acc[b][p], f, out + b * block.time_stride + p * block.polarization_stride);
        }
      }
    }
  }
}

void FirTile(const FirBlock& block) { block.polarizations == 1 ? Tile<1>(block) : Tile<2>(block); }

template <size_t P>
void One(const FirBlock& block) {
  const F f;
  constexpr size_t kVectors = kBlockFloats / kLanes;
  // At most 8 accumulators at once.
  constexpr size_t kTogether = kVectors < 4 ? kVectors : 4;
  for (size_t v = 0; v < kVectors; v += kTogether) {
    V acc[kTogether][P];
#pragma GCC unroll 4
    for (size_t i = 0; i < kTogether; ++i) {
#pragma GCC unroll 2
      for (size_t p = 0; p < P; ++p) acc[i][p] = hn::Zero(f);
    }
    const float* rows = block.rows + v * kLanes;
    const float* weights = block.weights + v * kLanes;
    for (size_t j = 0; j < block.taps; ++j, rows += P * kBlockFloats, weights += block.weight_stride) {
#pragma GCC unroll 4
      for (size_t i = 0; i < kTogether; ++i) {
        const V w = hn::LoadU(f, weights + i * kLanes);
#pragma GCC unroll 2
        for (size_t p = 0; p < P; ++p) {
          acc[i][p] = hn::MulAdd(hn::Load(f, rows + p * kBlockFloats + i * kLanes), w, acc[i][p]);
        }
      }
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < kTogether; ++i) {
#pragma GCC unroll 2
      for (size_t p = 0; p < P; ++p) {
        hn::Store(acc[i][p], f, block.out + p * block.polarization_stride + (v + i) * kLanes);
      }
    }
  }
}

void FirOne(const FirBlock& block) { block.polarizations == 1 ? One<1>(block) : One<2>(block); }

// Rows hold xr, xi, yr, yi of each channel: 4 * kBlock floats per row, one weight per channel.
void FirPairs(const FirBlock& block) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t m = 0; m < kBlock; ++m) {
    for (size_t i = 0; i < 4; ++i) {
      float sum = 0;
      for (size_t j = 0; j < block.taps; ++j) {
        sum += block.rows[j * 4 * kBlock + 4 * m + i] * block.weights[j * block.weight_stride + m];
      }
      block.out[i / 2 * block.polarization_stride + 2 * m + i % 2] = sum;
    }
  }
#else
  const hn::CappedTag<float, 4> f;
  const hn::CappedTag<std::uint64_t, 2> pairs;
  hn::Vec<decltype(f)> acc[kBlock];
  for (size_t m = 0; m < kBlock; ++m) acc[m] = hn::Zero(f);
  const float* rows = block.rows;
  const float* weights = block.weights;
  for (size_t j = 0; j < block.taps; ++j, rows += 4 * kBlock, weights += block.weight_stride) {
#pragma GCC unroll 8
    for (size_t m = 0; m < kBlock; ++m) {
      acc[m] = hn::MulAdd(hn::Load(f, rows + 4 * m), hn::Set(f, weights[m]), acc[m]);
    }
  }
#pragma GCC unroll 4
  for (size_t m = 0; m < kBlock; m += 2) {
    const auto a = hn::BitCast(pairs, acc[m]), b = hn::BitCast(pairs, acc[m + 1]);
    hn::Store(hn::BitCast(f, hn::ConcatLowerLower(pairs, b, a)), f, block.out + 2 * m);
    hn::Store(hn::BitCast(f, hn::ConcatUpperUpper(pairs, b, a)), f, block.out + block.polarization_stride + 2 * m);
  }
#endif
}

// --- non-temporal stores -------------------------------------------------------------------------------------------

#if HWY_ARCH_X86
void StorePast(const float* HWY_RESTRICT from, float* HWY_RESTRICT to, size_t lines) {
  const F f;
  for (const float* const end = from + lines * kBlockFloats; from < end; from += kBlockFloats, to += kBlockFloats) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kBlockFloats; v += kLanes) hn::Stream(hn::Load(f, from + v), f, to + v);
  }
}
void Fence() { hwy::FlushStream(); }
constexpr auto kStorePast = StorePast;
constexpr auto kFence = Fence;
#else
constexpr std::nullptr_t kStorePast = nullptr, kFence = nullptr;
#endif

Kernels ThisTarget() {
  return {hwy::TargetName(HWY_TARGET),
          kAccumulators,
          ConvertInt8,
          ConvertInt16,
          ConvertFloat,
          UnpackInt4,
          BlockInt4,
          BlockInt8,
          BlockInt16,
          BlockFloat,
          FirTile,
          FirOne,
          FirPairs,
          kStorePast,
          kFence};
}

}  // namespace
}  // namespace ridge::filterbank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::filterbank {
HWY_EXPORT(ThisTarget);
const Kernels& kernels() {
  static const Kernels chosen = HWY_DYNAMIC_DISPATCH(ThisTarget)();
  return chosen;
}
}  // namespace ridge::filterbank
#endif
