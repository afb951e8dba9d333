// Sampling positions of rotations.
#pragma once
#include <cmath>
#include <optional>

#include <ridge/image/operators.hpp>

namespace ridge::image {

// 0 to 3 counterclockwise; empty if not a multiple of 90 degrees.
std::optional<int> quarter_turns(const Rotate& rotate);

// Sampling positions of a rotation by any angle: source coordinates (x, y) of output pixel (column, row).
class RotatedPlaces {
 public:
  RotatedPlaces(const Rotate& rotate, const Shape& shape);
  double x(std::size_t row, std::size_t column) const { return place(x_, row, column); }
  double y(std::size_t row, std::size_t column) const { return place(y_, row, column); }

  struct Line {  // origin + column * across + row * down
    double origin = 0, across = 0, down = 0;
  };
  const Line& x_line() const { return x_; }
  const Line& y_line() const { return y_; }

 private:
  double place(const Line& line, std::size_t row, std::size_t column) const {
    const double r = static_cast<double>(row), c = static_cast<double>(column);
    if (like_ == Like::ridge) return line.origin + c * line.across + r * line.down;
    // cv::warpAffine rounds the row's start and the column's offset to 1/1024 pixel, and their sum to 1/32 pixel, or to
    // whole pixels for nearest.
    const double sum = std::nearbyint((r * line.down + line.origin) * 1024) + std::nearbyint(c * line.across * 1024);
    return nearest_ ? std::floor((sum + 512) / 1024) : std::floor((sum + 16) / 32) / 32;
  }
  Line x_, y_;
  Like like_;
  bool nearest_;
};

}  // namespace ridge::image
