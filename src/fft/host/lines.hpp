// The line of one length that the planner chose, shared by every plan of the process that needs it.
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

// Decides through wisdom, the model or measurement, and remembers the answer for the life of the process; the kernel
// itself lives as long as somebody holds it.
template <class T>
ChosenLine<T> choose_line(const Device& device, std::size_t n, const planner::Options& options);

template <class T>
std::vector<planner::Candidate> line_candidates(std::size_t n);

}  // namespace ridge::fft
