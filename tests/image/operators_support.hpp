// Shared helpers for tests of operators on the host and on devices.
#pragma once
#include <algorithm>
#include <cmath>
#include <random>

#include "image/operators/reference.hpp"
#include "support/worst.hpp"

namespace ridge::test {

inline image::Image random_image(const image::Shape& shape, unsigned seed) {
  using image::Depth;
  image::Image image(shape);
  std::mt19937 random(seed);
  for (std::size_t r = 0; r < shape.rows; ++r) {
    for (std::size_t c = 0; c < shape.columns * shape.channels; ++c) {
      if (shape.depth == Depth::u8) image.row<std::uint8_t>(r)[c] = static_cast<std::uint8_t>(random());
      if (shape.depth == Depth::u16) image.row<std::uint16_t>(r)[c] = static_cast<std::uint16_t>(random());
      if (shape.depth == Depth::f32) image.row<float>(r)[c] = static_cast<float>(random() % 4096) / 16 - 30;
    }
  }
  return image;
}

// Largest difference between results and unrounded reference values, clamped to the depth.
inline double worst_difference(const image::Image& out, const image::Plain& expected) {
  const image::Plain got = image::plain_of(out);
  if (got.values.size() != expected.values.size()) return INFINITY;
  const double most = out.depth() == image::Depth::u8 ? 255 : out.depth() == image::Depth::u16 ? 65535 : INFINITY;
  double worst = 0;
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    const double right = most < INFINITY ? std::clamp(expected.values[i], 0.0, most) : expected.values[i];
    worst = worse(worst, std::abs(got.values[i] - right));
  }
  return worst;
}

// Half a level of rounding, plus the error of float sums of values up to 65535; for float, in units of values up to
// 256.
inline double allowed_error(const image::OperatorProblem& problem) {
  using image::Depth;
  const Depth out = image::output_shape(problem).depth;
  if (out == Depth::u32) return 0;
  if (out == Depth::f64) return 1e-6;
  if (out == Depth::f32) return problem.input.depth == Depth::u16 ? 0.02 : 2e-3;
  const double one = out == Depth::u16 ? 0.55 : 0.501;
  const auto* pyramid = std::get_if<image::Pyramid>(&problem.chain.front());
  return pyramid != nullptr && pyramid->levels > 1 ? 2 * one : one;
}

// A kernel without a small separable rank: only transforms make it cheap.
inline image::Convolve large_kernel(std::size_t rows, std::size_t columns) {
  image::Convolve kernel{rows, columns, std::vector<float>(rows * columns)};
  std::mt19937 random(7);
  for (float& weight : kernel.kernel)
    weight = (static_cast<float>(random() % 2048) - 512) / (512 * static_cast<float>(rows * columns));
  return kernel;
}

inline std::vector<image::Operation> all_operators() {
  using namespace image;
  std::vector<float> kernel(15);
  for (std::size_t i = 0; i < kernel.size(); ++i) kernel[i] = 0.02f * static_cast<float>(i) - 0.05f;
  return {Convolve{3, 5, kernel},
          Convolve{1, 1, {0.5f}},
          Separable{{0.25f, 0.5f, 0.25f, 0.1f}, {-0.5f, 0.1f, 0.5f}},
          Gauss{0.6},
          Gauss{2, 3},
          Gauss{4},
          Box{3, 3},
          Box{4, 7},
          Median{0},
          Median{1},
          Median{2},
          Median{3},
          Bilateral{2, 1.5, 30},
          Bilateral{4, 0.3, 4},  // weights below the smallest float
          CrossBilateral{3, 2, 20},
          Resize{.scale = 0.5},
          Resize{.rows = 17, .columns = 5, .interpolation = Interpolation::nearest},
          Resize{.rows = 9, .columns = 40, .interpolation = Interpolation::bicubic},
          Resize{.rows = 4, .columns = 7, .interpolation = Interpolation::area},
          Resize{.scale = 1.7, .interpolation = Interpolation::area},
          Integral{},
          Pyramid{1},
          Pyramid{3},
          Transpose{},
          Rotate{90},
          Rotate{180},
          Rotate{-90},
          Rotate{360},
          Rotate{17},
          Rotate{33, Interpolation::bicubic},
          Rotate{200, Interpolation::nearest},
          Bilateral{2, 1.5, 30, Like::opencv},
          CrossBilateral{3, 2, 20, Like::opencv},
          Resize{.scale = 0.37, .like = Like::opencv},
          Resize{.scale = 0.71, .interpolation = Interpolation::nearest, .like = Like::opencv},
          Resize{.scale = 1.3, .interpolation = Interpolation::bicubic, .like = Like::opencv},
          Resize{.scale = 0.45, .interpolation = Interpolation::area, .like = Like::opencv},
          Resize{.rows = 9, .columns = 40, .interpolation = Interpolation::area, .like = Like::opencv},
          Rotate{17, Interpolation::bilinear, Like::opencv},
          Rotate{-33, Interpolation::bicubic, Like::opencv},
          Rotate{200, Interpolation::nearest, Like::opencv}};
}

}  // namespace ridge::test
