// Moves pixels of any size, tile by tile: transposition and rotations by multiples of 90 degrees.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include <ridge/image/image.hpp>

#include "image/methods/host/row_blocks.hpp"

namespace ridge::image {

// Computes out(r, c) = in(source(r, c)) for pixels of kBytes, tile by tile.
template <std::size_t kBytes, class Source>
void move_tiles(const Image& in, Image& out, std::size_t threads, const Source& source) {
  constexpr std::size_t kTile = 32;
  in_bands(threads, out.rows(), kTile, [&](std::size_t begin, std::size_t end) {
    for (std::size_t top = begin; top < end; top += kTile) {
      for (std::size_t left = 0; left < out.columns(); left += kTile) {
        for (std::size_t r = top; r < std::min(top + kTile, end); ++r) {
          auto* to = out.row<std::byte>(r);
          for (std::size_t c = left; c < std::min(left + kTile, out.columns()); ++c) {
            const auto [y, x] = source(r, c);
            std::memcpy(to + c * kBytes, in.row<std::byte>(y) + x * kBytes, kBytes);
          }
        }
      }
    }
  });
}
template <class Source>
void move_pixels(const Image& in, Image& out, std::size_t threads, const Source& source) {
  switch (in.shape().pixel_bytes()) {
    case 1:
      return move_tiles<1>(in, out, threads, source);
    case 2:
      return move_tiles<2>(in, out, threads, source);
    case 3:
      return move_tiles<3>(in, out, threads, source);
    case 4:
      return move_tiles<4>(in, out, threads, source);
    case 6:
      return move_tiles<6>(in, out, threads, source);
    case 8:
      return move_tiles<8>(in, out, threads, source);
    case 12:
      return move_tiles<12>(in, out, threads, source);
    default:
      return move_tiles<16>(in, out, threads, source);
  }
}

}  // namespace ridge::image
