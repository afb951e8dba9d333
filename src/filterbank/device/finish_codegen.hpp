// What becomes of a channel's value behind the transform, as text: turned by the phase of its station's delay, times
// the bandpass, to its place in the output.
#pragma once
#include <string>

#include "codegen/text.hpp"
#include "filterbank/device/design.hpp"

namespace ridge::filterbank::on_device {

// Functions and macros that the texts below use.
std::string finish_words(const KernelDesign& design);

// Arguments a kernel has beyond those every kernel has: those of the delays.
std::string delay_arguments(const Geometry& geometry);

// Within a line of spectrum `time` (an expression, counted as the phases are), with `pol` and `station` in variables of
// these names: what finished() needs.
void open_finish(codegen::Text& text, const KernelDesign& design, const std::string& time);

// The expression of the finished value of channel `k`.
std::string finished(const KernelDesign& design, const std::string& value, const std::string& k);

// The place of a value in `out`, of the variables `pol` and `station`: `time` counts from the launch's first spectrum.
// By channel, `within` is the place of that spectrum in its output block.
std::string place_text(const Geometry& geometry, const std::string& time, const std::string& k);

}  // namespace ridge::filterbank::on_device
