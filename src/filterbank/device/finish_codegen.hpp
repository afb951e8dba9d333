// Kernel text for a channel's value after the transform: delay phase, bandpass factor and position in the output.
#pragma once
#include <string>

#include "codegen/text.hpp"
#include "filterbank/device/design.hpp"

namespace ridge::filterbank::on_device {

// Functions and macros that the generated expressions use.
std::string finish_macros(const KernelDesign& design);

// Additional kernel arguments for delays; empty without delays.
std::string delay_arguments(const Geometry& geometry);

// Declares the variables that finished() uses, for the spectrum `time` (an expression, counted like the phases). The
// variables `pol` and `station` must exist.
void open_finish(codegen::Text& text, const KernelDesign& design, const std::string& time);

// Declares `to`, the position in `out` of a value (place_text()).
void open_output(codegen::Text& text, const KernelDesign& design, const std::string& place);

// Expression for the finished value of channel `k`, as the kernel stores it or adds up its power.
std::string finished(const KernelDesign& design, const std::string& value, const std::string& k);

// Expression for a value's position in `out`, from the variables `pol` and `station`. `time` counts from the first
// spectrum of the launch. With Order::channel, `within` is the position of that first spectrum in its output block.
std::string place_text(const Geometry& geometry, const std::string& time, const std::string& k);

}  // namespace ridge::filterbank::on_device
