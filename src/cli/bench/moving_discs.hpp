// Two frames to time the flow with: discs and the ground behind them, textured at several scales, move by different
// vectors, and every pixel has noise of its own.
#pragma once
#include <utility>

#include <ridge/image.hpp>

namespace ridge::cli {

image::Image moving_discs(std::size_t rows, std::size_t columns, int time);  // 8-bit, 3 channels

}  // namespace ridge::cli
