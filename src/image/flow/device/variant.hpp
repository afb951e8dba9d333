// The flow as a planner's variant: one pair at a time, in memory allocated when it is built.
#pragma once
#include <mutex>

#include "image/flow/device/pipeline.hpp"
#include "image/variant.hpp"

namespace ridge::image::on_device {

class FlowVariant final : public Variant {
 public:
  FlowVariant(const Device& device, const FlowProblem& problem, const FlowDesign& design);
  void run(std::span<const Image> in, Image& out) const override;
  void enqueue(Queue& queue, std::span<const Image> in, const Image& out) const override;

  // Enqueues one pair and calls `mark` after every stage, to time them.
  void enqueue(Queue& queue, std::span<const Image> in, const Image& out, const StageMark& mark) const;
  const FlowPipeline& pipeline() const { return pipeline_; }
  const FlowPipeline::Workspace& workspace() const { return work_; }

 private:
  FlowPipeline pipeline_;
  Buffer first_, second_;
  FlowPipeline::Workspace work_;
  Queue own_queue_;
  Image frames_[2], flow_;  // used by run()
  // Calls from several threads use the workspace one after another; another queue waits for the last use.
  mutable std::mutex enqueuing_, running_;
  mutable Event last_;
  mutable std::uintptr_t last_queue_ = 0;
};

}  // namespace ridge::image::on_device
