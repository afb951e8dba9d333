// Reference of the variance: two passes in double over every window. Every method is compared with it.
#pragma once
#include <ridge/image.hpp>

namespace ridge::image {

double reference_variance(const VarianceProblem& problem, const Image& in, std::size_t row, std::size_t column);

}  // namespace ridge::image
