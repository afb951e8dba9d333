// Runs single Stockham passes of radix 2 to 16.
#include "papers/fft/classic/stockham_passes.hpp"

#include <algorithm>
#include <iterator>
#include <numbers>

#include "fft/host/power2/tables.hpp"
#include "papers/fft/classic/line.hpp"

namespace ridge::fft::classic {
namespace {

// In-place butterflies of each radix, outputs in natural order.
template <bool kInverse, class T>
void dft2(std::complex<T>& a, std::complex<T>& b) {
  const std::complex<T> difference = a - b;
  a += b;
  b = difference;
}

template <bool kInverse, class T>
void dft4(std::complex<T>& a, std::complex<T>& b, std::complex<T>& c, std::complex<T>& d) {
  dft2<kInverse>(a, c);
  dft2<kInverse>(b, d);
  const std::complex<T> turned = quarter_turn<kInverse>(d), second = c + turned, last = c - turned;
  dft2<kInverse>(a, b);
  c = b;
  b = second;
  d = last;
}

template <bool kInverse, class T>
std::complex<T> eighth_turn(std::complex<T> a) {
  constexpr T half = T(1) / std::numbers::sqrt2_v<T>;
  const std::complex<T> turned = quarter_turn<kInverse>(a);
  return {half * (a.real() + turned.real()), half * (a.imag() + turned.imag())};
}

template <bool kInverse, class T>
void dft8(std::complex<T>* v) {
  dft4<kInverse>(v[0], v[2], v[4], v[6]);
  dft4<kInverse>(v[1], v[3], v[5], v[7]);
  v[3] = eighth_turn<kInverse>(v[3]);
  v[5] = quarter_turn<kInverse>(v[5]);
  v[7] = quarter_turn<kInverse>(eighth_turn<kInverse>(v[7]));
  // Output t of the even half is v[2 t], of the odd half v[2 t + 1].
  std::complex<T> y[8];
  for (std::size_t t = 0; t < 4; ++t) y[t] = v[2 * t] + v[2 * t + 1], y[t + 4] = v[2 * t] - v[2 * t + 1];
  std::copy_n(y, 8, v);
}

template <bool kInverse, class T>
void dft16(std::complex<T>* v) {
  constexpr T c1 = T(0.92387953251128675613), s1 = T(0.38268343236508977173), h = T(1) / std::numbers::sqrt2_v<T>;
  constexpr T re[10] = {1, c1, h, s1, 0, 0, -h, 0, 0, -c1}, im[10] = {0, -s1, -h, -c1, -1, 0, -h, 0, 0, s1};
  for (std::size_t s = 0; s < 4; ++s) dft4<kInverse>(v[s], v[s + 4], v[s + 8], v[s + 12]);
  // v[s + 4 f] is frequency f of column s and is multiplied by exp(-2 pi i s f / 16).
  for (std::size_t f = 1; f < 4; ++f) {
    for (std::size_t s = 1; s < 4; ++s) {
      v[s + 4 * f] = product(root<kInverse>(std::complex<T>{re[s * f], im[s * f]}), v[s + 4 * f]);
    }
  }
  std::complex<T> y[16];
  for (std::size_t f = 0; f < 4; ++f) {
    dft4<kInverse>(v[4 * f], v[4 * f + 1], v[4 * f + 2], v[4 * f + 3]);
    for (std::size_t t = 0; t < 4; ++t) y[f + 4 * t] = v[4 * f + t];
  }
  std::copy_n(y, 16, v);
}

template <std::size_t kRadix, bool kInverse, class T>
void dft(std::complex<T>* v) {
  if constexpr (kRadix == 2) dft2<kInverse>(v[0], v[1]);
  if constexpr (kRadix == 4) dft4<kInverse>(v[0], v[1], v[2], v[3]);
  if constexpr (kRadix == 8) dft8<kInverse>(v);
  if constexpr (kRadix == 16) dft16<kInverse>(v);
}

double dft_flops(std::size_t radix) {
  // Radix 16: eight radix-4 butterflies and nine products, one of which is by -i.
  return radix == 2 ? 4 : radix == 4 ? 16 : radix == 8 ? 56 : 8 * 16 + 8 * 6;
}

}  // namespace

template <class T>
StockhamPass<T>::StockhamPass(std::size_t n, std::size_t done, std::size_t radix)
    : n_(checked_length(n)), done_(done), radix_(radix) {
  if (std::find(std::begin(kStockhamRadices), std::end(kStockhamRadices), radix) == std::end(kStockhamRadices) ||
      done == 0 || n % (done * radix) != 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("no pass of radix {} after {} of {} points; radices are 2, 4, 8 and 16", radix, done, n));
  }
  const power2::Roots<T> exact(done * radix);
  twiddles_.reserve(done * (radix - 1));
  for (std::size_t j = 0; j < done; ++j) {
    for (std::size_t s = 1; s < radix; ++s) twiddles_.push_back(exact.at(j * s));
  }
}

template <class T>
double StockhamPass<T>::flops() const {
  const double butterflies = static_cast<double>(n_ / radix_);
  const double with_twiddles = butterflies * static_cast<double>(done_ - 1) / static_cast<double>(done_);
  return butterflies * dft_flops(radix_) + with_twiddles * 6 * static_cast<double>(radix_ - 1);
}

template <class T>
template <std::size_t kRadix, bool kInverse>
void StockhamPass<T>::pass(const Complex* x, Complex* y) const {
  const std::size_t rest = n_ / (done_ * kRadix), columns = n_ / kRadix;
  Complex v[kRadix], w[kRadix];
  for (std::size_t j = 0; j < done_; ++j) {
    for (std::size_t s = 1; s < kRadix; ++s) w[s] = root<kInverse>(twiddles_[j * (kRadix - 1) + s - 1]);
    const Complex* from = x + j * rest * kRadix;
    Complex* to = y + j * rest;
    for (std::size_t k = 0; k < rest; ++k) {
      v[0] = from[k];
      for (std::size_t s = 1; s < kRadix; ++s) v[s] = j == 0 ? from[s * rest + k] : product(from[s * rest + k], w[s]);
      dft<kRadix, kInverse>(v);
      for (std::size_t t = 0; t < kRadix; ++t) to[t * columns + k] = v[t];
    }
  }
}

template <class T>
void StockhamPass<T>::run(Direction direction, const Complex* x, Complex* y) const {
  switch (radix_) {
    case 2:
      return either<2>(direction, x, y);
    case 4:
      return either<4>(direction, x, y);
    case 8:
      return either<8>(direction, x, y);
    default:
      return either<16>(direction, x, y);
  }
}

template class StockhamPass<float>;
template class StockhamPass<double>;

}  // namespace ridge::fft::classic
