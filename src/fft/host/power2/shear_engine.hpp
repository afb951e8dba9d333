// Engine of shear lines for Arm cores; everything else is taken from the Highway engine.
#pragma once
#include "fft/host/power2/engine.hpp"

namespace ridge::fft::power2 {

Items<Line<float>> shear_lines();
const Engine<float>& shear_engine();

}  // namespace ridge::fft::power2
