#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <ridge/sar.hpp>

namespace ridge::sar {

// A frame on its way. Each slot has its own work buffers, so that two queues never meet.
struct Stream::Slot {
  Slot(const Device& device, const Problem& problem, const planner::Options& options)
      : focus(device, problem, options), bytes(problem.pulses * problem.samples * sizeof(Complex)) {
    if (device.is_host()) return;
    queue = device.queue();
    from_host = device.buffer(bytes, {.kind = MemoryKind::pinned, .name = "sar frame in host memory"});
    to_host = device.buffer(bytes, {.kind = MemoryKind::pinned, .name = "sar image in host memory"});
    echoes = device.buffer(bytes, {.name = "sar echoes"});
    image = device.buffer(bytes, {.name = "sar image"});
  }

  void start(std::span<const Complex> frame) {
    std::copy_n(frame.data(), bytes / sizeof(Complex), from_host.map().as<Complex>().data());
    queue->copy(from_host, echoes, bytes);
    focus.run(echoes, image, *queue);
    queue->copy(image, to_host, bytes);
    done = queue->record();
  }

  void take(std::span<Complex> out) {
    done.wait();
    const Mapping mapping = to_host.map();
    std::copy_n(mapping.as<Complex>().data(), bytes / sizeof(Complex), out.data());
  }

  Focus focus;
  std::size_t bytes;
  std::optional<Queue> queue;
  Buffer from_host, to_host, echoes, image;
  Event done;
};

Stream::Stream(const Device& device, const Problem& problem, const planner::Options& options) : problem_(problem) {
  const std::size_t at_once = device.is_host() ? 1 : 2;
  for (std::size_t i = 0; i < at_once; ++i) slots_.push_back(std::make_unique<Slot>(device, problem, options));
}

Stream::~Stream() {
  for (; given_ < taken_; ++given_) slots_[given_ % slots_.size()]->done.wait();
}

bool Stream::push(std::span<const Complex> echoes, std::span<Complex> image) {
  const std::size_t points = problem_.pulses * problem_.samples;
  if (echoes.size() < points || image.size() < points) {
    throw Error(ErrorKind::invalid_argument, fmt::format("sar: a frame has {} values; echoes have {}, the image has {}",
                                                         points, echoes.size(), image.size()));
  }
  Slot& slot = *slots_[taken_ % slots_.size()];
  if (!slot.queue) {
    slot.focus.run(echoes, image);
    return true;
  }
  const bool full = taken_ - given_ == slots_.size();
  if (full) {
    slot.take(image);
    ++given_;
  }
  slot.start(echoes);
  ++taken_;
  return full;
}

bool Stream::finish(std::span<Complex> image) {
  if (given_ == taken_) return false;
  slots_[given_ % slots_.size()]->take(image);
  ++given_;
  return true;
}

}  // namespace ridge::sar
