// Argument check of flow fields.
#pragma once
#include <ridge/image.hpp>

namespace ridge::image {

// Throws if the image is not two channels of float.
void check_field(const Image& flow);

}  // namespace ridge::image
