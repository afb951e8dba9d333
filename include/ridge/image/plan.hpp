// What the plans of the image workloads share. Runs are const and may come from several threads at once.
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
  const std::vector<KernelSource>& kernels() const;  // devices: what was compiled
  const Device& device() const;
  double flops() const;  // useful work of a run; 0 where bytes are what counts: operators, variance
  double bytes() const;  // each input read once, each output written once

 protected:
  AnyPlan() = default;
  // Host memory on any device (a device copies there and back); done when it returns.
  void run_images(std::span<const Image> in, Image& out) const;
  // Images of this plan's device; enqueued, not waited for.
  void enqueue_images(Queue& queue, std::span<const Image> in, const Image& out) const;

  std::shared_ptr<const PlanState> state_;

 private:
  friend std::shared_ptr<const Variant> variant_of(const AnyPlan& plan);
};

}  // namespace ridge::image
