// What the (2, 4, 4) kernel (v244.cpp) is given, whatever its vectors are.
#pragma once
#include <cstddef>
#include <vector>

namespace ridge::fft::classic {

// A pass of `radix` after `done` points; the twiddle of input s of block j is re, im[s * done + j].
template <class T>
struct GroupPass {
  std::size_t radix, done;
  std::vector<T> re, im;
};

}  // namespace ridge::fft::classic
