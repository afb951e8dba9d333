// Common part of device variants: a pass advances a grid by a number of steps from one buffer to another; the variant
// keeps the grid on the device and enqueues passes, so that steps need no round trip to the host.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <ridge/device.hpp>

#include "stencil/device/layout.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {

// A compiled pass. `in` and `out` hold all fields; fixed cells are valid in both and are never written.
class Pass {
 public:
  virtual ~Pass() = default;
  virtual void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients) const = 0;
  // A pass that writes the new grid over the old one; `out` is not used. It is called before the first pass of a run
  // and after the last one.
  virtual bool in_place() const { return false; }
  virtual void open(Queue& /*queue*/, const Buffer& /*grid*/, const Buffer& /*other*/) const {}
  virtual void close(Queue& /*queue*/, const Buffer& /*grid*/, const Buffer& /*other*/) const {}
  // One step of a pass in place, after open(): the fields of two time levels are exchanged, or back in their places.
  virtual void enqueue_single(Queue& /*queue*/, const Buffer& /*grid*/, const Buffer& /*coefficients*/,
                              bool /*exchanged*/) const {}
  // One step of an update of two time levels in a grid with more of them, from fields `newer` and `older` to `target`.
  virtual bool has_levels() const { return false; }
  virtual void enqueue_level(Queue& /*queue*/, const Buffer& /*grid*/, const Buffer& /*coefficients*/,
                             std::size_t /*newer*/, std::size_t /*older*/, std::size_t /*target*/) const {}
  virtual std::vector<std::pair<std::size_t, std::size_t>> exchanges() const { return {}; }  // pairs of fields
  // A pass of any number of steps: returns true if the new grid is in `out`, false if it is in `in`. One step leaves
  // `in` unchanged.
  virtual bool any_steps() const { return false; }
  virtual bool enqueue_steps(Queue& /*queue*/, const Buffer& /*in*/, const Buffer& /*out*/,
                             const std::vector<Buffer>& /*scratch*/, std::size_t /*steps*/) const {
    return false;
  }
  // Number of additional buffers, owned by the grid, and the bytes of each; with some, the second overload is called.
  virtual std::size_t scratch() const { return 0; }
  virtual std::size_t scratch_bytes(std::size_t grid) const { return grid; }
  virtual void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients,
                       const std::vector<Buffer>& /*scratch*/) const {
    enqueue(queue, in, out, coefficients);
  }
};

// A pass that launches one kernel after another.
class LaunchPass : public Pass {
 public:
  struct Step {
    Kernel kernel;
    Launch launch;
    std::vector<Argument> scalars;
    bool coefficients = false;  // the kernel has them after in and out
  };
  explicit LaunchPass(std::vector<Step> steps) : steps_(std::move(steps)) {}
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients) const override;

 private:
  std::vector<Step> steps_;
};

using MakePass = std::function<std::shared_ptr<const Pass>(std::size_t depth)>;

// `depths`, deepest first and 1 last: the available passes. Only the deepest is created at once; the others when a
// number of steps needs them.
template <class T>
std::shared_ptr<const Variant<T>> device_variant(const Device& device, const Layout& layout, const DeviceLayout& place,
                                                 std::vector<std::size_t> depths, MakePass make);

// `depth`, and smaller depths of 4 and 1 for the remaining steps.
std::vector<std::size_t> pass_depths(int depth);

// Kernels that every variant compiles: packed to padded rows and back, boxes, norms.
template <class T>
KernelSource service_source(const Device& device);

// "float", "double", "int" or "uchar": the name of T in the dialect.
template <class T>
const char* type_name();

// Number of work-groups of a kernel that run concurrently on a device.
// Limited by registers on NVIDIA devices: the register file has four parts, and a warp's registers are allocated in
// units of 256. If the back end does not report the kernel's registers, `guess` is used; without either, four groups
// per compute unit.
std::size_t resident_groups(const Device& device, const Kernel& kernel, std::size_t items, std::size_t local_bytes = 0,
                            std::size_t guess = 0);

}  // namespace ridge::stencil
