// Engine of tangent lines; everything else is taken from the Highway engine.
#pragma once
#include "fft/host/power2/engine.hpp"

namespace ridge::fft::power2 {

template <class T>
Items<Line<T>> tangent_lines();
template <>
Items<Line<float>> tangent_lines<float>();
template <>
Items<Line<double>> tangent_lines<double>();

// Null if this machine's vectors have no such lines.
template <class T>
const Engine<T>* tangent_engine();

}  // namespace ridge::fft::power2
