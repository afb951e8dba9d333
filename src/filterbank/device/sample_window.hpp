// The stretch of a stream of samples that a device holds: new bytes go up behind it straight from where they lie, and
// what the next spectra need stays there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include <ridge/device.hpp>

namespace ridge::filterbank::on_device {

class SampleWindow {
 public:
  // `from`: position in the stream of the first byte that will come.
  SampleWindow(const Device& device, std::uint64_t from = 0) : device_(device), from_(from) {}

  std::uint64_t from() const { return from_; }
  std::uint64_t end() const { return from_ + held_; }
  const Buffer& bytes() const { return bytes_; }  // from() lies at its beginning

  // Enqueued: `in` must stay until the queue has passed it.
  void append(Queue& queue, std::span<const std::byte> in);
  // Lets go of everything before a position, which is not before from().
  void forget_before(Queue& queue, std::uint64_t position);

 private:
  void make_room(Queue& queue, std::size_t bytes);

  Device device_;
  Buffer bytes_, spare_;
  std::uint64_t from_ = 0;
  std::size_t held_ = 0;
};

}  // namespace ridge::filterbank::on_device
