// Counts every operator new of the test program.
#pragma once
#include <cstddef>

namespace ridge::fft {
std::size_t allocations();
}  // namespace ridge::fft
