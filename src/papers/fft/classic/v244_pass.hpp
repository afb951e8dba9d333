// Parameters of one pass of the (2, 4, 4) kernel (v244.cpp), for every vector width.
#pragma once
#include <cstddef>
#include <vector>

namespace ridge::fft::classic {

// A pass of `radix` after `done` points; the twiddle of input s of block j is re[s * done + j], im[s * done + j].
template <class T>
struct GroupPass {
  std::size_t radix, done;
  std::vector<T> re, im;
};

}  // namespace ridge::fft::classic
