// Local variance in a window around every pixel, by five floating-point methods and one exact method.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/image/plan.hpp>

namespace ridge::image {

enum class VarianceMethod : std::uint8_t {
  best,        // exact for integers, three_wise for float
  two_pass,    // the mean, then the squared differences from it
  koenig,      // E[x^2] - E[x]^2: one pass, catastrophic cancellation for a large mean
  online,      // Welford's update, pixel by pixel
  pairwise,    // Chan's pairwise combination, separable
  three_wise,  // combination of thirds, separable
  exact,       // 8-bit and 16-bit: running integer sums, rounded once at the end
};
const char* to_string(VarianceMethod method);             // "two-pass"
VarianceMethod variance_method(const std::string& name);  // Error{invalid_argument} listing the names

struct VarianceProblem {
  std::size_t rows = 0, columns = 0;
  Depth depth = Depth::u8;  // of the image, one channel: u8, u16, f32; the output is float
  VarianceMethod method = VarianceMethod::best;
  std::size_t window_rows = 27, window_columns = 27;  // the pixel is at window / 2, rounded down
  Border border = Border::reflect_101;
  double constant = 0;      // value beyond the image, for Border::constant
  std::size_t threads = 0;  // host: 0 = all
};
void check(const VarianceProblem& problem);  // Error{invalid_argument} with the reason

class VariancePlan : public AnyPlan {
 public:
  VariancePlan(const Device& device, const VarianceProblem& problem, const planner::Options& options = {});
  void run(const Image& in, Image& variance) const;  // one channel of the problem's depth in, one of float out
  void enqueue(Queue& queue, const Image& in, const Image& variance) const;
  const VarianceProblem& problem() const { return problem_; }

 private:
  VarianceProblem problem_;
};
inline VariancePlan plan(const Device& device, const VarianceProblem& problem, const planner::Options& options = {}) {
  return VariancePlan(device, problem, options);
}
std::vector<planner::Candidate> candidates(const Device& device, const VarianceProblem& problem);

}  // namespace ridge::image
