// Every operator new of the test program is counted.
#pragma once
#include <cstddef>

namespace ridge::fft {
std::size_t allocations();
}  // namespace ridge::fft
