// Computes the flow of a stream of frames on several queues of a device.
#include "image/flow/device/queues.hpp"

namespace ridge::image::on_device {

FlowQueues::FlowQueues(std::shared_ptr<const FlowVariant> variant, std::size_t lanes)
    : variant_(std::move(variant)), lanes_(lanes), pyramids_(lanes + 1), built_(lanes + 1), done_(lanes + 2) {
  const FlowPipeline& pipeline = variant_->pipeline();
  const FlowProblem& problem = pipeline.problem();
  const Device& device = pipeline.device();
  frame_ = {.rows = problem.rows, .columns = problem.columns, .channels = problem.channels};
  flow_ = {.rows = problem.rows, .columns = problem.columns, .channels = 2, .depth = Depth::f32};
  const auto pinned = [&](const Shape& shape, const char* name, bool read) {
    return device.buffer(shape.rows * shape.row_bytes(),
                         {.kind = MemoryKind::pinned, .name = name, .write_combined = !read});
  };
  for (auto& lane : lanes_) {
    lane = std::make_unique<Lane>(device);
    lane->work = pipeline.workspace();
    lane->frame = Image::of(device.buffer(frame_.rows * frame_.row_bytes(), {.name = "stream frame"}), frame_);
    lane->flow = Image::of(device.buffer(flow_.rows * flow_.row_bytes(), {.name = "stream flow"}), flow_);
    lane->frame_bytes = pinned(frame_, "stream frame on the host", false);
    lane->flow_bytes = pinned(flow_, "stream flow on the host", true);
    lane->frame_map.emplace(lane->frame_bytes.map());
    lane->flow_map.emplace(lane->flow_bytes.map());
  }
  for (Buffer& pyramid : pyramids_) pyramid = pipeline.pyramid();
}

FlowQueues::~FlowQueues() {
  for (auto& lane : lanes_) {
    try {
      lane->queue.finish();
    } catch (const Error&) {  // a destructor cannot report errors
    }
  }
}

Image FlowQueues::input() {
  Lane& own = lane(pushed_);
  if (own.uploaded) own.uploaded.wait();
  return Image::view(own.frame_map->data(), frame_);
}

void FlowQueues::push() {
  if (waiting() >= room())
    throw Error(ErrorKind::invalid_argument, "flow stream: all flows are waiting to be fetched: call next() first");
  const std::size_t f = pushed_;
  Lane& own = lane(f);
  const FlowPipeline& pipeline = variant_->pipeline();
  Queue& queue = own.queue;
  // The pyramid to be overwritten was read by the last pair of this queue, and by the pair before it.
  const std::size_t again = pyramids_.size();
  if (f > again) queue.wait_for(done_[(f - again) % done_.size()]);
  queue.upload(own.frame_map->data(), own.frame.buffer(), frame_.rows * frame_.row_bytes());
  own.uploaded = queue.record();
  pipeline.build(queue, own.frame, pyramids_[f % again]);
  built_[f % again] = queue.record();
  if (f > 0) {
    queue.wait_for(built_[(f - 1) % again]);
    pipeline.flow(queue, pyramids_[(f - 1) % again], pyramids_[f % again], own.work, own.flow);
    queue.download(own.flow.buffer(), own.flow_map->data(), flow_.rows * flow_.row_bytes());
    done_[f % done_.size()] = queue.record();
  }
  ++pushed_;
}

Image FlowQueues::next() {
  if (waiting() == 0)
    throw Error(ErrorKind::invalid_argument, "flow stream: no flow to fetch: push() another frame first");
  ++taken_;
  done_[taken_ % done_.size()].wait();
  return Image::view(lane(taken_).flow_map->data(), flow_);
}

}  // namespace ridge::image::on_device
