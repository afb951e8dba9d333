// Images by plain loops in double, from the descriptions in the public headers alone: nothing here is shared with
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

// The result of a chain before its last rounding; rounded and clamped between operators where pixels are whole numbers.
Pixels apply(const image::OperatorProblem& problem, const Pixels& in, const Pixels& guide);

double variance(const image::VarianceProblem& problem, const Pixels& in, std::size_t row, std::size_t column);

// SimpleFlow: (x, y) per pixel. Every smoothed vector is shifted at random by at most `disturbance`: what two disturbed
// runs agree about does not depend on the order of sums.
Pixels flow(const image::FlowProblem& problem, const Pixels& first, const Pixels& second, double disturbance = 0,
            std::uint64_t seed = 1);

}  // namespace ridge::check::plain
