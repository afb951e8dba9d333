// The Highway engine: the widest instruction set of this machine, chosen once.
#pragma once
#include "fft/host/power2/engine.hpp"

namespace ridge::fft::power2 {

template <class T>
const Engine<T>& simd_engine();
template <>
const Engine<float>& simd_engine<float>();
template <>
const Engine<double>& simd_engine<double>();

}  // namespace ridge::fft::power2
