// The parts of the Armv8.3 engines; defined in files compiled for that set, called only where the machine has it.
#pragma once
#include "fft/host/power2/engine.hpp"

namespace ridge::fft::power2::fcma {

Items<Line<float>> float_lines();
Items<Line<double>> double_lines();
const Engine<float>& float_engine();
const Engine<double>& double_engine();

}  // namespace ridge::fft::power2::fcma
