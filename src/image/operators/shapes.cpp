// Output shape of each operator; rejects invalid parameters.
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <ridge/image/operators.hpp>

#include "image/operators/settings.hpp"
#include "image/text.hpp"

namespace ridge::image {
namespace {

constexpr std::size_t kMostRadius = 512;

[[noreturn]] void refuse(const Operation& operation, const std::string& why) {
  throw Error(ErrorKind::invalid_argument, fmt::format("{}: {}", short_name(operation), why));
}

void check_weights(const Operation& operation, const std::vector<float>& weights) {
  if (weights.empty() || weights.size() > 2 * kMostRadius + 1) {
    refuse(operation, fmt::format("needs 1 to {1} weights, got {0}", weights.size(), 2 * kMostRadius + 1));
  }
  for (const float weight : weights) {
    if (!std::isfinite(weight)) refuse(operation, fmt::format("needs finite weights, got {:g}", weight));
  }
}

struct OutputShape {
  const Operation& operation;
  Shape shape;

  void operator()(const Convolve& o) {
    if (o.rows == 0 || o.columns == 0 || o.rows > 255 || o.columns > 255)
      refuse(operation,
             fmt::format("needs a kernel of 1 to 255 rows and columns, got {} rows and {} columns", o.rows, o.columns));
    if (o.kernel.size() != o.rows * o.columns) {
      refuse(operation, fmt::format("{} rows and {} columns need {} weights, got {}", o.rows, o.columns,
                                    o.rows * o.columns, o.kernel.size()));
    }
    for (const float weight : o.kernel) {
      if (!std::isfinite(weight)) refuse(operation, fmt::format("needs finite weights, got {:g}", weight));
    }
  }
  void operator()(const Separable& o) {
    check_weights(operation, o.down);
    check_weights(operation, o.across);
  }
  void operator()(const Gauss& o) {
    if (!(o.sigma > 0) || gauss_radius(o, shape.depth) > kMostRadius) {
      refuse(operation,
             fmt::format("needs sigma above 0 and a radius of at most {1}, got sigma {0:g}", o.sigma, kMostRadius));
    }
  }
  void operator()(const Box& o) {
    if (o.rows == 0 || o.columns == 0 || o.rows > 2 * kMostRadius + 1 || o.columns > 2 * kMostRadius + 1) {
      refuse(operation,
             fmt::format("needs sides of 1 to {2} pixels, got {0}x{1}", o.columns, o.rows, 2 * kMostRadius + 1));
    }
  }
  void operator()(const Median& o) {
    if (o.radius > 64) refuse(operation, fmt::format("needs a radius of at most 64, got {}", o.radius));
  }
  void bilateral(std::size_t radius, double sigma_space, double sigma_color) {
    if (radius > 64) refuse(operation, fmt::format("needs a radius of at most 64, got {}", radius));
    constexpr double kLeast = 1e-6;  // float arithmetic divides by their squares
    if (!(sigma_space >= kLeast) || !(sigma_color >= kLeast))
      refuse(operation, fmt::format("needs sigmas of at least 1e-06, got {:g} and {:g}", sigma_space, sigma_color));
  }
  void operator()(const Bilateral& o) { bilateral(o.radius, o.sigma_space, o.sigma_color); }
  void operator()(const CrossBilateral& o) { bilateral(o.radius, o.sigma_space, o.sigma_color); }
  void operator()(const Resize& o) {
    const auto side = [&](std::size_t given, std::size_t from) {
      const double wanted =
          given != 0 ? static_cast<double>(given) : std::nearbyint(o.scale * static_cast<double>(from));
      if (!(wanted <= 1e6)) refuse(operation, fmt::format("needs at most 1000000 pixels per side, got {:g}", wanted));
      return static_cast<std::size_t>(std::fmax(1, wanted));
    };
    if ((o.rows == 0 || o.columns == 0) && !(o.scale > 0))
      refuse(operation, fmt::format("needs a size, for example 640x480, or a scale above 0, got scale {:g}", o.scale));
    shape.rows = side(o.rows, shape.rows);
    shape.columns = side(o.columns, shape.columns);
  }
  void operator()(const Integral&) {
    ++shape.rows;
    ++shape.columns;
    shape.depth = shape.depth == Depth::u8 ? Depth::u32 : Depth::f64;
  }
  void operator()(const Pyramid& o) {
    if (o.levels == 0 || o.levels > 16) refuse(operation, fmt::format("needs 1 to 16 levels, got {}", o.levels));
    for (std::size_t i = 0; i < o.levels; ++i) {
      shape.rows = (shape.rows + 1) / 2;
      shape.columns = (shape.columns + 1) / 2;
    }
  }
  void operator()(const Gradient&) {
    if (shape.channels != 1)
      refuse(operation, fmt::format("needs 1 channel, got {}; apply gray first", shape.channels));
    shape.channels = 2;
    shape.depth = Depth::f32;
  }
  void operator()(const Transpose&) { std::swap(shape.rows, shape.columns); }
  void operator()(const Rotate& o) {
    if (!std::isfinite(o.degrees)) refuse(operation, fmt::format("needs a finite angle, got {:g}", o.degrees));
    if (o.interpolation == Interpolation::area)
      refuse(operation, "interpolation area works with resize only; use nearest, bilinear or bicubic");
    if (const auto turns = quarter_turns(o); turns && *turns % 2 != 0) std::swap(shape.rows, shape.columns);
  }
  void operator()(const Gray&) {
    if (shape.channels != 3 && shape.channels != 4) {
      refuse(operation, fmt::format("needs 3 or 4 channels, got {}", shape.channels));
    }
    shape.channels = 1;
  }
};

}  // namespace

std::size_t gauss_radius(const Gauss& gauss, Depth depth) {
  if (gauss.radius != 0) return gauss.radius;
  const double side = std::nearbyint((depth == Depth::u8 ? 6 : 8) * gauss.sigma + 1);
  return side < 2e6 ? static_cast<std::size_t>(std::fmax(1, std::floor(side / 2))) : std::size_t{1000000};
}

std::vector<double> gauss_weights(double sigma, std::size_t radius) {
  std::vector<double> weights;
  double sum = 0;
  for (std::size_t i = 0; i <= 2 * radius; ++i) {
    const double d = static_cast<double>(i) - static_cast<double>(radius);
    // 1 in the centre even if sigma^2 underflows.
    weights.push_back(d == 0 ? 1 : std::exp(-d * d / (2 * sigma * sigma)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

std::optional<int> quarter_turns(const Rotate& rotate) {
  const double turns = rotate.degrees / 90;
  if (turns != std::nearbyint(turns)) return {};
  return static_cast<int>(std::fmod(std::fmod(turns, 4) + 4, 4));
}

GradientWeights gradient_weights(const Gradient& gradient) {
  GradientWeights weights{{-1, 0, 1}, {0, 1, 0}};
  if (gradient.kind == GradientKind::sobel) weights.beside = {1, 2, 1};
  if (gradient.kind == GradientKind::scharr) weights.beside = {3, 10, 3};
  if (gradient.like == Like::opencv) return weights;
  const double sum = weights.beside[0] + weights.beside[1] + weights.beside[2];
  for (double& weight : weights.beside) weight /= sum;
  for (double& weight : weights.along) weight /= 2;
  return weights;
}

RotatedPlaces::RotatedPlaces(const Rotate& rotate, const Shape& shape)
    : like_(rotate.like), nearest_(rotate.interpolation == Interpolation::nearest) {
  const double angle = rotate.degrees * std::numbers::pi / 180, cosine = std::cos(angle), sine = std::sin(angle);
  const double middle_y = (static_cast<double>(shape.rows) - 1) / 2,
               middle_x = (static_cast<double>(shape.columns) - 1) / 2;
  x_ = {middle_x - cosine * middle_x + sine * middle_y, cosine, -sine};
  y_ = {middle_y - sine * middle_x - cosine * middle_y, sine, cosine};
}

Border border_for(const Operation& operation, std::optional<Border> given) {
  if (given) return *given;
  if (std::holds_alternative<Rotate>(operation)) return Border::constant;
  return std::holds_alternative<Median>(operation) ? Border::replicate : Border::reflect_101;
}

Shape output_shape(const Operation& operation, const Shape& input) {
  check(input, "image");
  if (input.depth == Depth::u32 || input.depth == Depth::f64) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("{}: needs 8-bit, 16-bit or float pixels, got {}; integral must be the last operator of a chain",
                    short_name(operation), to_string(input.depth)));
  }
  OutputShape visit{operation, input};
  std::visit(visit, operation);
  check(visit.shape, short_name(operation) + ": result");
  return visit.shape;
}

Shape output_shape(const OperatorProblem& problem) {
  if (problem.chain.empty())
    throw Error(ErrorKind::invalid_argument, "needs at least one operator, got an empty chain");
  check(problem.input, "image");
  if (std::isnan(problem.constant) && problem.input.depth != Depth::f32) {
    throw Error(ErrorKind::invalid_argument, fmt::format("{} pixels need a border constant that is a number, got nan",
                                                         to_string(problem.input.depth)));
  }
  Shape shape = problem.input;
  for (const Operation& operation : problem.chain) {
    if (std::holds_alternative<CrossBilateral>(operation) &&
        (shape.rows != problem.input.rows || shape.columns != problem.input.columns)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{}: needs an image of the guide's size, {}x{} pixels, got {}x{}", short_name(operation),
                              problem.input.columns, problem.input.rows, shape.columns, shape.rows));
    }
    shape = output_shape(operation, shape);
  }
  return shape;
}

std::size_t inputs(const OperatorProblem& problem) {
  for (const Operation& operation : problem.chain) {
    if (std::holds_alternative<CrossBilateral>(operation)) return 2;
  }
  return 1;
}

const char* to_string(Like like) { return kLikes.name(like); }
Like like_of(const std::string& name) { return kLikes.value(name); }
const char* to_string(Interpolation interpolation) { return kInterpolations.name(interpolation); }
Interpolation interpolation_of(const std::string& name) {
  // OpenCV's names.
  if (name == "linear") return Interpolation::bilinear;
  if (name == "cubic") return Interpolation::bicubic;
  return kInterpolations.value(name);
}

}  // namespace ridge::image
