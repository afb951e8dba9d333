// Operators computed in the image's own type, without float planes in between; other operators use rows.hpp.
#pragma once
#include <cstddef>
#include <memory>

#include "image/operators/host/rows.hpp"
#include "image/operators/spectral.hpp"

namespace ridge::image {

class Native {
 public:
  virtual ~Native() = default;
  virtual void run(const Image& in, Image& out, std::size_t threads) const = 0;
};

// Each returns null if it does not support the operator, its parameters or the depth.
std::unique_ptr<Native> native_median(const Operation& operation, const Shape& in, const Edge& edge);
std::unique_ptr<Native> native_box(const Operation& operation, const Shape& in, const Edge& edge);
std::unique_ptr<Native> native_separable(const Operation& operation, const Shape& in, const Edge& edge);
std::unique_ptr<Native> native_downscale(const Operation& operation, const Shape& in, const Edge& edge);
std::unique_ptr<Native> native_resize(const Operation& operation, const Shape& in, const Edge& edge);
std::unique_ptr<Native> native_pyramid(const Operation& operation, const Shape& in, const Edge& edge);
std::unique_ptr<Native> native_nearest(const Operation& operation, const Shape& in, const Edge& edge);
std::unique_ptr<Native> native_transpose(const Operation& operation, const Shape& in, const Edge& edge);
std::unique_ptr<Native> native_integral(const Operation& operation, const Shape& in, const Edge& edge);
std::unique_ptr<Native> native_gray(const Operation& operation, const Shape& in, const Edge& edge);

std::unique_ptr<Native> native(const Operation& operation, const Shape& in, const Edge& edge);

std::unique_ptr<Native> spectral_convolution(const Window& window, const SpectralTile& tile, Depth depth,
                                             const Edge& edge);

}  // namespace ridge::image
