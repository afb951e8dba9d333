// RGB images in memory: construction and access to pixels.
#include "base/files.hpp"
#include "io/images/png.hpp"

namespace ridge::io {

Raster::Raster(std::size_t width_, std::size_t height_, Colour background)
    : width(width_), height(height_), values(3 * width_ * height_) {
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) set(x, y, background);
  }
}

void Raster::set(std::size_t x, std::size_t y, Colour colour) {
  if (x >= width || y >= height) return;
  std::uint8_t* pixel = values.data() + 3 * (y * width + x);
  pixel[0] = colour.red;
  pixel[1] = colour.green;
  pixel[2] = colour.blue;
}

Colour Raster::at(std::size_t x, std::size_t y) const {
  const std::uint8_t* pixel = values.data() + channels * (y * width + x);
  return channels == 1 ? Colour{pixel[0], pixel[0], pixel[0]} : Colour{pixel[0], pixel[1], pixel[2]};
}

void write_png(const std::filesystem::path& path, const Raster& raster) { base::write_file(path, encode_png(raster)); }

}  // namespace ridge::io
