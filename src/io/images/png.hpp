// PNG images through libpng; Error{unavailable} if built without it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/images/colour.hpp"

namespace ridge::io {

// Rows from the top, packed; one channel (grey) or three (red, green, blue).
struct Raster {
  std::size_t width = 0, height = 0, channels = 3;
  std::vector<std::uint8_t> values;

  Raster() = default;
  Raster(std::size_t width_, std::size_t height_, Colour background);
  void set(std::size_t x, std::size_t y, Colour colour);  // outside: no effect
  Colour at(std::size_t x, std::size_t y) const;
};

bool have_png();
std::string encode_png(const Raster& raster);
void write_png(const std::filesystem::path& path, const Raster& raster);  // atomic
// Returns colours, or grey if the image has none. 16 bits are reduced to 8; transparency is dropped. Throws Error{io}
// with the file name.
Raster read_png(const std::filesystem::path& path);

inline constexpr std::size_t kMostPixels = std::size_t{1} << 28;  // limit of images that are read

}  // namespace ridge::io
