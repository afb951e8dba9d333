// Draws a field as a picture: colours, a legend with numbers, the least and the greatest value.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "io/arrays/grid_source.hpp"
#include "io/images/png.hpp"

namespace ridge::io {

// Coordinates along one axis of a plane: that of the first cell, and the distance between cells. No axis is drawn if
// step is 0.
struct PictureAxis {
  std::string name = {};  // "range, m"
  double first = 0, step = 0;
};

struct PictureOptions {
  std::string map = "ember";
  std::optional<double> low = {}, high = {};  // values at the ends of the colour map; default: least and greatest value
  std::string title = {};                     // a line above the field: "heat step 600"
  std::size_t longest = 768;                  // most pixels along the longer side of the field
  bool y_up = true;                           // first row at the bottom, as in a plot; else at the top
  bool legend = true;
  PictureAxis x = {}, y = {};  // for planes with a legend
};

struct Picture {
  Raster raster;
  double least = 0, greatest = 0;  // over the finite cells shown
  std::size_t not_numbers = 0;     // cells shown that are NaN or infinite
  struct Area {                    // position of the field in the raster
    std::size_t x = 0, y = 0, width = 0, height = 0;
  } field;
};

// 1D: a curve. 2D: small grids are magnified, large ones averaged. 3D: the middle plane of the slowest axis.
Picture draw_field(const GridSource& source, std::size_t field, const PictureOptions& options = {});

std::string legend_number(double value);  // at most four significant digits: "-30", "0.125", "1.25e-06"

// A bitmap font of 5 by 7 pixels for legends.
inline constexpr std::size_t kGlyphWidth = 5, kGlyphHeight = 7, kGlyphPitch = 6;

// Rows from the top, five bits each, leftmost pixel in the highest bit. Capitals are drawn as small letters; unknown
// characters as a box.
std::array<std::uint8_t, kGlyphHeight> glyph(char letter);

}  // namespace ridge::io
