// Exact running sums and variances of rows, by Highway.
#include "image/variance/host/tile_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/variance/host/exact_kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// new^2 - old^2 = (new - old) (new + old); 128 is subtracted from both.
void narrow(const std::uint8_t* HWY_RESTRICT fresh, const std::uint8_t* HWY_RESTRICT old,
            std::int16_t* HWY_RESTRICT sums, std::int32_t* HWY_RESTRICT squares, int n) {
  if (old == nullptr) {
    for (int c = 0; c < n; ++c) {
      const auto x = static_cast<std::int16_t>(fresh[c] - 128);
      sums[c] = static_cast<std::int16_t>(sums[c] + x);
      squares[c] += x * x;
    }
    return;
  }
  for (int c = 0; c < n; ++c) {
    const auto d = static_cast<std::int16_t>(fresh[c] - old[c]), e = static_cast<std::int16_t>(fresh[c] + old[c] - 256);
    sums[c] = static_cast<std::int16_t>(sums[c] + d);
    squares[c] += d * e;
  }
}

void wide(const std::int32_t* HWY_RESTRICT fresh, const std::int32_t* HWY_RESTRICT old, std::int64_t* HWY_RESTRICT sums,
          std::int64_t* HWY_RESTRICT squares, int n) {
  for (int c = 0; c < n; ++c) {
    const std::int64_t a = fresh[c], b = old == nullptr ? 0 : old[c];
    sums[c] += a - b;
    squares[c] += (a - b) * (a + b);
  }
}

using D = hn::CappedTag<std::int32_t, 4>;

HWY_INLINE hn::Vec<D> four(const std::int32_t* p) { return hn::LoadU(D(), p); }
HWY_INLINE hn::Vec<D> four(const std::int16_t* p) {
  return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<std::int16_t, D>(), p));
}

// Prefix sums of a row: four lanes by two shifts, four vectors at a time to shorten the chain of carries.
template <class T>
HWY_INLINE void scan(const T* HWY_RESTRICT in, int n, std::int32_t* HWY_RESTRICT out) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  auto base = hn::Zero(d);
  int c = 0;
  if (lanes == 4) {
    for (; c + 16 <= n; c += 16) {
      hn::Vec<D> x0 = four(in + c), x1 = four(in + c + 4), x2 = four(in + c + 8), x3 = four(in + c + 12);
      x0 = hn::Add(x0, hn::ShiftLeftLanes<1>(d, x0));
      x1 = hn::Add(x1, hn::ShiftLeftLanes<1>(d, x1));
      x2 = hn::Add(x2, hn::ShiftLeftLanes<1>(d, x2));
      x3 = hn::Add(x3, hn::ShiftLeftLanes<1>(d, x3));
      x0 = hn::Add(x0, hn::ShiftLeftLanes<2>(d, x0));
      x1 = hn::Add(x1, hn::ShiftLeftLanes<2>(d, x1));
      x2 = hn::Add(x2, hn::ShiftLeftLanes<2>(d, x2));
      x3 = hn::Add(x3, hn::ShiftLeftLanes<2>(d, x3));
      x1 = hn::Add(x1, hn::Broadcast<3>(x0));
      x3 = hn::Add(x3, hn::Broadcast<3>(x2));
      const auto half = hn::Broadcast<3>(x1);
      x2 = hn::Add(x2, half);
      x3 = hn::Add(x3, half);
      hn::StoreU(hn::Add(x0, base), d, out + c);
      hn::StoreU(hn::Add(x1, base), d, out + c + 4);
      hn::StoreU(hn::Add(x2, base), d, out + c + 8);
      x3 = hn::Add(x3, base);
      hn::StoreU(x3, d, out + c + 12);
      base = hn::Broadcast<3>(x3);
    }
  }
  std::int32_t carry = hn::GetLane(base);
  for (; c < n; ++c) out[c] = carry += in[c];
}

// With d the rounded mean and r the remainder, S = n d + r: M2 = Q - d (S + r) - r^2 / n; only the last term is not an
// integer.
void narrow_row(const std::int16_t* sums, const std::int32_t* squares, int window, int count, int cells,
                std::int32_t* running, float* HWY_RESTRICT out) {
  const int n = count + window - 1;
  std::int32_t *s = running, *q = running + count + window + 32;
  s[0] = q[0] = 0;
  scan(sums, n, s + 1);
  scan(squares, n, q + 1);
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const float share = 1.0f / static_cast<float>(cells);
  const auto all = hn::Set(d, static_cast<float>(cells)), each = hn::Set(d, share), rounder = hn::Set(d, 12582912.0f);
  for (int c = 0; c < count; c += lanes) {  // the last vector reads and writes past the end: both arrays are padded
    const auto sum = hn::ConvertTo(d, hn::Sub(hn::LoadU(di, s + c + window), hn::LoadU(di, s + c)));
    const auto square = hn::ConvertTo(d, hn::Sub(hn::LoadU(di, q + c + window), hn::LoadU(di, q + c)));
    const auto mean = hn::Sub(hn::MulAdd(sum, each, rounder), rounder);
    const auto rest = hn::NegMulAdd(mean, all, sum);
    const auto whole = hn::NegMulAdd(mean, hn::Add(sum, rest), square);
    hn::StoreU(hn::Mul(hn::NegMulAdd(hn::Mul(rest, rest), each, whole), each), d, out + c);
  }
}

void wide_row(const std::int64_t* sums, const std::int64_t* squares, int window, int count, int cells, float* out) {
  const std::int64_t n = cells;
  std::int64_t s = 0, q = 0;
  for (int c = 0; c + 1 < window; ++c) {
    s += sums[c];
    q += squares[c];
  }
  for (int c = 0; c < count; ++c) {
    s += sums[c + window - 1];
    q += squares[c + window - 1];
    const std::int64_t mean = (s + (s < 0 ? -n / 2 : n / 2)) / n, rest = s - mean * n;
    const auto whole = static_cast<double>(q - mean * (s + rest)), last = static_cast<double>(rest * rest);
    out[c] = static_cast<float>((whole - last / static_cast<double>(n)) / static_cast<double>(n));
    s -= sums[c];
    q -= squares[c];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {

HWY_EXPORT(narrow);
HWY_EXPORT(wide);
HWY_EXPORT(narrow_row);
HWY_EXPORT(wide_row);

void exchange_narrow(const std::uint8_t* fresh, const std::uint8_t* old, std::int16_t* sums, std::int32_t* squares,
                     int n) {
  HWY_DYNAMIC_DISPATCH(narrow)(fresh, old, sums, squares, n);
}
void exchange_wide(const std::int32_t* fresh, const std::int32_t* old, std::int64_t* sums, std::int64_t* squares,
                   int n) {
  HWY_DYNAMIC_DISPATCH(wide)(fresh, old, sums, squares, n);
}
void finish_narrow(const std::int16_t* sums, const std::int32_t* squares, int window, int count, int cells,
                   std::int32_t* running, float* out) {
  HWY_DYNAMIC_DISPATCH(narrow_row)(sums, squares, window, count, cells, running, out);
}
void finish_wide(const std::int64_t* sums, const std::int64_t* squares, int window, int count, int cells, float* out) {
  HWY_DYNAMIC_DISPATCH(wide_row)(sums, squares, window, count, cells, out);
}

}  // namespace ridge::image
#endif
