// What a variant of the image workloads brings: the same face for flow (two frames in), variance and the operators (one
// image in, or two). Adding one: a file with a lister, and its line in registry.cpp.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include <ridge/image.hpp>
#include <ridge/plan.hpp>

#include "plan/choose.hpp"

namespace ridge::image {

// Built for one problem on one device: compiled, ready, unchanging. Callers have checked shapes, places and overlap.
class Variant {
 public:
  virtual ~Variant() = default;
  virtual void run(std::span<const Image> in, Image& out) const = 0;  // host memory; done when it returns
  virtual void enqueue(Queue& queue, std::span<const Image> in, const Image& out) const = 0;  // images of the device
};

using Entry = planner::Entry<Variant>;

// Appends what a file has for the problem, refusals included; of problems of flow, variance or operators.
template <class Problem>
using Lister = void(const Device& device, const Problem& problem, std::vector<Entry>& entries);

// Every variant for the device, in the registry's order, refusals included.
std::vector<Entry> list_variants(const Device& device, const FlowProblem& problem);
std::vector<Entry> list_variants(const Device& device, const VarianceProblem& problem);
std::vector<Entry> list_variants(const Device& device, const OperatorProblem& problem);

}  // namespace ridge::image
