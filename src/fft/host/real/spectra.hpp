// Conversions between spectra of complex transforms and of real samples, and short real transforms, in the widest
// vectors of this machine.
#pragma once
#include <cstddef>

namespace ridge::fft::real {

// Points are re, im pairs of T. Factors w[k] = -i/2 exp(-2 pi i k / (2 m)), k <= m / 2, in the form of DoubledTable.
template <class T>
struct Spectra {
  // z: m points of the transform of x[2j] + i x[2j+1]; becomes the m + 1 points of the transform of x.
  void (*unpack)(T* z, const T* w_re, const T* w_im, std::size_t m);
  // The inverse of unpack: z = twice the transform of x[2j] + i x[2j+1]. z may be x.
  void (*pack)(const T* x, const T* w_re, const T* w_im, T* z, std::size_t m);
  // From z, the n-point transform of a + i b (n odd), to the first n/2 + 1 points of the transforms of a and b.
  void (*separate)(const T* z, T* a, T* b, std::size_t n);
  // The inverse of separate, all n points.
  void (*join)(const T* a, const T* b, T* z, std::size_t n);
  // Combines two real rows to one complex row, and back.
  void (*interleave)(const T* a, const T* b, T* z, std::size_t n);
  void (*deinterleave)(const T* z, T* a, T* b, std::size_t n);
};

template <class T>
const Spectra<T>& spectra();

// Real transforms of up to 16 samples: straight-line code, one row per lane if there are several rows.

inline constexpr std::size_t kMaxTiny = 16;

// `count` rows; distances are in T on both sides. All rows of a vector are read before one is written, so rows may be
// transformed in place.
template <class T>
using TinyRows = void (*)(const T* in, std::size_t in_distance, T* out, std::size_t out_distance, std::size_t count);

template <class T>
struct Tiny {
  TinyRows<T> forward, inverse;
};

template <class T>
Tiny<T> tiny(std::size_t n);  // 1 <= n <= kMaxTiny

}  // namespace ridge::fft::real
