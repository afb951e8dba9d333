// Error of a gradient whose sum over time takes only every k-th step.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace ridge::stencil {

// Relative errors for k = 1 to `most`, from the wavelets of the sources and the traces that are sent back. Where only
// delays separate a cell from source and receiver, its gradient is the correlation of the trace with the wavelet's
// second derivative at a lag: here the same sums of every k-th product, over all lags and starts, are compared with
// the whole ones. Waves of the highest frequencies and traces that end abruptly are included.
//
// `wavelets` has rows of steps by sources, `traces` rows of steps by receivers; some of both are used. Traces of zeros
// are replaced by the wavelets, cut off at the last step where they are largest.
std::vector<double> sampling_errors(std::span<const double> wavelets, std::size_t sources,
                                    std::span<const double> traces, std::size_t receivers, std::size_t steps,
                                    std::size_t most);

}  // namespace ridge::stencil
