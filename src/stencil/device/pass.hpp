// What all device variants share: a pass advances a grid by a number of steps from one buffer to another; the variant
// keeps the grid on the device and enqueues passes, so that steps need no round trip to the host.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "stencil/device/layout.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {

// Compiled and ready. `in` and `out` hold all fields; fixed cells are right in both and are never written.
class Pass {
 public:
  virtual ~Pass() = default;
  virtual void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients) const = 0;
  // A pass that leaves the new grid where the old one was; `out` is not touched. Before the first of a run and after
  // the last one it is told so.
  virtual bool in_place() const { return false; }
  virtual void open(Queue& /*queue*/, const Buffer& /*grid*/, const Buffer& /*other*/) const {}
  virtual void close(Queue& /*queue*/, const Buffer& /*grid*/, const Buffer& /*other*/) const {}
  // Buffers as large as `in` that it wants besides, the grid's own; then the second call is made instead.
  virtual std::size_t scratch() const { return 0; }
  virtual void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients,
                       const std::vector<Buffer>& /*scratch*/) const {
    enqueue(queue, in, out, coefficients);
  }
};

// A launch of one kernel after another.
class LaunchPass : public Pass {
 public:
  struct Step {
    Kernel kernel;
    Launch launch;
    std::vector<Argument> scalars;
    bool coefficients = false;  // the kernel takes them after in and out
  };
  explicit LaunchPass(std::vector<Step> steps) : steps_(std::move(steps)) {}
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients) const override;

 private:
  std::vector<Step> steps_;
};

using MakePass = std::function<std::shared_ptr<const Pass>(std::size_t depth)>;

// `depths`, the deepest first and 1 last: what passes there are. Only the deepest is made at once; the others when a
// number of steps asks for them.
template <class T>
std::shared_ptr<const Variant<T>> device_variant(const Device& device, const Layout& layout, const DeviceLayout& place,
                                                 std::vector<std::size_t> depths, MakePass make);

// What every variant compiles beside its own: rows from packed to padded and back, boxes, norms.
template <class T>
KernelSource service_source(const Device& device);

// "float", "double", "int" or "uchar": T in the dialect.
template <class T>
const char* type_name();

}  // namespace ridge::stencil
