// Adjoints of chains of linear image operators, for gradients with respect to the input image.
#pragma once
#include <memory>

#include <ridge/image/operators.hpp>

namespace ridge::image {

class AdjointChain;

// The transpose of the linear map from input to output of a chain of float images: convolve, separable, gauss, box,
// resize, pyramid, gradient, transpose and gray. A constant border counts as 0. Runs on the host, in double precision
// between the images; const, for many threads at once.
class AdjointPlan {
 public:
  // Error{invalid_argument} for operators that are not linear (median, bilateral), for rotate and integral, and for
  // integer images, which round.
  explicit AdjointPlan(const OperatorProblem& problem);
  // `g` has the output's shape, `out` the input's.
  void run(const Image& g, Image& out) const;

 private:
  std::shared_ptr<const AdjointChain> chain_;
};

}  // namespace ridge::image
