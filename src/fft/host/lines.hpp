// The kernel for lines of one length that the planner chose, shared by all plans of the process that need it.
#pragma once
#include <cstddef>
#include <memory>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

#include "fft/variant.hpp"
#include "plan/shared_decisions.hpp"

namespace ridge::fft {

template <class T>
struct ChosenLine {
  std::shared_ptr<const LineKernel<T>> kernel;
  planner::SharedDecision decision;
};

// Decides by wisdom, the model or measurement, and remembers the decision for the life of the process; the kernel lives
// as long as it is referenced.
template <class T>
ChosenLine<T> choose_line(const Device& device, std::size_t n, const planner::Options& options);

template <class T>
std::vector<planner::Candidate> line_candidates(std::size_t n);

}  // namespace ridge::fft
