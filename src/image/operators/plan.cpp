// Plans for chains of image operators: choice of a variant, execution, list of candidates.
#include <array>
#include <span>

#include "image/operators/work.hpp"

namespace ridge::image {

OperatorPlan::OperatorPlan(const Device& device, const OperatorProblem& problem, const planner::Options& options)
    : problem_(problem) {
  state_ = chosen_plan(device, work_of(device, problem), options);
}
void OperatorPlan::run(const Image& in, Image& out) const { run_images(std::span(&in, 1), out); }
void OperatorPlan::run(const Image& in, const Image& guide, Image& out) const {
  run_images(std::array<Image, 2>{in, guide}, out);
}
void OperatorPlan::enqueue(Queue& queue, const Image& in, const Image& out) const {
  enqueue_images(queue, std::span(&in, 1), out);
}
void OperatorPlan::enqueue(Queue& queue, const Image& in, const Image& guide, const Image& out) const {
  enqueue_images(queue, std::array<Image, 2>{in, guide}, out);
}
std::vector<planner::Candidate> candidates(const Device& device, const OperatorProblem& problem) {
  static_cast<void>(output_shape(problem));
  return planner::candidates_of(list_variants(device, problem));
}

}  // namespace ridge::image
