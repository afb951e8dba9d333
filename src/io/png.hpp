// PNG images, through libpng where this was built with it; else Error{unavailable}.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/colour.hpp"

namespace ridge::io {

// Rows from the top, packed; one channel (grey) or three (red, green, blue).
struct Raster {
  std::size_t width = 0, height = 0, channels = 3;
  std::vector<std::uint8_t> values;

  Raster() = default;
  Raster(std::size_t width_, std::size_t height_, Colour background);
  void set(std::size_t x, std::size_t y, Colour colour);  // outside: nothing happens
  Colour at(std::size_t x, std::size_t y) const;
};

bool have_png();
std::string encode_png(const Raster& raster);
void write_png(const std::filesystem::path& path, const Raster& raster);  // atomic
// Colours, or grey where the image has none; 16 bits become 8, transparency goes. Error{io} naming the file.
Raster read_png(const std::filesystem::path& path);

inline constexpr std::size_t kMostPixels = std::size_t{1} << 28;  // of an image that is read

}  // namespace ridge::io
