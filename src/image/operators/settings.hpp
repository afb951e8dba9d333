// What the operators' settings mean in numbers: the same for the reference and every variant.
#pragma once
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
GradientWeights gradient_weights(GradientKind kind);

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
std::vector<ResizeTap> resize_taps(std::size_t from, std::size_t to, Interpolation interpolation);
// The four weights of Keys' cubic, A = -0.75, for a place x beyond the second pixel.
void cubic_weights(double x, double weights[4]);

}  // namespace ridge::image
