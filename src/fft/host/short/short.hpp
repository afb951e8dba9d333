// Short transforms as straight-line code, if this machine has it: lengths up to 144 with factors up to 13.
#pragma once
#include <cstddef>
#include <vector>

#include "fft/variant.hpp"

namespace ridge::fft {

// Lists nothing for lengths without such code, or on machines without it.
template <class T>
void list_short(std::size_t n, std::vector<LineChoice<T>>& out);

}  // namespace ridge::fft
