// Base class of the image plans. Runs are const and may be made by several threads at once.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/image/image.hpp>
#include <ridge/plan.hpp>

namespace ridge::image {

struct PlanState;  // src/image/plan.cpp

class Variant;

class AnyPlan {
 public:
  std::string explain() const;
  const std::vector<planner::Decision>& decisions() const;
  const std::vector<KernelSource>& kernels() const;  // devices: compiled kernels
  const Device& device() const;
  double flops() const;  // useful work per run; 0 for memory-bound workloads: operators, variance
  double bytes() const;  // each input read once, each output written once

 protected:
  AnyPlan() = default;
  // Host memory; other devices copy it in both directions. Complete on return.
  void run_images(std::span<const Image> in, Image& out) const;
  // Images of this plan's device; enqueued, not waited for.
  void enqueue_images(Queue& queue, std::span<const Image> in, const Image& out) const;

  planner::Exchangeable<PlanState> state_;

 private:
  friend std::shared_ptr<const Variant> variant_of(const AnyPlan& plan);
};

}  // namespace ridge::image
