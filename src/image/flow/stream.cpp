// Public stream of frames: flow between each frame and the previous one.
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "image/flow/device/queues.hpp"
#include "image/work.hpp"

namespace ridge::image {
namespace {

void copy_rows(const Image& from, Image& to) {
  for (std::size_t r = 0; r < from.rows(); ++r)
    std::memcpy(to.row<std::byte>(r), from.row<std::byte>(r), from.shape().row_bytes());
}

}  // namespace

struct FlowStream::State {
  FlowPlan plan;
  Shape frame, field;
  std::unique_ptr<on_device::FlowQueues> queues{};
  Image before{}, now{}, flow{};  // host variants: the frames of a pair, and its flow until it is fetched
};

FlowStream::FlowStream(const FlowPlan& plan) {
  const FlowProblem& problem = plan.problem();
  state_ = std::make_unique<State>(
      State{.plan = plan,
            .frame = {.rows = problem.rows, .columns = problem.columns, .channels = problem.channels},
            .field = {.rows = problem.rows, .columns = problem.columns, .channels = 2, .depth = Depth::f32}});
  auto variant = std::dynamic_pointer_cast<const on_device::FlowVariant>(variant_of(plan));
  if (variant) state_->queues = std::make_unique<on_device::FlowQueues>(std::move(variant));
}
FlowStream::FlowStream(FlowStream&&) noexcept = default;
FlowStream& FlowStream::operator=(FlowStream&&) noexcept = default;
FlowStream::~FlowStream() = default;

void FlowStream::push(const Image& frame) {
  State& own = *state_;
  if (!frame || frame.shape() != own.frame) {
    throw Error(ErrorKind::invalid_argument, fmt::format("flow stream: needs frames of {}, got {}", own.frame.text(),
                                                         frame ? frame.shape().text() : "empty"));
  }
  if (frame.resident())
    throw Error(ErrorKind::invalid_argument, "flow stream: needs frames in host memory, got one on a device");
  if (waiting() == room())
    throw Error(ErrorKind::invalid_argument, "flow stream: all flows are waiting to be fetched: call next() first");
  if (own.queues) {
    Image input = own.queues->input();
    copy_rows(frame, input);
    return own.queues->push();
  }
  std::swap(own.before, own.now);
  if (!own.now) own.now = Image(own.frame);
  copy_rows(frame, own.now);
  if (!own.before) return;
  Image flow(own.field);
  own.plan.run(own.before, own.now, flow);
  own.flow = std::move(flow);
}

std::size_t FlowStream::waiting() const { return state_->queues ? state_->queues->waiting() : state_->flow ? 1 : 0; }
std::size_t FlowStream::room() const { return state_->queues ? state_->queues->room() : 1; }

Image FlowStream::next() {
  if (state_->queues) return state_->queues->next().clone();
  if (!state_->flow)
    throw Error(ErrorKind::invalid_argument, "flow stream: no flow to fetch: push() another frame first");
  return std::exchange(state_->flow, {});
}

}  // namespace ridge::image
