// Transforms in pairs of doubles in Highway, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/prime/wide_transform.cpp"
// Highway requires this include order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <cmath>
#include <vector>

#include "fft/host/prime/numbers.hpp"
#include "fft/host/prime/wide_transform.hpp"
#include "fft/roots.hpp"

#ifndef RIDGE_FFT_WIDE_KERNELS
#define RIDGE_FFT_WIDE_KERNELS
namespace ridge::fft::prime {

// A Stockham pass down adjacent columns, after `done` parts have been combined; radix * stream rows each.
struct WidePass {
  std::size_t radix, done, stream, width;
  const Point<DoubleDouble>* roots;  // of the columns' length
};

struct WideKernels {
  void (*pass)(const WidePass& pass, WidePointer in, WidePointer out, double* scratch);
  void (*multiply)(WidePointer x, WidePointer y, WidePointer out, std::size_t count);  // out may be either input
  void (*rotate)(WidePointer x, WidePointer rotation, WidePointer step,
                 std::size_t count);                                                       // x *= w; w *= step
  void (*plus_i_times)(WidePointer x, WidePointer y, WidePointer out, std::size_t count);  // x + i y
  // E + P and E - P (see even_spectrum()) of a, b and the roots w.
  void (*even_and_odd)(WidePointer a, WidePointer b, WidePointer w, WidePointer sum, WidePointer difference,
                       std::size_t count);
};

}  // namespace ridge::fft::prime
#endif

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::prime::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using std::size_t;
using Tag = hn::ScalableTag<double>;
using Vector = hn::Vec<Tag>;

struct Pair {
  Vector high, low;
};
struct Complex {
  Pair re, im;
};

HWY_INLINE Vector product_error(Vector a, Vector b, Vector p) {
#if HWY_NATIVE_FMA
  return hn::MulSub(a, b, p);
#else
  // Dekker's splitting into 26-bit halves, whose products are exact.
  const Vector split = hn::Set(Tag(), 134217729.0);
  const Vector ca = hn::Mul(split, a), cb = hn::Mul(split, b);
  const Vector a1 = hn::Sub(ca, hn::Sub(ca, a)), a2 = hn::Sub(a, a1);
  const Vector b1 = hn::Sub(cb, hn::Sub(cb, b)), b2 = hn::Sub(b, b1);
  const Vector rest = hn::Add(hn::Sub(hn::Mul(a1, b1), p), hn::Add(hn::Mul(a1, b2), hn::Mul(a2, b1)));
  return hn::Add(rest, hn::Mul(a2, b2));
#endif
}

// Errors of sums stay in the low parts, which are not renormalized after each step: they grow by a few of the last bits
// of double, and their own last bits are irrelevant.
HWY_INLINE Pair operator+(Pair a, Pair b) {
  const Vector s = hn::Add(a.high, b.high), t = hn::Sub(s, a.high);
  const Vector e = hn::Add(hn::Sub(a.high, hn::Sub(s, t)), hn::Sub(b.high, t));
  return {s, hn::Add(e, hn::Add(a.low, b.low))};
}
HWY_INLINE Pair operator-(Pair a, Pair b) {
  const Vector s = hn::Sub(a.high, b.high), t = hn::Sub(s, a.high);
  const Vector e = hn::Sub(hn::Sub(a.high, hn::Sub(s, t)), hn::Add(b.high, t));
  return {s, hn::Add(e, hn::Sub(a.low, b.low))};
}
HWY_INLINE Pair operator*(Pair a, Pair b) {
  const Vector p = hn::Mul(a.high, b.high), e = product_error(a.high, b.high, p);
  return {p, hn::MulAdd(a.high, b.low, hn::MulAdd(a.low, b.high, e))};
}
HWY_INLINE Pair normal(Pair a) {
  const Vector s = hn::Add(a.high, a.low);
  return {s, hn::Sub(a.low, hn::Sub(s, a.high))};
}
HWY_INLINE Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
HWY_INLINE Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
HWY_INLINE Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
HWY_INLINE Complex load(WidePointer p, size_t i) {
  const Tag d;
  return {{hn::LoadU(d, p.re + i), hn::LoadU(d, p.re_low + i)}, {hn::LoadU(d, p.im + i), hn::LoadU(d, p.im_low + i)}};
}
HWY_INLINE void store(Complex x, WidePointer p, size_t i) {
  const Tag d;
  hn::Store(x.re.high, d, p.re + i), hn::Store(x.re.low, d, p.re_low + i);
  hn::Store(x.im.high, d, p.im + i), hn::Store(x.im.low, d, p.im_low + i);
}
HWY_INLINE Pair same(DoubleDouble value) { return {hn::Set(Tag(), value.high), hn::Set(Tag(), value.low)}; }
HWY_INLINE Complex same(const Point<DoubleDouble>& value) { return {same(value.re), same(value.im)}; }

template <bool kTwiddle>
HWY_INLINE Complex load_rotated(WidePointer in, size_t i, const Complex& root) {
  if constexpr (kTwiddle) {
    return load(in, i) * root;
  } else {
    return load(in, i);
  }
}

struct Streams {  // start of stream s and of frequency f
  WidePointer in, out;
  size_t apart, far;  // strides of the streams and of the frequencies
};

template <bool kTwiddle>
void radix4(const Streams& at, const Point<DoubleDouble>* w, size_t count) {
  const Complex w1 = same(w[1]), w2 = same(w[2]), w3 = same(w[3]);
  for (size_t i = 0; i < count; i += hn::Lanes(Tag())) {
    const Complex x0 = load(at.in, i), x2 = load_rotated<kTwiddle>(at.in, i + 2 * at.apart, w2);
    const Complex a = x0 + x2, b = x0 - x2;
    const Complex x1 = load_rotated<kTwiddle>(at.in, i + at.apart, w1);
    const Complex x3 = load_rotated<kTwiddle>(at.in, i + 3 * at.apart, w3);
    const Complex c = x1 + x3, d = x1 - x3;
    store(a + c, at.out, i), store(a - c, at.out, i + 2 * at.far);
    store({b.re + d.im, b.im - d.re}, at.out, i + at.far), store({b.re - d.im, b.im + d.re}, at.out, i + 3 * at.far);
  }
}

template <bool kTwiddle>
void radix2(const Streams& at, const Point<DoubleDouble>* w, size_t count) {
  const Complex w1 = same(w[1]);
  for (size_t i = 0; i < count; i += hn::Lanes(Tag())) {
    const Complex a = load(at.in, i), b = load_rotated<kTwiddle>(at.in, i + at.apart, w1);
    store(a + b, at.out, i), store(a - b, at.out, i + at.far);
  }
}

// Sums of streams s and radix - s times cosines, their differences times sines. `own`: roots of the radix.
template <bool kTwiddle>
void odd_radix(size_t radix, const Streams& at, const Point<DoubleDouble>* w, const Point<DoubleDouble>* own,
               size_t count, double* scratch) {
  const size_t half = radix / 2, lanes = hn::Lanes(Tag());
  const WidePointer pairs = {scratch, scratch + lanes, scratch + 2 * lanes, scratch + 3 * lanes};
  for (size_t i = 0; i < count; i += lanes) {
    const Complex x0 = load(at.in, i);
    Complex all = x0;
    for (size_t s = 1; s <= half; ++s) {
      const Complex a = load_rotated<kTwiddle>(at.in, i + s * at.apart, same(w[s]));
      const Complex b = load_rotated<kTwiddle>(at.in, i + (radix - s) * at.apart, same(w[radix - s]));
      const Complex sum = a + b;
      store(sum, pairs, 8 * lanes * (s - 1)), store(a - b, pairs, 8 * lanes * (s - 1) + 4 * lanes);
      all = all + sum;
    }
    store(all, at.out, i);
    for (size_t f = 1; f <= half; ++f) {
      const Complex sum1 = load(pairs, 0), difference1 = load(pairs, 4 * lanes), w1 = same(own[f]);
      Pair even_re = x0.re + sum1.re * w1.re, even_im = x0.im + sum1.im * w1.re;
      Pair odd_re = difference1.re * w1.im, odd_im = difference1.im * w1.im;
      for (size_t s = 2, k = 2 * f % radix; s <= half; ++s, k = k + f < radix ? k + f : k + f - radix) {
        const Complex root = same(own[k]), sum = load(pairs, 8 * lanes * (s - 1));
        const Complex difference = load(pairs, 8 * lanes * (s - 1) + 4 * lanes);
        even_re = even_re + sum.re * root.re, even_im = even_im + sum.im * root.re;
        odd_re = odd_re + difference.re * root.im, odd_im = odd_im + difference.im * root.im;
      }
      // The roots' imaginary parts are negative sines: i times the odd part is added.
      store({even_re - odd_im, even_im + odd_re}, at.out, i + f * at.far);
      store({even_re + odd_im, even_im - odd_re}, at.out, i + (radix - f) * at.far);
    }
  }
}

template <bool kTwiddle>
void one_part(const WidePass& p, const Streams& at, const Point<DoubleDouble>* w, const Point<DoubleDouble>* own,
              double* scratch) {
  if (p.radix == 4) {
    radix4<kTwiddle>(at, w, at.apart);
  } else if (p.radix == 2) {
    radix2<kTwiddle>(at, w, at.apart);
  } else {
    odd_radix<kTwiddle>(p.radix, at, w, own, at.apart, scratch);
  }
}

void pass(const WidePass& p, WidePointer in, WidePointer out, double* scratch) {
  const size_t length = p.radix * p.done * p.stream, apart = p.stream * p.width, far = length / p.radix * p.width;
  std::vector<Point<DoubleDouble>> w(p.radix), own(p.radix);
  for (size_t s = 0; s < p.radix; ++s) own[s] = p.roots[s * (length / p.radix)];
  one_part<false>(p, {in, out, apart, far}, own.data(), own.data(), scratch);
  for (size_t j = 1; j < p.done; ++j) {
    for (size_t s = 0; s < p.radix; ++s) w[s] = p.roots[j * s * p.stream];
    one_part<true>(p, {in + j * p.radix * apart, out + j * apart, apart, far}, w.data(), own.data(), scratch);
  }
}

void multiply(WidePointer x, WidePointer y, WidePointer out, size_t count) {
  for (size_t i = 0; i < count; i += hn::Lanes(Tag())) {
    const Complex product = load(x, i) * load(y, i);
    store({normal(product.re), normal(product.im)}, out, i);
  }
}

void rotate(WidePointer x, WidePointer rotation, WidePointer step, size_t count) {
  for (size_t i = 0; i < count; i += hn::Lanes(Tag())) {
    const Complex w = load(rotation, i);
    store(load(x, i) * w, x, i);
    const Complex next = w * load(step, i);
    store({normal(next.re), normal(next.im)}, rotation, i);
  }
}

void plus_i_times(WidePointer x, WidePointer y, WidePointer out, size_t count) {
  for (size_t i = 0; i < count; i += hn::Lanes(Tag())) {
    const Complex a = load(x, i), b = load(y, i);
    store({a.re - b.im, a.im + b.re}, out, i);
  }
}

void even_and_odd(WidePointer a, WidePointer b, WidePointer w, WidePointer sum, WidePointer difference, size_t count) {
  const Tag d;
  const Vector half = hn::Set(d, 0.5);
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const Complex x = load(a, i), y = load(b, i), root = load(w, i);
    // Half the reciprocal of minus the sine, with one Newton step.
    const Vector first = hn::Div(half, root.im.high);
    const Vector near = hn::Mul(root.im.high, first), error = product_error(root.im.high, first, near);
    const Vector rest = hn::NegMulAdd(root.im.low, first, hn::Sub(hn::Sub(half, near), error));
    const Pair reciprocal = {first, hn::Mul(hn::Add(first, first), rest)};
    const Complex apart = x - y, together = x + y;
    const Complex p = {apart.re * reciprocal, apart.im * reciprocal};
    const Pair re = {hn::Mul(half, together.re.high), hn::Mul(half, together.re.low)};
    const Pair im = {hn::Mul(half, together.im.high), hn::Mul(half, together.im.low)};
    const Complex e = {re + root.re * p.im, im - root.re * p.re};
    store(e + p, sum, i), store(e - p, difference, i);
  }
}

const WideKernels& functions() {
  static constexpr WideKernels kFunctions = {pass, multiply, rotate, plus_i_times, even_and_odd};
  return kFunctions;
}

}  // namespace
}  // namespace ridge::fft::prime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft::prime {
namespace {

HWY_EXPORT(functions);
const WideKernels& kernels() { return HWY_DYNAMIC_DISPATCH(functions)(); }

// Whole vectors, an odd number of the widest: rows a power of two apart would map to the same cache sets.
constexpr std::size_t kMostLanes = 8;
std::size_t whole_vectors(std::size_t width) { return ((width + kMostLanes - 1) / kMostLanes | 1) * kMostLanes; }

// exp(-2 pi i k / n) for k < count, padded by at most kFineRoots entries.
constexpr std::size_t kFineRoots = 32;
void fill_roots(std::size_t n, std::size_t count, WidePoints& roots) {
  const AnyRoots<double> exact(n);
  WidePoints fine(kFineRoots), coarse(kFineRoots);
  fine.clear();
  for (std::size_t k = 0; k < std::min(kFineRoots, n); ++k) fine.set(k, exact.wide(k));
  for (std::size_t first = 0; first < count; first += kFineRoots) {
    const Point<DoubleDouble> root = exact.wide(first);
    for (std::size_t k = 0; k < kFineRoots; ++k) coarse.set(k, root);
    kernels().multiply(fine.at(0), coarse.at(0), roots.at(first), kFineRoots);
  }
}

// Transforms `width` columns (whole vectors) of `length` rows; the result is in x or y.
void columns(WidePointer& x, WidePointer& y, std::size_t length, std::size_t width) {
  const AnyRoots<double> exact(length);
  std::vector<Point<DoubleDouble>> roots(length);
  for (std::size_t k = 0; k < length; ++k) roots[k] = exact.wide(k);
  std::vector<std::size_t> radices = prime_factors(length);
  for (std::size_t i = 0; i + 1 < radices.size() && radices[i + 1] == 2; ++i) {
    radices[i] = 4;
    radices.erase(radices.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  const std::size_t largest = radices.empty() ? 1 : radices.back();
  base::AlignedArray<double> scratch(4 * kMostLanes * largest);
  std::size_t done = 1;
  for (const std::size_t radix : radices) {
    const WidePass pass = {radix, done, length / (done * radix), width, roots.data()};
    kernels().pass(pass, x, y, scratch.data());
    std::swap(x, y);
    done *= radix;
  }
}

// Rows of x, `width` apart, become columns of y.
void transpose(WidePointer from, std::size_t rows, std::size_t row, std::size_t width, WidePointer to,
               std::size_t column) {
  constexpr std::size_t kRows = 8;
  const auto plane = [&](const double* in, double* out) {
    for (std::size_t a = 0; a < rows; a += kRows) {
      const std::size_t end = std::min(rows, a + kRows);
      for (std::size_t b = 0; b < row; ++b) {
        for (std::size_t i = a; i < end; ++i) out[b * column + i] = in[i * width + b];
      }
    }
  };
  plane(from.re, to.re), plane(from.re_low, to.re_low), plane(from.im, to.im), plane(from.im_low, to.im_low);
}

std::size_t middle_divisor(std::size_t n) {
  std::size_t best = 1;
  for (std::size_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) best = d;
  }
  return best;
}

// The errors of the high parts' sum are summed separately: no step depends on the previous one.
Point<DoubleDouble> sum_of(const WidePoints& points, std::size_t count) {
  const auto add = [](DoubleDouble& sum, DoubleDouble x) {
    const double s = sum.high + x.high, t = s - sum.high;
    sum.low += ((sum.high - (s - t)) + (x.high - t)) + x.low;
    sum.high = s;
  };
  Point<DoubleDouble> sum;
  for (std::size_t k = 0; k < count; ++k) {
    const Point<DoubleDouble> x = points.get(k);
    add(sum.re, x.re), add(sum.im, x.im);
  }
  return {sum.re + DoubleDouble(), sum.im + DoubleDouble()};
}

}  // namespace

std::size_t wide_room(std::size_t n) {
  const std::size_t height = middle_divisor(n), row = n / height;
  return std::max(height * whole_vectors(row), row * whole_vectors(height));
}

// Point j = row * j1 + j2: down the columns, times exp(-2 pi i j2 k1 / n), transposed, and down the columns again.
void wide_transform(WidePoints& points, WidePoints& spare, std::size_t n, DoubleDouble scale) {
  const std::size_t height = middle_divisor(n), row = n / height;
  const std::size_t width = whole_vectors(row), transposed_width = whole_vectors(height);
  WidePointer x = spare.at(0), y = points.at(0);
  const auto copy_rows = [](WidePointer from, std::size_t from_stride, WidePointer to, std::size_t to_stride,
                            std::size_t rows, std::size_t count) {
    for (std::size_t r = 0; r < rows; ++r) {
      const WidePointer a = from + r * from_stride, b = to + r * to_stride;
      std::copy_n(a.re, count, b.re), std::copy_n(a.re_low, count, b.re_low);
      std::copy_n(a.im, count, b.im), std::copy_n(a.im_low, count, b.im_low);
    }
  };
  // Padding of the vectors is never read as a result, but must be finite.
  const auto clear_ends = [](WidePointer p, std::size_t rows, std::size_t count, std::size_t stride) {
    for (std::size_t r = 0; r < rows; ++r) {
      for (double* part : {p.re, p.re_low, p.im, p.im_low}) {
        std::fill(part + r * stride + count, part + (r + 1) * stride, 0.0);
      }
    }
  };
  copy_rows(points.at(0), row, x, width, height, row);
  clear_ends(x, height, row, width);
  columns(x, y, height, width);
  WidePoints step(width + kFineRoots), rotation(width);
  fill_roots(n, row, step);
  for (std::size_t j = 0; j < width; ++j) rotation.set(j, {scale, 0});
  for (std::size_t k = 0; k < height; ++k) {
    kernels().rotate(x + k * width, rotation.at(0), step.at(0), width);
  }
  transpose(x, height, row, width, y, transposed_width);
  clear_ends(y, row, height, transposed_width);
  std::swap(x, y);
  columns(x, y, row, transposed_width);
  copy_rows(x, transposed_width, points.at(0), height, row, height);  // never overwrites unread values
}

// With z[j] = x[2 j] + i x[2 j + 1], the contribution of odd positions, twiddles included, is P[k] = (Z[length / 2 - k]
// - Z[k]) / (2 sin(2 pi k / length)), and the remainder is the contribution E of even positions. Some of the extra
// digits are lost where the sine is small.
void even_spectrum(WidePoints& even, WidePoints& odd, std::size_t length, DoubleDouble scale,
                   std::complex<double>* spectrum) {
  const std::size_t half = length / 2, count = half / 2;  // frequencies 1 .. count in pairs
  const auto put = [spectrum](std::size_t k, const Point<DoubleDouble>& value) {
    spectrum[k] = {static_cast<double>(value.re), static_cast<double>(value.im)};
  };
  const Point<DoubleDouble> sum = sum_of(odd, half), odd_sum = {sum.re * scale, sum.im * scale};
  kernels().plus_i_times(even.at(0), odd.at(0), even.at(0), half);
  wide_transform(even, odd, half, scale);
  const Point<DoubleDouble> zero = even.get(0), even_sum = {zero.re + odd_sum.im, zero.im - odd_sum.re};
  put(0, even_sum + odd_sum);
  put(half, {even_sum.re - odd_sum.re, even_sum.im - odd_sum.im});
  WidePoints mirrored(count + kMostLanes), roots(count + 1 + kFineRoots);
  mirrored.clear();
  roots.clear();
  fill_roots(length, count + 1, roots);
  const WidePointer from = even.at(half - count), to = mirrored.at(0);
  std::reverse_copy(from.re, from.re + count, to.re), std::reverse_copy(from.re_low, from.re_low + count, to.re_low);
  std::reverse_copy(from.im, from.im + count, to.im), std::reverse_copy(from.im_low, from.im_low + count, to.im_low);
  kernels().even_and_odd(even.at(1), mirrored.at(0), roots.at(1), roots.at(0), mirrored.at(0), count);
  for (std::size_t k = 1; k <= count; ++k) put(k, roots.get(k - 1)), put(half - k, mirrored.get(k - 1));
}

}  // namespace ridge::fft::prime
#endif
