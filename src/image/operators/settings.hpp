// What the operators' settings mean in numbers: the same for the reference and every variant.
#pragma once
#include <cmath>
#include <optional>
#include <vector>

#include <ridge/image/operators.hpp>

namespace ridge::image {

std::string short_name(const Operation& operation);  // "gauss 2", no long lists of weights

std::size_t gauss_radius(const Gauss& gauss, Depth depth);
std::vector<double> gauss_weights(double sigma, std::size_t radius);  // sum 1
std::optional<int> quarter_turns(const Rotate& rotate);               // 0 to 3, counterclockwise, where it is exact

struct GradientWeights {
  std::vector<double> along, beside;  // the derivative, and the smoothing across it
};
GradientWeights gradient_weights(const Gradient& gradient);

inline constexpr double kPyramidWeights[5] = {1 / 16.0, 4 / 16.0, 6 / 16.0, 4 / 16.0, 1 / 16.0};
inline constexpr double kGrayWeights[3] = {0.299, 0.587, 0.114};

// A kernel as a sum of columns times rows, at most `most` of them; none where it takes more. What a singular value
// decomposition would tell, by eliminating the largest weight again and again: exact where the rank is small.
struct SeparableTerm {
  std::vector<double> down, across;
};
std::vector<SeparableTerm> separable_terms(const Convolve& kernel, std::size_t most);

// What one pixel of a resized line is made of.
struct ResizeTap {
  std::ptrdiff_t from = 0;
  std::vector<double> weights = {};  // of from, from + 1, ...; borders repeat
};
struct ResizeTaps {
  std::vector<ResizeTap> down = {}, across = {};  // one per row and per column of the result
};
ResizeTaps resize_taps(const Resize& resize, const Shape& in);
// The four weights of Keys' cubic, A = -0.75, for a place x beyond the second pixel.
void cubic_weights(double x, double weights[4]);

// Where a rotation by any angle samples its input, in source pixels: (x, y) of output pixel (column, row).
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
    // cv::warpAffine: the row's start and the column's distance in 1/1024 pixel, their sum to 1/32; whole for nearest.
    const double sum = std::nearbyint((r * line.down + line.origin) * 1024) + std::nearbyint(c * line.across * 1024);
    return nearest_ ? std::floor((sum + 512) / 1024) : std::floor((sum + 16) / 32) / 32;
  }
  Line x_, y_;
  Like like_;
  bool nearest_;
};

}  // namespace ridge::image
