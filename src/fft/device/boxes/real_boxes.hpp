// Cosine, sine and Hartley transforms of boxes on a device: one axis after another. Boxes of lines are copied into
// whole lines, transformed, and copied out.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <ridge/fft/device_tensor.hpp>

#include "device/staging.hpp"
#include "fft/device/boxes/box_copy.hpp"
#include "fft/real_box_lines.hpp"

namespace ridge::fft::on_device {

template <class T>
class DeviceRealBoxes {
 public:
  DeviceRealBoxes(const Device& device, const std::vector<RealBoxLines>& lines, bool transposed,
                  const planner::Options& options);
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const;  // sizes are checked by the caller
  void run(const T* in, T* out) const;                                    // host memory
  std::vector<KernelSource> kernels() const;

 private:
  struct Step {
    std::shared_ptr<const CompiledRoute> copy;  // or a transform
    std::optional<DeviceTensorPlan<T>> transform;
    std::size_t points = 0;  // of its output
  };
  void add_copy(const RealBoxLines& axis, bool pads);

  Device device_;
  std::vector<Step> steps_;
  std::size_t in_points_;
  Buffer work_[2];  // used alternately
  Staging staging_;
  mutable std::mutex mutex_;
  mutable Event last_;
  mutable std::uintptr_t last_queue_ = 0;
};

}  // namespace ridge::fft::on_device
