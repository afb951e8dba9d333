// The flow on a device, from two frames in its memory to the flow in its memory, without the host in between: kernels
// of one design, the pyramid of a frame, and what a pair needs besides.
#pragma once
#include <functional>
#include <vector>

#include "image/flow/device/design.hpp"

namespace ridge::image::on_device {

// Called when a stage's last kernel is enqueued: "pyramid", "select", "search blocks", "search singles", "fill",
// "filter", "finish"; the middle ones come once a level.
using StageMark = std::function<void(const char* stage)>;

class FlowPipeline {
 public:
  FlowPipeline(const Device& device, const FlowProblem& problem, const FlowDesign& design);

  struct Level {
    int rows, columns, pitch;  // words of a row of the padded picture
    std::uint64_t picture;     // its first word in a pyramid
    int down, across;          // its taps
    std::uint64_t cells() const { return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns); }
    std::uint64_t half_cells() const {
      return static_cast<std::uint64_t>((rows + 1) / 2) * static_cast<std::uint64_t>((columns + 1) / 2);
    }
  };
  struct Workspace {
    Buffer searched, cells, regular, blocks, singles, counts;
    std::vector<Buffer> flow, smoothed, level;  // one a level of the pyramid, the finest first
  };
  static std::vector<Level> levels_of(const FlowProblem& problem);
  static std::uint64_t pyramid_bytes(const FlowProblem& problem);
  static std::uint64_t workspace_bytes(const FlowProblem& problem, const FlowDesign& design);
  static std::uint64_t largest_buffer(const FlowProblem& problem, const FlowDesign& design);

  Buffer pyramid() const;  // one frame's
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
      smooth_last_, spread_, fill_in_order_;
};

}  // namespace ridge::image::on_device
