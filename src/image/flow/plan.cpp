// Public plan of the flow.
#include <array>
#include <span>

#include "image/flow/work.hpp"

namespace ridge::image {

FlowPlan::FlowPlan(const Device& device, const FlowProblem& problem, const planner::Options& options)
    : problem_(problem) {
  state_ = chosen_plan(device, work_of(device, problem), options);
}
void FlowPlan::run(const Image& first, const Image& second, Image& flow) const {
  run_images(std::array<Image, 2>{first, second}, flow);
}
void FlowPlan::enqueue(Queue& queue, const Image& first, const Image& second, const Image& flow) const {
  enqueue_images(queue, std::array<Image, 2>{first, second}, flow);
}
std::vector<planner::Candidate> candidates(const Device& device, const FlowProblem& problem) {
  check(problem);
  return planner::candidates_of(list_variants(device, problem));
}

}  // namespace ridge::image
