// Checks the parameters of a flow problem.
#include <cmath>

#include <fmt/format.h>
#include <ridge/image/flow.hpp>

namespace ridge::image {

void check(const FlowProblem& problem) {
  check(Shape{.rows = problem.rows, .columns = problem.columns, .channels = problem.channels}, "flow: frames");
  const auto refuse = [](const std::string& why) { throw Error(ErrorKind::invalid_argument, "flow: " + why); };
  constexpr std::size_t kMostSide = 32768;  // rows and columns fit 15 bits: a point is packed in a word
  if (problem.rows > kMostSide || problem.columns > kMostSide) {
    refuse(fmt::format("frames of {}x{}: a side may have at most {} pixels", problem.columns, problem.rows, kMostSide));
  }
  if (problem.channels == 2) refuse("frames need 1, 3 or 4 channels, got 2 channels");
  const FlowParameters& p = problem.parameters;
  const auto whole = [&](const char* name, int value, int least, int most) {
    if (value < least || value > most)
      refuse(fmt::format("{} is {}, it must be in {} to {}", name, value, least, most));
  };
  whole("layers", p.layers, 1, 16);
  whole("averaging radius", p.averaging_radius, 0, 16);
  whole("max flow", p.max_flow, 0, 64);
  whole("postprocess window", p.postprocess_window, 0, 64);
  whole("upscale averaging radius", p.upscale_averaging_radius, 0, 64);
  const auto positive = [&](const char* name, float value) {
    if (!(value > 0) || !std::isfinite(value))
      refuse(fmt::format("{} is {}, it must be finite and positive", name, value));
  };
  positive("sigma_dist", p.sigma_dist);
  positive("sigma_color", p.sigma_color);
  positive("sigma_dist_fix", p.sigma_dist_fix);
  positive("sigma_color_fix", p.sigma_color_fix);
  positive("upscale_sigma_dist", p.upscale_sigma_dist);
  positive("upscale_sigma_color", p.upscale_sigma_color);
  positive("occlusion threshold", p.occlusion_threshold);
  positive("speed-up threshold", p.speed_up_threshold);
}

}  // namespace ridge::image
