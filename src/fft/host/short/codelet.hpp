// Table of the short transforms that one instruction set provides: straight-line code for one length, plain functions
// over plain pointers, because the files that fill these tables are compiled for instruction sets the machine may not
// have.
#pragma once
#include <cstddef>

namespace ridge::fft::shorts {

using std::size_t;

// Points are re, im pairs; distances are in points. In place or not.
template <class T>
struct Codelet {
  using One = void (*)(const T* in, T* out, const T* twiddles);
  using Many = void (*)(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count, const T* twiddles);
  size_t length;
  size_t radices[2];  // the second is 0 if the transform is one butterfly without twiddles
  size_t lanes;       // columns per vector
  One one[2];         // forward, inverse
  Many many[2];
};

template <class T>
struct Codelets {
  const Codelet<T>* data;
  size_t count;
};

// With Armv8.3 complex arithmetic: up to 32 points, and up to 144.
namespace fcma {
Codelets<float> float_up_to_32();
Codelets<float> float_up_to_144();
Codelets<double> double_up_to_32();
Codelets<double> double_up_to_144();
}  // namespace fcma
// With plain NEON.
namespace neon {
Codelets<float> floats();
Codelets<double> doubles();
}  // namespace neon
// With x86 FMA, as in AVX2.
namespace fma {
Codelets<float> floats();
Codelets<double> doubles();
}  // namespace fma

}  // namespace ridge::fft::shorts
