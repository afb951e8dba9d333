// Real transforms of up to 16 samples: straight-line code, one row per lane if there are several rows.
#pragma once
#include <cstddef>

namespace ridge::fft::real {

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
