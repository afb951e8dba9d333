// Operator gradient: derivatives of a single-channel image by Sobel, Scharr or central differences.
#include <cmath>

#include <fmt/format.h>

#include "image/operators/definition.hpp"
#include "image/operators/gradient/weights.hpp"
#include "image/text.hpp"

namespace ridge::image {

AddRows<Gradient> gradient_rows;        // host.cpp
AddTileStages<Gradient> gradient_tile;  // device.cpp
namespace on_device {
StepLister list_gradient;
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

namespace {

Plain plain_gradient(const Gradient& o, const Reference& call) {
  const GradientWeights weights = gradient_weights(o);
  const Plain x = call.product(weights.beside, weights.along), y = call.product(weights.along, weights.beside);
  return call.each({call.in.rows, call.in.columns, 2}, [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
    return (k == 0 ? x : y).at(static_cast<std::size_t>(r), static_cast<std::size_t>(c), 0);
  });
}

double gradient_gain(const Gradient& o, const Shape&) {
  const GradientWeights weights = gradient_weights(o);
  double along = 0, beside = 0;
  for (const double weight : weights.along) along += std::abs(weight);
  for (const double weight : weights.beside) beside += std::abs(weight);
  return along * beside;
}

}  // namespace

template <>
const Definition<Gradient>& definition<Gradient>() {
  static const Definition<Gradient> gradient{
      .info = OperatorInfo{.name = "gradient",
                           .syntax = "gradient [sobel|scharr|central] [opencv]",
                           .help = "d/dx and d/dy of one channel, as float: Sobel / 8, Scharr / 32, (-1 0 1) / 2",
                           .parameters = {{.name = "KIND",
                                           .help = "default sobel",
                                           .kind = OperatorParameter::Kind::word,
                                           .words = {"sobel", "scharr", "central"},
                                           .optional = true}},
                           .examples = {"gradient"}},
      .parse =
          [](Words& words) {
            const Like like = words.like();
            return Gradient{words.more() ? kGradients.value(words.next("kind")) : GradientKind::sobel, like};
          },
      .print = [](const Gradient& o) { return fmt::format("gradient {}{}", kGradients.name(o.kind), ending(o.like)); },
      .shape =
          [](const Gradient& o, const Shape& in) {
            if (in.channels != 1)
              throw refusal(o, fmt::format("needs 1 channel, got {}; apply gray first", in.channels));
            return Shape{in.rows, in.columns, 2, Depth::f32};
          },
      .reference = plain_gradient,
      .gain = gradient_gain,
      .rows = gradient_rows,
      .tile = gradient_tile,
      .steps = {on_device::list_gradient}};
  return gradient;
}

}  // namespace ridge::image
