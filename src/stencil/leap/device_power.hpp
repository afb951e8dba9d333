// The kernel that multiplies every mode on a device by the power of its symbol, and the tables it reads.
#pragma once
#include <array>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "stencil/leap/forces.hpp"
#include "stencil/leap/modes.hpp"

namespace ridge::stencil::leap {

// `cell` is the spectrum's number, float or double; rows lie `pitch` of them (or pairs) apart. Even weights only: the
// symbol is real. Where only the first `kept` modes along x live, the others are made zeros unread; 0: all may.
KernelSource power_text(const Modes& modes, const char* cell, std::size_t pitch, std::size_t kept = 0);
Launch power_launch(const Modes& modes);

// The same for a transform that multiplies on its way (fft/device/filtered_axis.hpp): of the modes along `axis`; the
// line counts the modes of the other two, rows of `across` of them. One field.
std::string factor_function(const Modes& modes, std::size_t axis, std::size_t across);

// What stands before the cosines: the steps.
std::array<double, 4> table_head(std::size_t steps, double smallest);
std::vector<double> cosine_tables(const Modes& modes);  // with room for the head, and behind
std::vector<double> face_tables(const std::vector<Faces>& faces);

// No eigenvalue of a step is larger among the modes from x on, whatever they are along the other axes. One field, even
// weights.
std::vector<double> largest_from(const Modes& modes);

// The largest eigenvalue of a step over the modes, of at most some millions of them.
double largest_eigenvalue(const Modes& modes);

}  // namespace ridge::stencil::leap
