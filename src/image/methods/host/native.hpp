// Operators computed in the image's own type, without float planes in between; other operators use rows.hpp.
#pragma once
#include <cstddef>
#include <memory>

#include "image/methods/host/rows.hpp"
#include "image/methods/spectral.hpp"

namespace ridge::image {

class Native {
 public:
  virtual ~Native() = default;
  virtual void run(const Image& in, Image& out, std::size_t threads) const = 0;
};

// Methods that serve several operators. The first two return null for pixels that they do not support.
std::unique_ptr<Native> native_separable(const Product& product, const Shape& in, const Edge& edge);
std::unique_ptr<Native> native_transpose(const Shape& in, bool rotated);  // rotated: by 90 degrees counterclockwise
std::unique_ptr<Native> spectral_convolution(const Window& window, const SpectralTile& tile, Depth depth,
                                             const Edge& edge);

template <template <class> class Made>
std::unique_ptr<Native> native_of_depth(Depth depth) {
  switch (depth) {
    case Depth::u8:
      return std::make_unique<Made<std::uint8_t>>();
    case Depth::u16:
      return std::make_unique<Made<std::uint16_t>>();
    default:
      return std::make_unique<Made<float>>();
  }
}

}  // namespace ridge::image
