// Numeric meaning of the operators' parameters (radii, weights, taps), shared by the reference and all variants.
#pragma once
#include <cmath>
#include <optional>
#include <vector>

#include <ridge/image/operators.hpp>

namespace ridge::image {

std::string short_name(const Operation& operation);  // "gauss 2", without long lists of weights

std::size_t gauss_radius(const Gauss& gauss, Depth depth);
std::vector<double> gauss_weights(double sigma, std::size_t radius);  // their sum is 1
// 0 to 3 counterclockwise; empty if not a multiple of 90 degrees.
std::optional<int> quarter_turns(const Rotate& rotate);

struct GradientWeights {
  std::vector<double> along, beside;  // weights of the derivative, and of the smoothing perpendicular to it
};
GradientWeights gradient_weights(const Gradient& gradient);

inline constexpr double kPyramidWeights[5] = {1 / 16.0, 4 / 16.0, 6 / 16.0, 4 / 16.0, 1 / 16.0};
inline constexpr double kGrayWeights[3] = {0.299, 0.587, 0.114};

// Decomposes a kernel into at most `most` products of a column and a row; empty if more are needed. Eliminates the
// largest remaining weight repeatedly, which finds the rank without a singular value decomposition and is exact for
// small ranks.
struct SeparableTerm {
  std::vector<double> down, across;
};
std::vector<SeparableTerm> separable_terms(const Convolve& kernel, std::size_t most);

// Source pixels of one output pixel along an axis.
struct ResizeTap {
  std::ptrdiff_t from = 0;
  std::vector<double> weights = {};  // of pixels from, from + 1, ...; border pixels are replicated
};
struct ResizeTaps {
  std::vector<ResizeTap> down = {}, across = {};  // one per output row, one per output column
};
ResizeTaps resize_taps(const Resize& resize, const Shape& in);
// Four weights of Keys' cubic convolution (A = -0.75) for a position x beyond the second pixel.
void cubic_weights(double x, double weights[4]);

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
