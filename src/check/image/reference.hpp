// Reference image operators as plain loops in double, written from the public headers alone; shares no code with
// src/image.
#pragma once
#include <cstdint>
#include <vector>

#include <ridge/image.hpp>

namespace ridge::check::plain {

struct Pixels {
  std::size_t rows = 0, columns = 0, channels = 1;
  std::vector<double> values = {};
  double& at(std::size_t r, std::size_t c, std::size_t k) { return values[(r * columns + c) * channels + k]; }
  double at(std::size_t r, std::size_t c, std::size_t k) const { return values[(r * columns + c) * channels + k]; }
};
Pixels pixels_of(const image::Image& image);

// The result of a chain before its last rounding. Between operators on integer pixels it is rounded and clamped.
Pixels apply(const image::OperatorProblem& problem, const Pixels& in, const Pixels& guide);

double variance(const image::VarianceProblem& problem, const Pixels& in, std::size_t row, std::size_t column);

// SimpleFlow: (x, y) per pixel. Shifts every smoothed vector randomly by at most `disturbance`; values on which two
// disturbed runs agree do not depend on the order of sums.
Pixels flow(const image::FlowProblem& problem, const Pixels& first, const Pixels& second, double disturbance = 0,
            std::uint64_t seed = 1);

}  // namespace ridge::check::plain
