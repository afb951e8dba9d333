// Public plan of the variance.
#include <array>
#include <span>

#include "image/variance/work.hpp"

namespace ridge::image {

VariancePlan::VariancePlan(const Device& device, const VarianceProblem& problem, const planner::Options& options)
    : problem_(problem) {
  state_ = chosen_plan(device, work_of(device, problem), options);
}
void VariancePlan::run(const Image& in, Image& variance) const { run_images(std::span(&in, 1), variance); }
void VariancePlan::enqueue(Queue& queue, const Image& in, const Image& variance) const {
  enqueue_images(queue, std::span(&in, 1), variance);
}
std::vector<planner::Candidate> candidates(const Device& device, const VarianceProblem& problem) {
  check(problem);
  return planner::candidates_of(list_variants(device, problem));
}

}  // namespace ridge::image
