// A pass that consists of a march through the interior and the frame around it.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/tile_map.hpp"
#include "stencil/device/pass.hpp"
#include "stencil/device/system_planes/system_planes_kernel.hpp"
#include "stencil/device/system_rows/system_rows_kernel.hpp"
#include "stencil/device/tiles/frame_kernel.hpp"
#include "stencil/device/tiles/frame_tiles.hpp"
#include "stencil/time_levels.hpp"
#include "stencil/variant.hpp"

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
  // Makes a step that reads the newer and the older level and writes the new one from and to these fields.
  using MakeStep = std::function<MarchStep(std::size_t newer, std::size_t older, std::size_t target)>;
  InPlacePass(const Device& device, const FrameKernel& frame, std::vector<TimeLevels::Pair> pairs,
              std::vector<MarchStep> steps, MakeStep make);
  bool in_place() const override { return true; }
  void open(Queue& queue, const Buffer& grid, const Buffer& other) const override;
  void close(Queue& queue, const Buffer& grid, const Buffer& other) const override;
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients) const override;
  void enqueue_single(Queue& queue, const Buffer& grid, const Buffer& coefficients, bool exchanged) const override;
  bool has_levels() const override { return pairs_.size() == 1; }
  void enqueue_level(Queue& queue, const Buffer& grid, const Buffer& coefficients, std::size_t newer, std::size_t older,
                     std::size_t target) const override;
  std::vector<std::pair<std::size_t, std::size_t>> exchanges() const override;

 private:
  FrameKernel frame_;
  std::vector<TimeLevels::Pair> pairs_;
  std::vector<MarchStep> steps_;
  MakeStep make_;
  Kernel copy_;
};

// False if a pass changes its interior only: a single step with all sides fixed.
bool needs_frame(const Layout& layout, std::size_t depth);

// 3D systems of fields, computed plane by plane.
// Reason why the method does not support the grid or the device; empty if it does.
template <class T>
std::string system_planes_refusal(const Device& device, const Update<T>& update, const Layout& layout,
                                  const SystemPlanesOptions& options);
// Builds the variant. If all sides are fixed, it works in place: pairs of time levels exchange roles in one buffer.
template <class T>
std::shared_ptr<const Variant<T>> system_planes_variant(const Device& device, const Update<T>& update,
                                                        const Layout& layout, const SystemPlanesOptions& options);

// Systems of fields in two dimensions, marched through in registers.
// Reason why the grid or the device cannot use the method; empty if it can.
template <class T>
std::string system_rows_refusal(const Device& device, const Update<T>& update, const Layout& layout,
                                const SystemRowsOptions& options);
template <class T>
std::shared_ptr<const Variant<T>> system_rows_variant(const Device& device, const Update<T>& update,
                                                      const Layout& layout, const SystemRowsOptions& options);

}  // namespace ridge::stencil
