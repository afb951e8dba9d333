// The part of a sample stream that is in device memory.
#include "filterbank/device/sample_window.hpp"

#include <algorithm>
#include <utility>

namespace ridge::filterbank::on_device {

void SampleWindow::make_room(Queue& queue, std::size_t bytes) {
  if (bytes_ && bytes_.size() >= bytes) return;
  const std::size_t size = std::max(bytes, bytes_ ? 2 * bytes_.size() : 0);
  Buffer larger = device_.buffer(size, {.name = "filter bank samples"});
  if (held_ > 0) queue.copy(bytes_, larger, held_);
  queue.finish();  // before the smaller buffer is released
  bytes_ = std::move(larger);
  spare_ = {};
}

void SampleWindow::append(Queue& queue, std::span<const std::byte> in) {
  make_room(queue, held_ + in.size());
  queue.upload(in.data(), bytes_, in.size(), held_);
  held_ += in.size();
}

void SampleWindow::forget_before(Queue& queue, std::uint64_t position) {
  const auto gone = static_cast<std::size_t>(position - from_);
  if (gone == 0) return;
  held_ -= gone;
  from_ = position;
  if (held_ == 0) return;
  // Copies must not overlap: short remainders move within the buffer, long ones to the spare buffer.
  if (held_ <= gone) {
    queue.copy(bytes_, bytes_, held_, gone);
    return;
  }
  if (!spare_ || spare_.size() < bytes_.size()) {
    spare_ = device_.buffer(bytes_.size(), {.name = "filter bank samples"});
  }
  queue.copy(bytes_, spare_, held_, gone);
  std::swap(bytes_, spare_);
}

}  // namespace ridge::filterbank::on_device
