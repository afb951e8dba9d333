// The engine of lines by shears, for Arm cores: what else it does, it does as the engine written in Highway.
#pragma once
#include "fft/host/power2/engine.hpp"

namespace ridge::fft::power2 {

Items<Line<float>> shear_lines();
const Engine<float>& shear_engine();

}  // namespace ridge::fft::power2
