// Plans the axes of real-to-real boxes with the copies around them, and runs them one after another.
#include "fft/device/boxes/real_boxes.hpp"

#include <algorithm>

namespace ridge::fft::on_device {

template <class T>
DeviceRealBoxes<T>::DeviceRealBoxes(const Device& device, const std::vector<RealBoxLines>& lines, bool transposed,
                                    const planner::Options& options)
    : device_(device),
      in_points_(lines.front().lines() * lines.front().read.count),
      staging_(device, "real-to-real boxes") {
  for (const RealBoxLines& axis : lines) {
    if (axis.read.count < axis.length || axis.read.first > 0) add_copy(axis, true);
    const auto inner = static_cast<std::ptrdiff_t>(axis.inner), step = static_cast<std::ptrdiff_t>(axis.length) * inner;
    const std::vector<Dimension> loops{{axis.outer, step, step}, {axis.inner, 1, 1}};
    steps_.push_back({.copy = nullptr,
                      .transform = DeviceTensorPlan<T>(device, lines_problem(axis, loops, inner, transposed), options),
                      .points = axis.lines() * axis.length});
    if (axis.written.count < axis.length || axis.written.first > 0) add_copy(axis, false);
  }
  std::size_t most = 0;
  for (std::size_t i = 0; i + 1 < steps_.size(); ++i) most = std::max(most, steps_[i].points);
  for (std::size_t i = 0; i < std::min<std::size_t>(2, steps_.size() - 1); ++i)
    work_[i] = device.buffer(most * sizeof(T), {.name = "real-to-real boxes"});
}

template <class T>
void DeviceRealBoxes<T>::add_copy(const RealBoxLines& axis, bool pads) {
  const std::uint64_t part = (pads ? axis.read : axis.written).count;
  const Address box{.point = axis.inner, .line = {1, part * axis.inner}},
      whole{.point = axis.inner, .line = {1, axis.length * axis.inner}};
  const BoxCopy copy{.type = sizeof(T) == sizeof(double) ? "double" : "float",
                     .reals = true,
                     .counts = {axis.inner, axis.outer},
                     .in = pads ? box : whole,
                     .out = pads ? whole : box,
                     .pads = pads,
                     .length = axis.length,
                     .box = pads ? axis.read : axis.written};
  steps_.push_back(
      {.copy = std::make_shared<const CompiledRoute>(device_, box_copy_route(copy), sizeof(T) == sizeof(double)),
       .transform = std::nullopt,
       .points = axis.lines() * (pads ? axis.length : part)});
}

template <class T>
void DeviceRealBoxes<T>::enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
  // Calls share the work areas: another queue waits for their last use.
  const std::lock_guard lock(mutex_);
  if (last_ && last_queue_ != queue.native()) queue.wait_for(last_);
  const Buffer* from = &in;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const Buffer& to = i + 1 == steps_.size() ? out : work_[i % 2];
    step.copy ? step.copy->enqueue(queue, *from, to) : step.transform->enqueue(queue, *from, to);
    from = &to;
  }
  last_ = queue.record();
  last_queue_ = queue.native();
}

template <class T>
void DeviceRealBoxes<T>::run(const T* in, T* out) const {
  staging_.run(
      {.in = in, .in_bytes = in_points_ * sizeof(T), .out = out, .out_bytes = steps_.back().points * sizeof(T)},
      [&](Queue& queue, const Buffer& from, const Buffer& to) { enqueue(queue, from, to); });
}

template <class T>
std::vector<KernelSource> DeviceRealBoxes<T>::kernels() const {
  std::vector<KernelSource> all;
  for (const Step& step : steps_) add_to(all, step.copy ? kernels_of(step.copy->route()) : step.transform->kernels());
  return all;
}

template class DeviceRealBoxes<float>;
template class DeviceRealBoxes<double>;

}  // namespace ridge::fft::on_device
