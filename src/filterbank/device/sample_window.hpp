// The part of a sample stream that is in device memory: new bytes are uploaded behind it, and bytes that later spectra
// need are kept.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include <ridge/device.hpp>

namespace ridge::filterbank::on_device {

class SampleWindow {
 public:
  // `from`: stream position of the first byte that will be appended.
  SampleWindow(const Device& device, std::uint64_t from = 0) : device_(device), from_(from) {}

  std::uint64_t from() const { return from_; }
  std::uint64_t end() const { return from_ + held_; }
  const Buffer& bytes() const { return bytes_; }  // begins with the byte at from()

  // Enqueues an upload: `in` must stay valid until the queue has executed it.
  void append(Queue& queue, std::span<const std::byte> in);
  // Drops all bytes before a position, which must not precede from().
  void forget_before(Queue& queue, std::uint64_t position);

 private:
  void make_room(Queue& queue, std::size_t bytes);

  Device device_;
  Buffer bytes_, spare_;
  std::uint64_t from_ = 0;
  std::size_t held_ = 0;
};

}  // namespace ridge::filterbank::on_device
