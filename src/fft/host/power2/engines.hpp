// The engines of lines of power-of-two length, one per group of instruction sets.
#pragma once
#include "fft/host/power2/engine.hpp"

namespace ridge::fft::power2 {

// The Highway engine: the widest instruction set of this machine, chosen once.
template <class T>
const Engine<T>& simd_engine();
template <>
const Engine<float>& simd_engine<float>();
template <>
const Engine<double>& simd_engine<double>();

// Declarations shared by the Highway files.
template <class T>
Items<Line<T>> simd_lines();
template <>
Items<Line<float>> simd_lines<float>();
template <>
Items<Line<double>> simd_lines<double>();

// Lines with twiddles in tangent form: w = c (1 + i t) with cosine c and tangent t, so that a butterfly with its
// twiddle takes six fused multiply-adds (AVX2, AVX-512). All other parts of the engine are the Highway engine's.
template <class T>
Items<Line<T>> tangent_lines();
template <>
Items<Line<float>> tangent_lines<float>();
template <>
Items<Line<double>> tangent_lines<double>();

// Null if there are no tangent lines for the vectors of this machine.
template <class T>
const Engine<T>* tangent_engine();

// Lines with twiddles in shear form: a rotation as three shears, for Arm cores without complex instructions. All other
// parts of the engine are the Highway engine's.
Items<Line<float>> shear_lines();
const Engine<float>& shear_engine();

}  // namespace ridge::fft::power2

namespace ridge::fft::power2::fcma {

// The parts of the Armv8.3 engines; defined in files compiled for that set, called only where the machine has it.
Items<Line<float>> float_lines();
Items<Line<double>> double_lines();
const Engine<float>& float_engine();
const Engine<double>& double_engine();

}  // namespace ridge::fft::power2::fcma
