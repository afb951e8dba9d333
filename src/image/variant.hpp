// Interface of the variants of all image workloads: flow (two frames in), variance and operators (one image in, or
// two). To add one, write a file with a lister and add its line to registry.cpp.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include <ridge/image.hpp>
#include <ridge/plan.hpp>

#include "plan/choose.hpp"
#include "plan/lister.hpp"

namespace ridge::image {

// Built for one problem on one device: compiled and immutable. Callers have checked shapes, locations and overlap.
class Variant {
 public:
  virtual ~Variant() = default;
  virtual void run(std::span<const Image> in, Image& out) const = 0;  // host memory; returns when done
  virtual void enqueue(Queue& queue, std::span<const Image> in, const Image& out) const = 0;  // images on the device
};

using Entry = planner::Entry<Variant>;

// Appends a file's variants for a problem of flow, variance or operators, including refused ones.
template <class Problem>
using Lister = planner::Lister<Entry, Problem>;

// All variants for the device, in the registry's order, including refused ones.
std::vector<Entry> list_variants(const Device& device, const FlowProblem& problem);
std::vector<Entry> list_variants(const Device& device, const VarianceProblem& problem);
std::vector<Entry> list_variants(const Device& device, const OperatorProblem& problem);

// Base of the host variants: a host buffer is accessed like any memory.

class HostVariant : public Variant {
 public:
  void enqueue(Queue& queue, std::span<const Image> in, const Image& out) const final;
};

// View of an image whose host buffer is plain memory.
Image in_memory(const Image& image);

}  // namespace ridge::image
