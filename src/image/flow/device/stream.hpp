// The flow of a stream of frames: frame after frame is written into page-locked memory, uploaded, made a pyramid that
// serves two pairs, and the flows come back in order. Two queues take turns, so that transfers and computing overlap.
//
//   FlowStream stream(variant);
//   for (;;) {
//     read_frame_into(stream.input());
//     stream.push();
//     if (stream.waiting() == 2) use(stream.next());
//   }
//   while (stream.waiting() > 0) use(stream.next());
#pragma once
#include <array>
#include <memory>
#include <optional>

#include "image/flow/device/variant.hpp"

namespace ridge::image::on_device {

class FlowStream {
 public:
  explicit FlowStream(std::shared_ptr<const FlowVariant> variant);
  ~FlowStream();
  FlowStream(const FlowStream&) = delete;
  FlowStream& operator=(const FlowStream&) = delete;

  Image input();  // host memory the next frame is to be written into
  void push();    // the frame is there. Error where two flows wait to be taken
  std::size_t waiting() const { return pushed_ < 2 ? 0 : pushed_ - 1 - taken_; }
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
  Lane& lane(std::size_t frame) { return *lanes_[frame % 2]; }

  std::shared_ptr<const FlowVariant> variant_;
  std::array<std::unique_ptr<Lane>, 2> lanes_;
  std::array<Buffer, 3> pyramids_;  // of a frame, the one before it, and one that the other queue may still read
  std::array<Event, 3> built_;
  std::array<Event, 4> done_;  // by the frame whose arrival began the pair
  Shape frame_, flow_;
  std::size_t pushed_ = 0, taken_ = 0;
};

}  // namespace ridge::image::on_device
