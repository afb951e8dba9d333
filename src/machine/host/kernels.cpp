// Loops that read, write, copy and multiply, per instruction set.
#include "machine/host/kernels.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "machine/host/kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::machine::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Two pipes of latency 4 to 5 need 10 chains, four pipes of latency 4 need 16. x86 before AVX-512 has 16 registers and
// two pipes, so more than 12 chains would spill. Highway numbers better targets lower: AVX3 and all below have 32
// registers.
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
constexpr std::size_t kChains = 12;
#else
constexpr std::size_t kChains = 24;
#endif

template <class D, class V = hn::Vec<D>>
HWY_INLINE double sum_of_lanes(D d, V a, V b, V c, V e) {
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e)))));
}

// Named accumulators, because scalable vectors cannot be stored in arrays. The factor is loaded in every iteration (see
// kernels.hpp).
template <class T>
HWY_NOINLINE double fma_chains(std::size_t iterations, T factor) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T factors[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(hn::Set(d, factor), d, factors);
  const T* from = factors;
  const auto start = [d](int k) HWY_ATTR { return hn::Set(d, static_cast<T>(k)); };
  auto a0 = start(0), a1 = start(1), a2 = start(2), a3 = start(3), a4 = start(4), a5 = start(5);
  auto a6 = start(6), a7 = start(7), a8 = start(8), a9 = start(9), a10 = start(10), a11 = start(11);
  auto b0 = start(12), b1 = start(13), b2 = start(14), b3 = start(15), b4 = start(16), b5 = start(17);
  auto b6 = start(18), b7 = start(19), b8 = start(20), b9 = start(21), b10 = start(22), b11 = start(23);
  for (std::size_t i = 0; i < iterations; ++i) {
    asm volatile("" : "+r"(from) : : "memory");  // forces a reload in every iteration
    const auto x = hn::Load(d, from);
    a0 = hn::MulAdd(x, x, a0);
    a1 = hn::MulAdd(x, x, a1);
    a2 = hn::MulAdd(x, x, a2);
    a3 = hn::MulAdd(x, x, a3);
    a4 = hn::MulAdd(x, x, a4);
    a5 = hn::MulAdd(x, x, a5);
    a6 = hn::MulAdd(x, x, a6);
    a7 = hn::MulAdd(x, x, a7);
    a8 = hn::MulAdd(x, x, a8);
    a9 = hn::MulAdd(x, x, a9);
    a10 = hn::MulAdd(x, x, a10);
    a11 = hn::MulAdd(x, x, a11);
    if constexpr (kChains == 24) {
      b0 = hn::MulAdd(x, x, b0);
      b1 = hn::MulAdd(x, x, b1);
      b2 = hn::MulAdd(x, x, b2);
      b3 = hn::MulAdd(x, x, b3);
      b4 = hn::MulAdd(x, x, b4);
      b5 = hn::MulAdd(x, x, b5);
      b6 = hn::MulAdd(x, x, b6);
      b7 = hn::MulAdd(x, x, b7);
      b8 = hn::MulAdd(x, x, b8);
      b9 = hn::MulAdd(x, x, b9);
      b10 = hn::MulAdd(x, x, b10);
      b11 = hn::MulAdd(x, x, b11);
    }
  }
  double sum = sum_of_lanes(d, a0, a1, a2, a3) + sum_of_lanes(d, a4, a5, a6, a7) + sum_of_lanes(d, a8, a9, a10, a11);
  if constexpr (kChains == 24)
    sum += sum_of_lanes(d, b0, b1, b2, b3) + sum_of_lanes(d, b4, b5, b6, b7) + sum_of_lanes(d, b8, b9, b10, b11);
  return sum;
}

double FmaFloat(std::size_t iterations, float x) { return fma_chains<float>(iterations, x); }
double FmaDouble(std::size_t iterations, double x) { return fma_chains<double>(iterations, x); }
FmaShape ShapeFloat() { return {hn::Lanes(hn::ScalableTag<float>()), kChains}; }
FmaShape ShapeDouble() { return {hn::Lanes(hn::ScalableTag<double>()), kChains}; }

std::uint64_t Read(const std::byte* from, std::size_t bytes) {
  const hn::ScalableTag<std::uint64_t> d;
  const auto* words = reinterpret_cast<const std::uint64_t*>(from);
  const std::size_t count = bytes / 8, lanes = hn::Lanes(d);
  // Eight sums: a XOR has a latency of two cycles, and up to three loads complete per cycle.
  auto a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
  std::size_t i = 0;
  for (; i + 8 * lanes <= count; i += 8 * lanes) {
    a0 = hn::Xor(a0, hn::Load(d, words + i));
    a1 = hn::Xor(a1, hn::Load(d, words + i + lanes));
    a2 = hn::Xor(a2, hn::Load(d, words + i + 2 * lanes));
    a3 = hn::Xor(a3, hn::Load(d, words + i + 3 * lanes));
    a4 = hn::Xor(a4, hn::Load(d, words + i + 4 * lanes));
    a5 = hn::Xor(a5, hn::Load(d, words + i + 5 * lanes));
    a6 = hn::Xor(a6, hn::Load(d, words + i + 6 * lanes));
    a7 = hn::Xor(a7, hn::Load(d, words + i + 7 * lanes));
  }
  alignas(256) std::uint64_t parts[HWY_MAX_BYTES / 8];
  hn::Store(hn::Xor(hn::Xor(hn::Xor(a0, a1), hn::Xor(a2, a3)), hn::Xor(hn::Xor(a4, a5), hn::Xor(a6, a7))), d, parts);
  std::uint64_t all = 0;
  for (std::size_t k = 0; k < lanes; ++k) all ^= parts[k];
  for (; i < count; ++i) all ^= words[i];
  return all;
}

template <bool kStreaming>
HWY_INLINE void write_words(std::byte* to, std::size_t bytes, std::uint64_t word) {
  const hn::ScalableTag<std::uint64_t> d;
  auto* words = reinterpret_cast<std::uint64_t*>(to);
  const std::size_t count = bytes / 8, lanes = hn::Lanes(d);
  const auto v = hn::Set(d, word);
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    if constexpr (kStreaming) {
      hn::Stream(v, d, words + i);
      hn::Stream(v, d, words + i + lanes);
      hn::Stream(v, d, words + i + 2 * lanes);
      hn::Stream(v, d, words + i + 3 * lanes);
    } else {
      hn::Store(v, d, words + i);
      hn::Store(v, d, words + i + lanes);
      hn::Store(v, d, words + i + 2 * lanes);
      hn::Store(v, d, words + i + 3 * lanes);
    }
  }
  for (; i < count; ++i) words[i] = word;
  if constexpr (kStreaming) hwy::FlushStream();
}

template <bool kStreaming>
HWY_INLINE void copy_words(const std::byte* from, std::byte* to, std::size_t bytes) {
  const hn::ScalableTag<std::uint64_t> d;
  const auto* HWY_RESTRICT source = reinterpret_cast<const std::uint64_t*>(from);
  auto* HWY_RESTRICT target = reinterpret_cast<std::uint64_t*>(to);
  const std::size_t count = bytes / 8, lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    const auto a = hn::Load(d, source + i), b = hn::Load(d, source + i + lanes);
    const auto c = hn::Load(d, source + i + 2 * lanes), e = hn::Load(d, source + i + 3 * lanes);
    if constexpr (kStreaming) {
      hn::Stream(a, d, target + i);
      hn::Stream(b, d, target + i + lanes);
      hn::Stream(c, d, target + i + 2 * lanes);
      hn::Stream(e, d, target + i + 3 * lanes);
    } else {
      hn::Store(a, d, target + i);
      hn::Store(b, d, target + i + lanes);
      hn::Store(c, d, target + i + 2 * lanes);
      hn::Store(e, d, target + i + 3 * lanes);
    }
  }
  for (; i < count; ++i) target[i] = source[i];
  if constexpr (kStreaming) hwy::FlushStream();
}

void Write(std::byte* to, std::size_t bytes, std::uint64_t word) { write_words<false>(to, bytes, word); }
void WriteStreaming(std::byte* to, std::size_t bytes, std::uint64_t word) { write_words<true>(to, bytes, word); }
void Copy(const std::byte* from, std::byte* to, std::size_t bytes) { copy_words<false>(from, to, bytes); }
void CopyStreaming(const std::byte* from, std::byte* to, std::size_t bytes) { copy_words<true>(from, to, bytes); }

}  // namespace ridge::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::machine {

HWY_EXPORT(FmaFloat);
HWY_EXPORT(FmaDouble);
HWY_EXPORT(ShapeFloat);
HWY_EXPORT(ShapeDouble);
HWY_EXPORT(Read);
HWY_EXPORT(Write);
HWY_EXPORT(WriteStreaming);
HWY_EXPORT(Copy);
HWY_EXPORT(CopyStreaming);

FmaShape fma_shape_float() { return HWY_DYNAMIC_DISPATCH(ShapeFloat)(); }
FmaShape fma_shape_double() { return HWY_DYNAMIC_DISPATCH(ShapeDouble)(); }
double fma_chains_float(std::size_t iterations, float x) { return HWY_DYNAMIC_DISPATCH(FmaFloat)(iterations, x); }
double fma_chains_double(std::size_t iterations, double x) { return HWY_DYNAMIC_DISPATCH(FmaDouble)(iterations, x); }
std::uint64_t read_bytes(const std::byte* from, std::size_t bytes) { return HWY_DYNAMIC_DISPATCH(Read)(from, bytes); }

void write_bytes(std::byte* to, std::size_t bytes, std::uint64_t word) { HWY_DYNAMIC_DISPATCH(Write)(to, bytes, word); }
void copy_bytes(const std::byte* from, std::byte* to, std::size_t bytes) {
  HWY_DYNAMIC_DISPATCH(Copy)(from, to, bytes);
}

bool has_streaming_stores() { return HWY_ARCH_X86 || arm_has_streaming_stores(); }

void write_bytes_streaming(std::byte* to, std::size_t bytes, std::uint64_t word) {
  if (arm_has_streaming_stores())
    arm_write_streaming(to, bytes, word);
  else
    HWY_DYNAMIC_DISPATCH(WriteStreaming)(to, bytes, word);
}

void copy_bytes_streaming(const std::byte* from, std::byte* to, std::size_t bytes) {
  if (arm_has_streaming_stores())
    arm_copy_streaming(from, to, bytes);
  else
    HWY_DYNAMIC_DISPATCH(CopyStreaming)(from, to, bytes);
}

}  // namespace ridge::machine
#endif
