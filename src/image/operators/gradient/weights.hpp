// Weights of image gradients.
#pragma once
#include <vector>

#include <ridge/image/operators.hpp>

namespace ridge::image {

struct GradientWeights {
  std::vector<double> along, beside;  // weights of the derivative, and of the smoothing perpendicular to it
};
GradientWeights gradient_weights(const Gradient& gradient);

}  // namespace ridge::image
