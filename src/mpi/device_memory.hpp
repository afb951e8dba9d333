// Memory of a device that messages come from and arrive in: as it is where MPI or the machine allows, through
// page-locked memory of the host else.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include <ridge/device.hpp>
#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi {

enum class Carry {
  direct,  // CUDA's addresses given to an MPI that knows them
  mapped,  // the device works in the host's memory
  staged,  // copied to page-locked memory and back
};
// RIDGE_MPI_DEVICE=direct, mapped or staged decides where the device allows it.
Carry carry_for(const Communicator& all, const Device& device);
const char* to_string(Carry carry);

// For one thread at a time. While the host has an address the device must not use the buffer.
class MessageMemory {
 public:
  MessageMemory(const Device& device, Carry carry, std::size_t bytes, const std::string& name);
  const Buffer& buffer() const { return buffer_; }
  // What the device wrote before in this queue, for messages; waits. The address is of the memory's first byte.
  std::byte* to_send(Queue& queue, std::size_t offset, std::size_t bytes);
  // Where messages may arrive.
  std::byte* to_receive();
  // They have: the queue's later work finds them there.
  void received(Queue& queue, std::size_t offset, std::size_t bytes);
  void give_back() { mapping_.reset(); }  // after sending, and after the last received()

 private:
  std::byte* host();

  Carry carry_;
  Buffer buffer_, pinned_;
  std::optional<Mapping> mapping_;
};

}  // namespace ridge::mpi
