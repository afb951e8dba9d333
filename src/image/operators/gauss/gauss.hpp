// Size of a Gaussian filter.
#pragma once
#include <ridge/image/operators.hpp>

namespace ridge::image {

std::size_t gauss_radius(const Gauss& gauss, Depth depth);  // as given, or OpenCV's for this sigma and depth

}  // namespace ridge::image
