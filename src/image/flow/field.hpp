#pragma once
#include <ridge/image.hpp>

namespace ridge::image {

// Throws unless the image has two channels of float.
void check_field(const Image& flow);

}  // namespace ridge::image
