// A pass of a march through the interior and the frame around it.
#pragma once
#include <optional>
#include <vector>

#include "device/tile_map.hpp"
#include "stencil/device/frame_kernel.hpp"
#include "stencil/device/frame_tiles.hpp"
#include "stencil/device/pass.hpp"
#include "stencil/time_levels.hpp"

namespace ridge::stencil {

struct MarchStep {
  LaunchPass::Step step;
  std::optional<ridge::detail::TileMapShape> tiles{};  // the kernel's last parameter is a map of what it reads
};

class FramedPass : public Pass {
 public:
  // Without a frame where the interior is all that changes.
  FramedPass(const Device& device, const FrameKernel& frame, std::size_t depth, bool framed, MarchStep interior);
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients) const override;
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients,
               const std::vector<Buffer>& scratch) const override;
  std::size_t scratch() const override;

 private:
  FrameKernel frame_;
  std::size_t depth_;
  MarchStep interior_;
  std::optional<Kernel> kernel_;           // a launch a step
  std::optional<LaunchPass::Step> tiles_;  // all of them in one
};

// The kernel of a frame of so many steps.
KernelSource frame_source(const Device& device, const FrameKernel& frame, std::size_t depth);

// Steps that write new levels over the older ones and change their places, back where they were after the last of them.
// All sides are fixed. While levels change places the older ones have the newer ones' fixed cells.
class InPlacePass : public Pass {
 public:
  InPlacePass(const Device& device, const FrameKernel& frame, std::vector<TimeLevels::Pair> pairs,
              std::vector<MarchStep> steps);
  bool in_place() const override { return true; }
  void open(Queue& queue, const Buffer& grid, const Buffer& other) const override;
  void close(Queue& queue, const Buffer& grid, const Buffer& other) const override;
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients) const override;

 private:
  FrameKernel frame_;
  std::vector<TimeLevels::Pair> pairs_;
  std::vector<MarchStep> steps_;
  Kernel copy_;
};

// Whether sides that are fixed all around leave a single step nothing but its interior.
bool needs_frame(const Layout& layout, std::size_t depth);

}  // namespace ridge::stencil
