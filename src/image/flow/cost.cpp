// Operation and pixel counts of the flow.
#include "image/flow/cost.hpp"

namespace ridge::image::flow {
namespace {

double square(int radius) { return (2.0 * radius + 1) * (2.0 * radius + 1); }

}  // namespace

double searched_pixels(const FlowProblem& problem) {
  double pixels = static_cast<double>(problem.rows * problem.columns), sum = 0;
  for (int k = 0; k < problem.parameters.layers; ++k, pixels /= 4) {
    sum += k + 2 < problem.parameters.layers ? pixels / 2 : pixels;  // the first refinement searches all pixels
  }
  return 2 * sum;
}

double filter_pairs(const FlowProblem& problem) {
  const FlowParameters& p = problem.parameters;
  double pixels = static_cast<double>(problem.rows * problem.columns), pairs = pixels * square(p.postprocess_window);
  for (int k = 1; k < p.layers; ++k) {
    pixels /= 4;
    pairs += 2 * pixels * square(p.upscale_averaging_radius);
  }
  return pairs;
}

double plain_operations(const FlowProblem& problem) {
  const FlowParameters& p = problem.parameters;
  return 10 * searched_pixels(problem) * square(p.averaging_radius) * square(p.max_flow) + 17 * filter_pairs(problem);
}

}  // namespace ridge::image::flow
