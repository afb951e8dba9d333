// Forward transform of a box, multiplication by a spectrum, and inverse transform, on a device. The last axis is
// transformed, multiplied and transformed back by one kernel.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <ridge/fft/box_filter.hpp>

#include "fft/device/route.hpp"
#include "fft/layout.hpp"

namespace ridge::fft::on_device {

class DeviceBoxFilter {
 public:
  // Null, and the reason, if a line of the last axis exceeds a work-group. The spectrum is not copied.
  static std::unique_ptr<const DeviceBoxFilter> make(const Device& device, const Layout& layout, const Buffer& spectrum,
                                                     bool float64, const planner::Options& options,
                                                     std::string& refusal);
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const;
  std::string explain() const;

 private:
  using Compiled = std::shared_ptr<const CompiledRoute>;
  using Shape = std::array<std::size_t, kMostAxes>;
  DeviceBoxFilter(const Device& device, const Layout& layout, bool float64);
  Compiled transform(std::size_t axis, Direction direction, Shape from, const planner::Options& options);
  Compiled filter(const Buffer& spectrum);
  bool build(const Buffer& spectrum, const planner::Options& options);

  Device device_;
  bool float64_;
  // Of three axes; one axis is the third one, two axes are the first and the third one.
  std::array<AxisRange, kMostAxes> box_{};
  Shape shape_{1, 1, 1};
  Compiled first_, second_, filter_, second_back_, first_back_;  // null for axes of one point
  Buffer after_first_, after_second_;
  std::string refusal_;
  std::vector<planner::Decision> decisions_;
};

}  // namespace ridge::fft::on_device
