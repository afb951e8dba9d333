// Declarations shared by the Highway files.
#pragma once
#include "fft/host/power2/engine.hpp"

namespace ridge::fft::power2 {

template <class T>
Items<Line<T>> simd_lines();
template <>
Items<Line<float>> simd_lines<float>();
template <>
Items<Line<double>> simd_lines<double>();

}  // namespace ridge::fft::power2
