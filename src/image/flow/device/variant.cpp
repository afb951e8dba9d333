// Runs the flow of one pair on a device.
#include "image/flow/device/variant.hpp"

namespace ridge::image::on_device {

FlowVariant::FlowVariant(const Device& device, const FlowProblem& problem, const FlowDesign& design)
    : pipeline_(device, problem, design),
      first_(pipeline_.pyramid()),
      second_(pipeline_.pyramid()),
      work_(pipeline_.workspace()),
      own_queue_(device.queue()) {
  const Shape frame{.rows = problem.rows, .columns = problem.columns, .channels = problem.channels};
  for (Image& image : frames_) image = Image::on(device, frame, "flow frame");
  flow_ = Image::on(device, {.rows = problem.rows, .columns = problem.columns, .channels = 2, .depth = Depth::f32},
                    "flow result");
}

void FlowVariant::enqueue(Queue& queue, std::span<const Image> in, const Image& out, const StageMark& mark) const {
  std::lock_guard lock(enqueuing_);
  if (last_ && last_queue_ != queue.native()) queue.wait_for(last_);
  pipeline_.build(queue, in[0], first_);
  pipeline_.build(queue, in[1], second_);
  if (mark) mark("pyramid");
  pipeline_.flow(queue, first_, second_, work_, out, mark);
  last_ = queue.record();
  last_queue_ = queue.native();
}

void FlowVariant::enqueue(Queue& queue, std::span<const Image> in, const Image& out) const {
  enqueue(queue, in, out, {});
}

void FlowVariant::run(std::span<const Image> in, Image& out) const {
  std::lock_guard lock(running_);
  Queue queue = own_queue_;
  for (std::size_t i = 0; i < 2; ++i) upload(queue, in[i], frames_[i]);
  enqueue(queue, frames_, flow_);
  download(queue, flow_, out);
  queue.finish();
}

}  // namespace ridge::image::on_device
