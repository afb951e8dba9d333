// Device kernel that multiplies every mode by a power of its symbol, and the tables it reads.
#pragma once
#include <array>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "stencil/leap/forces.hpp"
#include "stencil/leap/modes.hpp"

namespace ridge::stencil::leap {

// `cell` is the type of the spectrum's numbers, float or double; rows are `pitch` numbers (or complex pairs) apart.
// Even weights only, so that the symbol is real. If only the first `kept` modes along x are significant, the others are
// set to zero without being read; 0: all may be.
KernelSource power_text(const Modes& modes, const char* cell, std::size_t pitch, std::size_t kept = 0);
Launch power_launch(const Modes& modes);

// The same for a transform that multiplies in place (fft/device/axis_plan.hpp), for the modes along `axis`. The
// line number counts the modes of the other two axes, in rows of `across`. One field.
std::string factor_function(const Modes& modes, std::size_t axis, std::size_t across);

// The numbers before the cosines: the steps.
std::array<double, 4> table_head(std::size_t steps, double smallest);
std::vector<double> cosine_tables(const Modes& modes);  // with space for the head and padding at the end
std::vector<double> face_tables(const std::vector<Faces>& faces);

// Upper bound of the eigenvalues of a step over all modes from x on. One field, even weights.
std::vector<double> largest_from(const Modes& modes);

// The largest eigenvalue of a step, over at most some millions of modes.
double largest_eigenvalue(const Modes& modes);

}  // namespace ridge::stencil::leap
