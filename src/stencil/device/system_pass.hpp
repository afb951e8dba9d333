// A pass that consists of a march through the interior and the frame around it.
#pragma once
#include <optional>
#include <vector>

#include "device/tile_map.hpp"
#include "stencil/device/pass.hpp"
#include "stencil/device/tiles/frame_kernel.hpp"
#include "stencil/device/tiles/frame_tiles.hpp"
#include "stencil/time_levels.hpp"

namespace ridge::stencil {

struct MarchStep {
  LaunchPass::Step step;
  std::optional<ridge::detail::TileMapShape> tiles{};  // the kernel's last parameter is a tensor map of its input
};

class FramedPass : public Pass {
 public:
  // No frame if the interior is all that changes.
  FramedPass(const Device& device, const FrameKernel& frame, std::size_t depth, bool framed, MarchStep interior);
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients) const override;
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients,
               const std::vector<Buffer>& scratch) const override;
  std::size_t scratch() const override;

 private:
  FrameKernel frame_;
  std::size_t depth_;
  MarchStep interior_;
  std::optional<Kernel> kernel_;           // one launch per step
  std::optional<LaunchPass::Step> tiles_;  // all steps in one launch
};

// The frame kernel for this number of steps.
KernelSource frame_source(const Device& device, const FrameKernel& frame, std::size_t depth);

// Steps in which the new time level overwrites the older one, after which the two levels exchange roles. All sides must
// be fixed. open() copies the fixed cells of the newer level to the older one; close() restores those of the older one.
class InPlacePass : public Pass {
 public:
  InPlacePass(const Device& device, const FrameKernel& frame, std::vector<TimeLevels::Pair> pairs,
              std::vector<MarchStep> steps);
  bool in_place() const override { return true; }
  void open(Queue& queue, const Buffer& grid, const Buffer& other) const override;
  void close(Queue& queue, const Buffer& grid, const Buffer& other) const override;
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients) const override;
  void enqueue_single(Queue& queue, const Buffer& grid, const Buffer& coefficients, bool exchanged) const override;
  std::vector<std::pair<std::size_t, std::size_t>> exchanges() const override;

 private:
  FrameKernel frame_;
  std::vector<TimeLevels::Pair> pairs_;
  std::vector<MarchStep> steps_;
  Kernel copy_;
};

// False if a pass changes its interior only: a single step with all sides fixed.
bool needs_frame(const Layout& layout, std::size_t depth);

}  // namespace ridge::stencil
