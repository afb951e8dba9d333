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
#include <string>
#include <variant>
#include <vector>

#include <ridge/image/plan.hpp>

namespace ridge::image {

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
  std::size_t radius = 0;  // 0: ceil(3 sigma) for 8-bit images, ceil(4 sigma) for others
};
struct Box {  // the mean
  std::size_t rows = 3, columns = 3;
};
struct Median {  // of (2 radius + 1)^2 pixels, a channel at a time
  std::size_t radius = 1;
};
// Weights exp(-distance^2 / 2 sigma_space^2 - colour difference^2 / 2 sigma_color^2) of the pixels at most `radius`
// away, as OpenCV has it; the colour difference is over all channels.
struct Bilateral {
  std::size_t radius = 4;
  double sigma_space = 3, sigma_color = 25;
};
struct CrossBilateral {  // colours come from the second input, of the same size: run(in, guide, out)
  std::size_t radius = 4;
  double sigma_space = 3, sigma_color = 25;
};
enum class Interpolation : std::uint8_t { nearest, bilinear, bicubic, area };
const char* to_string(Interpolation interpolation);
Interpolation interpolation_of(const std::string& name);  // Error{invalid_argument} listing them
// Pixel centres at halves; bicubic is Keys' with A = -0.75, no antialiasing but in `area`. Borders repeat. Nearest:
// pixel i of n is pixel floor(i m / n) of m.
struct Resize {
  std::size_t rows = 0, columns = 0;  // of the result; 0: by the scale, rounded
  double scale = 0;
  Interpolation interpolation = Interpolation::bilinear;
};
// Sums of everything above and to the left, one row and column more than the image, zeros first: u8 -> u32 (modulo
// 2^32), u16 and float -> f64.
struct Integral {};
struct Pyramid {  // Gauss (1 4 6 4 1) / 16 both ways, every second pixel, `levels` times
  std::size_t levels = 1;
};
enum class GradientKind : std::uint8_t { sobel, scharr, central };
struct Gradient {  // float, (d/dx, d/dy) of a single channel; sobel and scharr scaled to a derivative
  GradientKind kind = GradientKind::sobel;
};
struct Transpose {};
struct Rotate {  // counterclockwise about the centre, the size kept; multiples of 90 degrees turn the size and are
                 // exact
  double degrees = 90;
  Interpolation interpolation = Interpolation::bilinear;  // not area
};
struct Gray {  // 0.299 red + 0.587 green + 0.114 blue
};

using Operation = std::variant<Convolve, Separable, Gauss, Box, Median, Bilateral, CrossBilateral, Resize, Integral,
                               Pyramid, Gradient, Transpose, Rotate, Gray>;
std::string to_string(const Operation& operation);  // as parse_chain() reads it: "gauss 2"

// "gauss 2 | resize 0.5 | gray". Error{invalid_argument} that names the word at fault and shows the operator's own
// form.
std::vector<Operation> parse_chain(const std::string& text);

struct OperatorProblem {
  Shape input = {};
  std::vector<Operation> chain = {};
  Border border = Border::reflect_101;
  double constant = 0;      // beyond the image, for Border::constant
  std::size_t threads = 0;  // host: 0 = all
};
Shape output_shape(const Operation& operation, const Shape& input);  // Error{invalid_argument} where it cannot be
Shape output_shape(const OperatorProblem& problem);
std::size_t inputs(const OperatorProblem& problem);  // 2 with a cross-bilateral, else 1

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
