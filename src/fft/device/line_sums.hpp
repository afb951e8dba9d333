// Compares all values of device transforms, on the device: each value of a transform is a sum over all values of the
// other side.
#pragma once
#include <complex>
#include <cstdint>
#include <vector>

#include "fft/device/problem/axis_problem.hpp"
#include "plan/comparison.hpp"

namespace ridge::fft::on_device {

// True for complex and real lines of floats without factors or boxes, on devices with float64.
bool has_line_sums(const Device& device, const AxisProblem& problem);

// Values of unscaled transforms by their definition, in double. `values` holds the input or the output of the problem;
// its lines are transformed to the other side. Of each line one value is computed; lines may be repeated.
std::vector<std::complex<double>> values_by_sums(Queue& queue, const AxisProblem& problem, const Buffer& values,
                                                 bool input, const std::vector<std::uint64_t>& lines,
                                                 const std::vector<std::uint64_t>& wanted);

// Compares values of the input with the inverse transform of the answer, at least one of every line. A wrong value of
// the answer is noticed if its error exceeds the bound of rounding by the root of the number of points.
planner::Comparison compare_by_sums(Queue& queue, const AxisProblem& problem, const Buffer& in, const Buffer& out);

}  // namespace ridge::fft::on_device
