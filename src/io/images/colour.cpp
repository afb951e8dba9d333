// Converts colours from OKLab, and holds the colour maps.
#include "io/images/colour.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::io {
namespace {

constexpr Colour kNoNumber{110, 95, 80};

struct Linear {
  double red, green, blue;
  bool shown() const {
    const auto inside = [](double part) { return part >= -1e-9 && part <= 1 + 1e-9; };
    return inside(red) && inside(green) && inside(blue);
  }
};

// Converts Ottosson's OKLab to linear RGB.
Linear from_lab(double light, double a, double b) {
  const auto cube = [](double v) { return v * v * v; };
  const double l = cube(light + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(light - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(light - 0.0894841775 * a - 1.2914855480 * b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

std::uint8_t encode(double linear) {
  linear = std::clamp(linear, 0.0, 1.0);
  const double value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * value));
}

double decode(std::uint8_t value) {
  const double share = value / 255.0;
  return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
}

// Reduces the chroma to what the sRGB gamut allows at that lightness and hue.
Colour colour_of(double light, double chroma, double hue_degrees) {
  const double hue = hue_degrees * std::numbers::pi / 180;
  double most = chroma;
  if (!from_lab(light, most * std::cos(hue), most * std::sin(hue)).shown()) {
    double low = 0;
    for (int i = 0; i < 40; ++i) {
      const double middle = (low + most) / 2;
      (from_lab(light, middle * std::cos(hue), middle * std::sin(hue)).shown() ? low : most) = middle;
    }
    most = low;
  }
  const Linear linear = from_lab(light, most * std::cos(hue), most * std::sin(hue));
  return {encode(linear.red), encode(linear.green), encode(linear.blue)};
}

template <class Function>
ColourMap make(const char* name, bool diverging, Function colour) {
  ColourMap map{name, diverging, {}};
  for (std::size_t i = 0; i < map.table.size(); ++i) map.table[i] = colour(static_cast<double>(i) / 255);
  return map;
}

}  // namespace

Colour ColourMap::at(double share) const {
  if (std::isnan(share)) return kNoNumber;
  return table[static_cast<std::size_t>(std::lround(255 * std::clamp(share, 0.0, 1.0)))];
}

const std::vector<ColourMap>& colour_maps() {
  static const std::vector<ColourMap> maps{
      make("ember", false,
           [](double t) {
             return colour_of(0.10 + 0.87 * t, 0.04 + 0.20 * std::sin(std::numbers::pi * std::pow(t, 0.8)),
                              285 + 180 * t);
           }),
      make("fern", false,
           [](double t) {
             return colour_of(0.20 + 0.75 * t, 0.06 + 0.14 * std::sin(std::numbers::pi * t * 0.75), 290 - 185 * t);
           }),
      make("balance", true,
           [](double t) {
             const double away = std::abs(2 * t - 1);
             return colour_of(0.97 - 0.60 * away, 0.19 * std::pow(away, 0.8), t < 0.5 ? 255 : 30);
           }),
      // Shows the values of an image unchanged.
      make("grey", false,
           [](double t) {
             const auto value = static_cast<std::uint8_t>(std::lround(255 * t));
             return Colour{value, value, value};
           }),
  };
  return maps;
}

const ColourMap& colour_map(const std::string& name) {
  std::string names;
  for (const ColourMap& map : colour_maps()) {
    if (map.name == name) return map;
    names += (names.empty() ? "" : ", ") + map.name;
  }
  throw Error(ErrorKind::invalid_argument, fmt::format("no colour map \"{}\": use one of {}", name, names));
}

double lightness(Colour colour) {
  const double r = decode(colour.red), g = decode(colour.green), b = decode(colour.blue);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
}

}  // namespace ridge::io
