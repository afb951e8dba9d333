// Focuses a stream of frames: upload, focusing and download of different frames overlap on a device.
#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <ridge/sar.hpp>

#include "base/threads.hpp"

namespace ridge::sar {
namespace {

// One frame each is uploaded, focused and downloaded, and one is with the caller.
constexpr std::size_t kFramesAtOnce = 4;
// Eight threads fill a bus of 50 GB/s per direction; more threads slow each other down.
constexpr std::size_t kCopyingThreads = 8;

std::size_t points(const Problem& problem) { return problem.pulses * problem.samples; }

// A frame or an image in host memory, page-locked if a device transfers it.
class HostFrame {
 public:
  HostFrame(const Device& device, std::size_t count) : count_(count) {
    if (device.is_host()) {
      plain_.resize(count);
      data_ = plain_.data();
      return;
    }
    buffer_ = device.buffer(count * sizeof(Complex), {.kind = MemoryKind::pinned, .name = "sar frame in host memory"});
    mapping_.emplace(buffer_.map());
    data_ = mapping_->as<Complex>().data();
    std::fill_n(data_, count, Complex{});
  }
  std::span<Complex> span() const { return {data_, count_}; }

 private:
  std::size_t count_;
  std::vector<Complex> plain_;
  Buffer buffer_;
  std::optional<Mapping> mapping_;
  Complex* data_ = nullptr;
};

struct Copy {
  const Complex* from;
  Complex* to;
};

void copy_all(std::size_t threads, std::size_t count, std::initializer_list<Copy> copies) {
  base::parallel(threads, [&](std::size_t thread, std::size_t all) {
    const auto [begin, end] = base::share(count, thread, all, 512);
    for (const Copy& copy : copies) std::copy_n(copy.from + begin, end - begin, copy.to + begin);
  });
}

}  // namespace

// One queue each for upload, computation and download, so that they overlap and wait only for the data they need. One
// frame is focused at a time, in work buffers that stay in the device's cache.
struct Stream::Queues {
  explicit Queues(const Device& device) : up(device.queue()), work(device.queue()), down(device.queue()) {}
  Queue up, work, down;
};

struct Stream::Slot {
  Slot(const Device& device, std::size_t count) : frame(device, count), image(device, count) {
    if (device.is_host()) return;
    echoes_there = device.buffer(count * sizeof(Complex), {.name = "sar echoes"});
    image_there = device.buffer(count * sizeof(Complex), {.name = "sar image"});
  }
  HostFrame frame, image;
  Buffer echoes_there, image_there;
  Event done;
};

Stream::Stream(const Device& device, const Problem& problem, const planner::Options& options)
    : plan_(device, problem, options),
      copying_threads_(problem.threads > 0 ? problem.threads : std::min(kCopyingThreads, base::hardware_threads())) {
  if (!device.is_host()) queues_ = std::make_unique<Queues>(device);
  const std::size_t at_once = device.is_host() ? 1 : kFramesAtOnce;
  for (std::size_t i = 0; i < at_once; ++i) slots_.push_back(std::make_unique<Slot>(device, points(problem)));
}

Stream::~Stream() {
  if (!queues_) return;
  for (; given_ < taken_; ++given_) slots_[given_ % slots_.size()]->done.wait();
}

bool Stream::full() const { return on_their_way() == slots_.size(); }

bool Stream::ready() const {
  if (given_ == taken_) return false;
  return !queues_ || slots_[given_ % slots_.size()]->done.done();
}

std::span<Complex> Stream::frame() {
  if (full()) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("sar: all {} frames of the stream are in use: call take() for an image first", slots_.size()));
  }
  return slots_[taken_ % slots_.size()]->frame.span();
}

void Stream::submit() {
  const std::span<Complex> echoes = frame();
  Slot& slot = *slots_[taken_ % slots_.size()];
  if (!queues_) {
    plan_.run(echoes, slot.image.span());
  } else {
    queues_->up.upload(echoes.data(), slot.echoes_there, echoes.size_bytes());
    queues_->work.wait_for(queues_->up.record());
    plan_.enqueue(queues_->work, slot.echoes_there, slot.image_there);
    queues_->down.wait_for(queues_->work.record());
    queues_->down.download(slot.image_there, slot.image.span().data(), echoes.size_bytes());
    slot.done = queues_->down.record();
  }
  ++taken_;
}

std::span<const Complex> Stream::take() {
  if (given_ == taken_) return {};
  Slot& slot = *slots_[given_ % slots_.size()];
  if (queues_) slot.done.wait();
  ++given_;
  return slot.image.span();
}

void Stream::check_sizes(std::size_t echoes, std::size_t image) const {
  const std::size_t wanted = points(plan_.problem());
  if (echoes < wanted || image < wanted) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("sar: echoes and image need {} values each, got {} and {}", wanted, echoes, image));
  }
}

bool Stream::push(std::span<const Complex> echoes, std::span<Complex> image) {
  check_sizes(echoes.size(), image.size());
  if (!queues_) {
    plan_.run(echoes, image);
    return true;
  }
  const std::size_t count = points(plan_.problem());
  const bool ready = full();
  if (ready) {
    const Complex* done = take().data();
    copy_all(copying_threads_, count, {{done, image.data()}, {echoes.data(), frame().data()}});
  } else {
    copy_all(copying_threads_, count, {{echoes.data(), frame().data()}});
  }
  submit();
  return ready;
}

bool Stream::finish(std::span<Complex> image) {
  check_sizes(image.size(), image.size());
  const auto done = take();
  if (done.empty()) return false;
  copy_all(copying_threads_, done.size(), {{done.data(), image.data()}});
  return true;
}

}  // namespace ridge::sar
