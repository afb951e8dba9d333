// Synthetic frames for the flow benchmark: textured discs and background move by different vectors, and every pixel has
// independent noise.
#pragma once
#include <utility>

#include <ridge/image.hpp>

namespace ridge::cli {

image::Image moving_discs(std::size_t rows, std::size_t columns, int time);  // 8-bit, 3 channels

}  // namespace ridge::cli
