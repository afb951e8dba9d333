// Image operators (filters, resizing, rotation, gradients) and chains of them.
//
//   OperatorProblem problem{.input = {.rows = 2160, .columns = 3840, .channels = 3},
//                           .chain = {Gauss{2}, Resize{.scale = 0.5}, Gray{}}};
//   auto plan = ridge::image::plan(ridge::best(), problem);
//   Image out(output_shape(problem));
//   plan.run(in, out);
//
// Operators keep the input depth unless noted otherwise; integers are rounded half to even and clamped. Filters extend
// the image as `border` specifies.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <ridge/image/plan.hpp>

namespace ridge::image {

// Library whose conventions an operator follows where libraries differ; table in docs/image.md.
enum class Like : std::uint8_t {
  ridge,
  opencv,  // OpenCV 4: cv::resize, cv::warpAffine, cv::Sobel, cv::Scharr, cv::bilateralFilter
};
const char* to_string(Like like);
Like like_of(const std::string& name);  // Error{invalid_argument} listing the names

// out(r, c) = sum k(i, j) in(r + i - rows / 2, c + j - columns / 2): a correlation, as in OpenCV and libvips.
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
struct Median {  // of (2 radius + 1)^2 pixels, per channel
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
struct CrossBilateral {  // colours are taken from the second input, of the same size: run(in, guide, out)
  std::size_t radius = 4;
  double sigma_space = 3, sigma_color = 25;
  Like like = Like::ridge;
};
enum class Interpolation : std::uint8_t { nearest, bilinear, bicubic, area };
const char* to_string(Interpolation interpolation);
Interpolation interpolation_of(const std::string& name);  // Error{invalid_argument} listing the names
// Resizes an axis of m pixels to n. Output pixel i samples the input at (i + 0.5) step - 0.5 with step = m / n; border
// pixels are replicated. Bicubic is Keys' kernel with A = -0.75. Only `area` antialiases; along an enlarged axis it is
// bilinear. Nearest uses pixel floor(i m / n). Like::opencv: a given scale sets step = 1 / scale, regardless of how n
// was rounded; nearest uses pixel floor(i step) in double; if any axis is enlarged, area blends pixel floor(i step) and
// its successor along both axes. An unchanged size is a copy.
struct Resize {
  std::size_t rows = 0, columns = 0;  // of the result; 0: scale times the input, rounded half to even, at least 1
  double scale = 0;
  Interpolation interpolation = Interpolation::bilinear;
  Like like = Like::ridge;
};
// Summed-area table with an extra zero row and column at the top and left: u8 -> u32 (modulo 2^32), u16 and float ->
// f64.
struct Integral {};
struct Pyramid {  // per level: Gaussian (1 4 6 4 1) / 16 along both axes, then every second pixel
  std::size_t levels = 1;
};
enum class GradientKind : std::uint8_t { sobel, scharr, central };
// Output float (d/dx, d/dy) of a single-channel image: Sobel / 8, Scharr / 32, (-1 0 1) / 2. Like::opencv: the sums
// without division.
struct Gradient {
  GradientKind kind = GradientKind::sobel;
  Like like = Like::ridge;
};
struct Transpose {};
// Rotates counterclockwise about the centre ((columns - 1) / 2, (rows - 1) / 2) and keeps the size. Multiples of 90
// degrees are exact; odd multiples exchange rows and columns. Like::opencv: source coordinates are rounded to 1/32
// pixel, as cv::warpAffine does with the matrix of cv::getRotationMatrix2D about the same centre.
struct Rotate {
  double degrees = 90;
  Interpolation interpolation = Interpolation::bilinear;  // not area
  Like like = Like::ridge;
};
struct Gray {  // red, green and blue with these weights
  static constexpr double kWeights[3] = {0.299, 0.587, 0.114};
};
struct Invert {};  // the largest value of the depth minus the value; 1 - value for floats

// The list of operators. Each has a folder in src/image/operators/, which defines its syntax, result and variants.
using Operation = std::variant<Convolve, Separable, Gauss, Box, Median, Bilateral, CrossBilateral, Resize, Integral,
                               Pyramid, Gradient, Transpose, Rotate, Gray, Invert>;
std::string to_string(const Operation& operation);  // in the syntax of parse_chain(): "gauss 2"

// Parses "gauss 2 | resize 0.5 | gray". Error{invalid_argument} names the wrong word and shows the operator's syntax.
// `like` applies to every operator that has this parameter; a final word "opencv" sets it for one operator.
std::vector<Operation> parse_chain(const std::string& text, Like like = Like::ridge);

// Description of an operator, for tools that list or draw operators.
struct OperatorParameter {
  enum class Kind : std::uint8_t { number, whole, word, text };  // text: any other form, described by `help`
  std::string name = {};                                         // as in the syntax: "SIGMA"
  std::string help = {};
  Kind kind = Kind::number;
  double least = 0, most = 0;  // accepted whole numbers; of other numbers, the range from which `ridge check` draws
  std::vector<std::string> words = {};  // choices of a word
  bool optional = false;
};
struct OperatorInfo {
  std::string name = {}, syntax = {}, help = {};  // "gauss", "gauss SIGMA [RADIUS]", one sentence
  std::vector<OperatorParameter> parameters = {};
  Border border = Border::reflect_101;     // if the problem gives none
  std::vector<std::string> examples = {};  // typical calls, in the syntax of parse_chain()
};
const std::vector<OperatorInfo>& operators();  // in the order of Operation

struct OperatorProblem {
  Shape input = {};
  std::vector<Operation> chain = {};
  // Unset: as OpenCV and Pillow: constant for rotate, replicate for median, reflect_101 for other filters.
  std::optional<Border> border = {};
  double constant = 0;      // value beyond the image, for Border::constant
  std::size_t threads = 0;  // host: 0 = all
};
Shape output_shape(const Operation& operation, const Shape& input);  // Error{invalid_argument} for invalid parameters
Shape output_shape(const OperatorProblem& problem);
std::size_t inputs(const OperatorProblem& problem);                          // 2 with a cross-bilateral filter, else 1
Border border_for(const Operation& operation, std::optional<Border> given);  // `given`, or the operator's default
// Result of the chain by plain loops in double precision, before rounding to the depth: row by row, channels
// interleaved. Slow; for comparisons.
std::vector<double> reference_values(const OperatorProblem& problem, const Image& in, const Image& guide = {});

class AdjointPlan;  // <ridge/image/adjoint.hpp>

class OperatorPlan : public AnyPlan {
 public:
  OperatorPlan(const Device& device, const OperatorProblem& problem, const planner::Options& options = {});
  void run(const Image& in, Image& out) const;
  void run(const Image& in, const Image& guide, Image& out) const;  // with a cross-bilateral filter
  void enqueue(Queue& queue, const Image& in, const Image& out) const;
  void enqueue(Queue& queue, const Image& in, const Image& guide, const Image& out) const;
  AdjointPlan adjoint() const;  // of a chain of linear operators on float images, on the host
  const OperatorProblem& problem() const { return problem_; }

 private:
  OperatorProblem problem_;
};
inline OperatorPlan plan(const Device& device, const OperatorProblem& problem, const planner::Options& options = {}) {
  return OperatorPlan(device, problem, options);
}
std::vector<planner::Candidate> candidates(const Device& device, const OperatorProblem& problem);

}  // namespace ridge::image
