// LineKernel implementations over an engine: one for lines in cache, one for the depth-first descent, one for two
// steps.
#pragma once
#include <memory>

#include "fft/host/power2/engine.hpp"
#include "fft/host/power2/power2.hpp"
#include "fft/variant.hpp"

namespace ridge::fft::power2 {

std::string radix_text(const std::vector<std::size_t>& radices);  // "16*16*4"

template <class T>
std::unique_ptr<LineKernel<T>> make_kernel(const Engine<T>& engine, std::size_t n, const Power2Choice& choice);

}  // namespace ridge::fft::power2
