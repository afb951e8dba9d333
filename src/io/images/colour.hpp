// Colour maps computed in OKLab, where equal distances look equal: lightness varies uniformly from end to end, so a
// picture stays readable in print and for colour-blind readers.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ridge::io {

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Colour&) const = default;
};

struct ColourMap {
  std::string name;
  bool diverging = false;  // its middle is a neutral zero
  std::array<Colour, 256> table{};
  Colour at(double share) const;  // value in [0, 1], clamped; grey-brown for NaN
};

// "ember": dark violet, red, yellow; "fern": dark blue, green, yellow; "balance": blue, white, red; "grey".
const std::vector<ColourMap>& colour_maps();
const ColourMap& colour_map(const std::string& name);  // Error{invalid_argument} lists the names

double lightness(Colour colour);  // in OKLab, 0 to 1

}  // namespace ridge::io
