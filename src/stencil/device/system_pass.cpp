#include "stencil/device/system_pass.hpp"

#include <algorithm>

namespace ridge::stencil {
namespace {

void enqueue_step(Queue& queue, const LaunchPass::Step& step, const Buffer& in, const Buffer& out,
                  const Buffer& coefficients) {
  std::vector<Argument> arguments{in, out};
  if (step.coefficients) arguments.emplace_back(coefficients);
  arguments.insert(arguments.end(), step.scalars.begin(), step.scalars.end());
  queue.launch(step.kernel, step.launch, arguments);
}

}  // namespace

bool needs_frame(const Layout& layout, std::size_t depth) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (layout.radius[axis] == 0) continue;
    if (depth > 1 || layout.low[axis] != Border::fixed || layout.high[axis] != Border::fixed) return true;
  }
  return false;
}

FramedPass::FramedPass(const Device& device, const FrameKernel& frame, std::size_t depth, LaunchPass::Step interior)
    : frame_(frame), depth_(depth), interior_(std::move(interior)) {
  if (needs_frame(frame.text.layout, depth)) kernel_ = device.compile(frame.source()).kernel("update_frame");
}

std::size_t FramedPass::scratch() const { return kernel_ ? std::min<std::size_t>(2, depth_ - 1) : 0; }

void FramedPass::enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients) const {
  enqueue(queue, in, out, coefficients, {});
}

void FramedPass::enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients,
                         const std::vector<Buffer>& scratch) const {
  for (std::size_t step = 0; kernel_ && step < depth_; ++step) {
    const LaunchPass::Step one{*kernel_, frame_.launch(step, depth_), frame_.scalars(step, depth_),
                               frame_.text.layout.coefficients > 0};
    enqueue_step(queue, one, step == 0 ? in : scratch[(step - 1) % 2], step + 1 == depth_ ? out : scratch[step % 2],
                 coefficients);
  }
  enqueue_step(queue, interior_, in, out, coefficients);
}

}  // namespace ridge::stencil
