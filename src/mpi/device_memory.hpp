// Device memory as source and destination of messages: used directly if MPI or the machine allows it, else through
// page-locked host memory.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include <ridge/device.hpp>
#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi {

enum class Transport {
  direct,  // device addresses passed to a CUDA-aware MPI
  mapped,  // the device works in host memory
  staged,  // copied to and from page-locked memory
};
// Chooses the fastest method that MPI and the device support. RIDGE_MPI_DEVICE=direct, mapped or staged overrides it.
Transport transport_for(const Communicator& all, const Device& device);
const char* to_string(Transport transport);

// For one thread at a time. While the host holds an address, the device must not use the buffer.
class MessageMemory {
 public:
  MessageMemory(const Device& device, Transport transport, std::size_t bytes, const std::string& name);
  const Buffer& buffer() const { return buffer_; }
  // Waits for earlier work of this queue and returns the host address of the buffer's first byte, to send [offset,
  // offset + bytes).
  std::byte* to_send(Queue& queue, std::size_t offset, std::size_t bytes);
  // Returns the host address of the buffer's first byte, to receive messages.
  std::byte* to_receive();
  // Makes received messages visible to later work of the queue.
  void received(Queue& queue, std::size_t offset, std::size_t bytes);
  void give_back() { mapping_.reset(); }  // after sending, and after the last received()

 private:
  std::byte* host();

  Transport transport_;
  Buffer buffer_, pinned_;
  std::optional<Mapping> mapping_;
};

}  // namespace ridge::mpi
