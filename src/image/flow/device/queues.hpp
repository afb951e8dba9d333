// The flow of a stream of frames: frame after frame is written into page-locked memory, uploaded, made a pyramid that
// serves two pairs, and the flows come back in order. Some queues take turns, so that transfers and computing overlap.
//
//   FlowQueues stream(variant);
//   for (;;) {
//     read_frame_into(stream.input());
//     stream.push();
//     if (stream.waiting() == stream.room()) use(stream.next());
//   }
//   while (stream.waiting() > 0) use(stream.next());
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "image/flow/device/variant.hpp"

namespace ridge::image::on_device {

class FlowQueues {
 public:
  explicit FlowQueues(std::shared_ptr<const FlowVariant> variant, std::size_t lanes = 2);
  ~FlowQueues();
  FlowQueues(const FlowQueues&) = delete;
  FlowQueues& operator=(const FlowQueues&) = delete;

  Image input();  // host memory the next frame is to be written into
  void push();    // the frame is there. Error where room() flows wait to be taken
  std::size_t waiting() const { return pushed_ < 2 ? 0 : pushed_ - 1 - taken_; }
  std::size_t room() const { return lanes_.size(); }
  Image next();  // waits for the oldest flow; valid until the next push()

 private:
  struct Lane {
    explicit Lane(const Device& device) : queue(device.queue()) {}
    Queue queue;
    FlowPipeline::Workspace work;
    Image frame, flow;               // on the device
    Buffer frame_bytes, flow_bytes;  // page-locked
    std::optional<Mapping> frame_map, flow_map;
    Event uploaded;
  };
  Lane& lane(std::size_t frame) { return *lanes_[frame % lanes_.size()]; }

  std::shared_ptr<const FlowVariant> variant_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Buffer> pyramids_;  // one more than lanes: of a frame, and those that queues may still read
  std::vector<Event> built_;
  std::vector<Event> done_;  // two more: by the frame whose arrival began the pair
  Shape frame_, flow_;
  std::size_t pushed_ = 0, taken_ = 0;
};

}  // namespace ridge::image::on_device
