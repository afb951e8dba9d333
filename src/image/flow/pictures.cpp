// Draws a flow field in colours, and computes its error against ground truth.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <ridge/image/files.hpp>

#include "image/flow/plane.hpp"
#include "io/images/colour.hpp"
#include "io/images/pixels.hpp"

namespace ridge::image {
namespace {

// Colour wheel of saturated colours: red, yellow, green, cyan, blue, magenta, with as many steps between two as the eye
// distinguishes (Baker et al. 2011).
std::vector<std::array<double, 3>> wheel() {
  struct Run {
    int steps, falls, rises;  // falls, rises: channels, or -1 for none
  };
  constexpr Run kRuns[] = {{15, -1, 1}, {6, 0, -1}, {4, -1, 2}, {11, 1, -1}, {13, -1, 0}, {6, 2, -1}};
  std::vector<std::array<double, 3>> colors;
  std::array<double, 3> now{1, 0, 0};
  for (const Run& run : kRuns) {
    for (int i = 0; i < run.steps; ++i) {
      const double share = static_cast<double>(i) / run.steps;
      std::array<double, 3> color = now;
      if (run.rises >= 0) color[static_cast<std::size_t>(run.rises)] = share;
      if (run.falls >= 0) color[static_cast<std::size_t>(run.falls)] = 1 - share;
      colors.push_back(color);
    }
    if (run.rises >= 0) now[static_cast<std::size_t>(run.rises)] = 1;
    if (run.falls >= 0) now[static_cast<std::size_t>(run.falls)] = 0;
  }
  return colors;
}

void check_pair(const Image& flow, const Image& truth) {
  check_field(flow);
  check_field(truth);
  if (flow.shape() != truth.shape()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("flow fields to compare need the same size, got {}x{} and {}x{}", flow.columns(),
                            flow.rows(), truth.columns(), truth.rows()));
  }
}

double longest(const Image& flow) {
  double most = 0;
  for (std::size_t r = 0; r < flow.rows(); ++r) {
    const auto* at = flow.row<float>(r);
    for (std::size_t c = 0; c < flow.columns(); ++c, at += 2) {
      if (io::known(at[0], at[1])) most = std::max(most, std::hypot(double{at[0]}, double{at[1]}));
    }
  }
  return most > 0 ? most : 1;
}

}  // namespace

void check_field(const Image& flow) {
  if (flow.channels() != 2 || flow.depth() != Depth::f32) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("a flow field needs 2 channels of float, got {}", flow.shape().text()));
  }
}

Image flow_picture(const Image& flow, double most) {
  check_field(flow);
  if (!(most >= 0))
    throw Error(ErrorKind::invalid_argument, "flow picture: the length of full colour must be at least 0");
  const double full = most > 0 ? most : longest(flow);
  static const std::vector<std::array<double, 3>> colors = wheel();
  Image picture({.rows = flow.rows(), .columns = flow.columns(), .channels = 3});
  for (std::size_t r = 0; r < flow.rows(); ++r) {
    const auto* at = flow.row<float>(r);
    auto* out = picture.row<std::uint8_t>(r);
    for (std::size_t c = 0; c < flow.columns(); ++c, at += 2, out += 3) {
      if (!io::known(at[0], at[1])) {  // unknown, or NaN
        out[0] = out[1] = out[2] = 0;
        continue;
      }
      const double length = std::hypot(double{at[0]}, double{at[1]}) / full;
      const double angle = (std::atan2(-double{at[1]}, -double{at[0]}) / std::numbers::pi + 1) /
                           2;  // angle as a fraction of a full circle
      const double place = angle * static_cast<double>(colors.size() - 1);
      const auto first = static_cast<std::size_t>(place), next = (first + 1) % colors.size();
      for (std::size_t k = 0; k < 3; ++k) {
        double color = std::lerp(colors[first][k], colors[next][k], place - std::floor(place));
        color = length <= 1 ? 1 - length * (1 - color) : 0.75 * color;  // vectors beyond full length are darker
        out[k] = static_cast<std::uint8_t>(std::lrint(255 * color));
      }
    }
  }
  return picture;
}

FlowErrors compare_flow(const Image& flow, const Image& truth) {
  check_pair(flow, truth);
  FlowErrors errors;
  double squares = 0, sum = 0, angles = 0;
  for (std::size_t r = 0; r < flow.rows(); ++r) {
    const float *a = flow.row<float>(r), *b = truth.row<float>(r);
    for (std::size_t c = 0; c < flow.columns(); ++c, a += 2, b += 2) {
      if (!io::known(b[0], b[1])) continue;
      const double x = a[0], y = a[1], u = b[0], v = b[1], error = std::hypot(x - u, y - v);
      const double cosine = (x * u + y * v + 1) / std::sqrt((x * x + y * y + 1) * (u * u + v * v + 1));
      ++errors.known;
      squares += error * error;
      sum += error;
      errors.worst = std::isnan(errors.worst) || error <= errors.worst ? errors.worst : error;
      angles += std::acos(cosine > 1 ? 1.0 : cosine < -1 ? -1.0 : cosine);
    }
  }
  if (errors.known == 0) throw Error(ErrorKind::invalid_argument, "the ground truth has no known vector");
  const auto count = static_cast<double>(errors.known);
  errors.rmse = std::sqrt(squares / count);
  errors.mean = sum / count;
  errors.angular = angles / count * 180 / std::numbers::pi;
  return errors;
}

Image error_picture(const Image& flow, const Image& truth, double most) {
  check_pair(flow, truth);
  const io::ColourMap& map = io::colour_map("ember");
  Image picture({.rows = flow.rows(), .columns = flow.columns(), .channels = 3});
  for (std::size_t r = 0; r < flow.rows(); ++r) {
    const float *a = flow.row<float>(r), *b = truth.row<float>(r);
    auto* out = picture.row<std::uint8_t>(r);
    for (std::size_t c = 0; c < flow.columns(); ++c, a += 2, b += 2, out += 3) {
      const double error = std::hypot(double{a[0]} - b[0], double{a[1]} - b[1]);
      const io::Colour color = io::known(b[0], b[1]) ? map.at(error / most) : io::Colour{128, 128, 128};
      out[0] = color.red;
      out[1] = color.green;
      out[2] = color.blue;
    }
  }
  return picture;
}

}  // namespace ridge::image
