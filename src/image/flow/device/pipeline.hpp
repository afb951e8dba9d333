// The flow on a device, from two frames to the flow in device memory without host synchronization: the kernels of one
// design, the pyramid of a frame, and the workspace of a pair.
#pragma once
#include <functional>
#include <vector>

#include "image/flow/device/design.hpp"

namespace ridge::image::on_device {

// Called after a stage's last kernel is enqueued, with its name: "pyramid", "select", "search blocks", "search
// singles", "fill", "filter", "finish". All but "pyramid" and "finish" occur once per level.
using StageMark = std::function<void(const char* stage)>;

class FlowPipeline {
 public:
  FlowPipeline(const Device& device, const FlowProblem& problem, const FlowDesign& design);

  struct Level {
    int rows, columns, pitch;  // pitch: words per row of the padded picture
    std::uint64_t picture;     // index of its first word in a pyramid
    int down, across;          // indices of its vertical and horizontal taps
    std::uint64_t cells() const { return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns); }
    std::uint64_t half_cells() const {
      return static_cast<std::uint64_t>((rows + 1) / 2) * static_cast<std::uint64_t>((columns + 1) / 2);
    }
  };
  struct Workspace {
    Buffer searched, cells, regular, blocks, singles, counts;
    std::vector<Buffer> flow, smoothed, level;  // one per level of the pyramid, the finest first
  };
  static std::vector<Level> levels_of(const FlowProblem& problem);
  static std::uint64_t pyramid_bytes(const FlowProblem& problem);
  static std::uint64_t workspace_bytes(const FlowProblem& problem, const FlowDesign& design);
  static std::uint64_t largest_buffer(const FlowProblem& problem, const FlowDesign& design);

  Buffer pyramid() const;  // allocates the pyramid of one frame
  Workspace workspace() const;
  void build(Queue& queue, const Image& frame, const Buffer& pyramid) const;
  void flow(Queue& queue, const Buffer& first, const Buffer& second, const Workspace& work, const Image& out,
            const StageMark& mark = {}) const;

  const Device& device() const { return device_; }
  const FlowProblem& problem() const { return problem_; }
  const std::vector<Level>& levels() const { return levels_; }

 private:
  void select(Queue& queue, std::size_t level, const Workspace& work) const;
  void search(Queue& queue, std::size_t level, const Buffer& first, const Buffer& second, const Workspace& work,
              const StageMark& mark) const;
  void fill(Queue& queue, std::size_t level, const Buffer& first, const Buffer& second, const Workspace& work) const;
  void smooth(Queue& queue, std::size_t level, const Workspace& work) const;
  bool scan_order() const { return problem_.parameters.selection == Selection::scan_order; }
  bool top(std::size_t level) const { return level + 1 == levels_.size(); }
  const FilterShape& filter(std::size_t level) const { return level == 0 ? last_ : between_; }

  Device device_;
  FlowProblem problem_;
  FlowDesign design_;
  FilterShape between_, last_;
  std::vector<Level> levels_;
  Buffer taps_;
  Kernel pack_, halve_, regular_, grow_, choose_, fill_, finish_, search_single_, search_block_, smooth_between_,
      smooth_last_, upscale_start_, fill_in_order_;
};

}  // namespace ridge::image::on_device
