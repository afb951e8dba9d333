// Flow of a stream of frames on a device. Each frame is written into page-locked memory, uploaded and made a pyramid
// that serves two pairs; the flows are returned in order. Several queues are used alternately, so that transfers and
// computation overlap.
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

  Image input();  // host memory for the next frame
  void push();    // submits the frame in input(). Throws Error if room() flows have not been fetched by next()
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
  std::vector<Buffer> pyramids_;  // one more than lanes: the new frame's, and those that queues may still read
  std::vector<Event> built_;
  std::vector<Event> done_;  // two more than lanes, indexed by the pair's second frame
  Shape frame_, flow_;
  std::size_t pushed_ = 0, taken_ = 0;
};

}  // namespace ridge::image::on_device
