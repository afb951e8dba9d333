// Image operators and chains of them.
//
//   OperatorProblem problem{.input = {.rows = 2160, .columns = 3840, .channels = 3},
//                           .chain = {Gauss{2}, Resize{.scale = 0.5}, Gray{}}};
//   auto plan = ridge::image::plan(ridge::best(), problem);
//   Image out(output_shape(problem));
//   plan.run(in, out);
//
// Every operator keeps the depth of what it is given unless it says otherwise; integers are rounded half to even and
// clamped. Filters look beyond the image as `border` says.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <ridge/image/plan.hpp>

namespace ridge::image {

// Whose conventions an operator follows where libraries differ. docs/image.md has the table.
enum class Like : std::uint8_t {
  ridge,
  opencv,  // OpenCV 4: cv::resize, cv::warpAffine, cv::Sobel, cv::Scharr, cv::bilateralFilter
};
const char* to_string(Like like);
Like like_of(const std::string& name);  // Error{invalid_argument} listing them

// out(r, c) = sum k(i, j) in(r + i - rows / 2, c + j - columns / 2): a correlation, as OpenCV and libvips have it.
struct Convolve {
  std::size_t rows = 0, columns = 0;
  std::vector<float> kernel = {};  // rows x columns
};
struct Separable {
  std::vector<float> down = {}, across = {};
};
struct Gauss {
  double sigma = 1;
  std::size_t radius = 0;  // 0: as cv::GaussianBlur, round(6 sigma + 1) / 2 for 8-bit images, round(8 sigma + 1) / 2
                           // for others; 1 at least
};
struct Box {  // the mean
  std::size_t rows = 3, columns = 3;
};
struct Median {  // of (2 radius + 1)^2 pixels, a channel at a time
  std::size_t radius = 1;
};
// Weights exp(-distance^2 / 2 sigma_space^2 - colour difference^2 / 2 sigma_color^2) of the pixels at most `radius`
// away. The colour difference is the Euclidean distance over all channels; Like::opencv: the sum of the channels'
// absolute differences.
struct Bilateral {
  std::size_t radius = 4;
  double sigma_space = 3, sigma_color = 25;
  Like like = Like::ridge;
};
struct CrossBilateral {  // colours come from the second input, of the same size: run(in, guide, out)
  std::size_t radius = 4;
  double sigma_space = 3, sigma_color = 25;
  Like like = Like::ridge;
};
enum class Interpolation : std::uint8_t { nearest, bilinear, bicubic, area };
const char* to_string(Interpolation interpolation);
Interpolation interpolation_of(const std::string& name);  // Error{invalid_argument} listing them
// An axis of m pixels becomes n. Output pixel i samples the input at (i + 0.5) step - 0.5 with step = m / n; borders
// repeat. Bicubic is Keys' with A = -0.75; only `area` antialiases, and is bilinear along an axis that grows. Nearest
// takes pixel floor(i m / n).
// Like::opencv: a given scale sets step = 1 / scale, whatever n was rounded to; nearest takes pixel floor(i step) in
// double; area along any growing axis makes both axes a blend of the pixels floor(i step) and its successor. A size
// that stays is a copy.
struct Resize {
  std::size_t rows = 0, columns = 0;  // of the result; 0: scale times the input, rounded half to even, 1 at least
  double scale = 0;
  Interpolation interpolation = Interpolation::bilinear;
  Like like = Like::ridge;
};
// Sums of everything above and to the left, one row and column more than the image, zeros first: u8 -> u32 (modulo
// 2^32), u16 and float -> f64.
struct Integral {};
struct Pyramid {  // Gauss (1 4 6 4 1) / 16 both ways, every second pixel, `levels` times
  std::size_t levels = 1;
};
enum class GradientKind : std::uint8_t { sobel, scharr, central };
// float, (d/dx, d/dy) of a single channel per pixel: Sobel / 8, Scharr / 32, (-1 0 1) / 2. Like::opencv: the sums
// themselves, not divided.
struct Gradient {
  GradientKind kind = GradientKind::sobel;
  Like like = Like::ridge;
};
struct Transpose {};
// Counterclockwise about the centre ((columns - 1) / 2, (rows - 1) / 2), the size kept. Multiples of 90 degrees are
// exact; odd ones exchange rows and columns. Like::opencv: source coordinates are rounded to 1/32 pixel, as
// cv::warpAffine does with the matrix of cv::getRotationMatrix2D about the same centre.
struct Rotate {
  double degrees = 90;
  Interpolation interpolation = Interpolation::bilinear;  // not area
  Like like = Like::ridge;
};
struct Gray {  // 0.299 red + 0.587 green + 0.114 blue
};

using Operation = std::variant<Convolve, Separable, Gauss, Box, Median, Bilateral, CrossBilateral, Resize, Integral,
                               Pyramid, Gradient, Transpose, Rotate, Gray>;
std::string to_string(const Operation& operation);  // as parse_chain() reads it: "gauss 2"

// "gauss 2 | resize 0.5 | gray". Error{invalid_argument} that names the word at fault and shows the operator's own
// form. `like` is that of every operator that has one; a last word "opencv" sets it for one operator.
std::vector<Operation> parse_chain(const std::string& text, Like like = Like::ridge);

struct OperatorProblem {
  Shape input = {};
  std::vector<Operation> chain = {};
  // Unset: what OpenCV and Pillow have, constant for rotate and replicate for median; reflect_101 for other filters.
  std::optional<Border> border = {};
  double constant = 0;      // beyond the image, for Border::constant
  std::size_t threads = 0;  // host: 0 = all
};
Shape output_shape(const Operation& operation, const Shape& input);  // Error{invalid_argument} where it cannot be
Shape output_shape(const OperatorProblem& problem);
std::size_t inputs(const OperatorProblem& problem);                          // 2 with a cross-bilateral, else 1
Border border_for(const Operation& operation, std::optional<Border> given);  // `given`, or the operator's default

class OperatorPlan : public AnyPlan {
 public:
  OperatorPlan(const Device& device, const OperatorProblem& problem, const planner::Options& options = {});
  void run(const Image& in, Image& out) const;
  void run(const Image& in, const Image& guide, Image& out) const;  // with a cross-bilateral
  void enqueue(Queue& queue, const Image& in, const Image& out) const;
  void enqueue(Queue& queue, const Image& in, const Image& guide, const Image& out) const;
  const OperatorProblem& problem() const { return problem_; }

 private:
  OperatorProblem problem_;
};
inline OperatorPlan plan(const Device& device, const OperatorProblem& problem, const planner::Options& options = {}) {
  return OperatorPlan(device, problem, options);
}
std::vector<planner::Candidate> candidates(const Device& device, const OperatorProblem& problem);

}  // namespace ridge::image
