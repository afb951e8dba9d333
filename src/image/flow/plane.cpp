// Converts between images and the planes of the flow's stages.
#include "image/flow/plane.hpp"

namespace ridge::image::flow {

Picture picture_of(const Image& frame) {
  Picture picture({static_cast<int>(frame.rows()), static_cast<int>(frame.columns())});
  const std::size_t channels = frame.channels();
  auto to = picture.cells.begin();
  for (std::size_t r = 0; r < frame.rows(); ++r) {
    const auto* pixel = frame.row<std::uint8_t>(r);
    for (std::size_t c = 0; c < frame.columns(); ++c, pixel += channels) {
      *to++ = channels < 3 ? Pixel{{pixel[0], pixel[0], pixel[0]}} : Pixel{{pixel[0], pixel[1], pixel[2]}};
    }
  }
  return picture;
}

// Operation and pixel counts of the flow.

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
