#include "mpi/device_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::mpi {

const char* to_string(Carry carry) {
  switch (carry) {
    case Carry::direct:
      return "direct";
    case Carry::mapped:
      return "mapped";
    case Carry::staged:
      return "staged";
  }
  return "";
}

Carry carry_for(const Communicator& all, const Device& device) {
  const bool cuda = device.info().backend == Backend::cuda, shares = device.info().shares_host_memory;
  const char* requested = std::getenv("RIDGE_MPI_DEVICE");
  if (requested == nullptr || *requested == 0) {
    return cuda && all.knows_cuda_memory() ? Carry::direct : shares ? Carry::mapped : Carry::staged;
  }
  for (const Carry carry : {Carry::direct, Carry::mapped, Carry::staged}) {
    if (std::strcmp(requested, to_string(carry)) != 0) continue;
    if ((carry == Carry::direct && !cuda) || (carry == Carry::mapped && !shares)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("RIDGE_MPI_DEVICE={}: not supported by {} and this MPI", requested, device.id()));
    }
    return carry;
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("RIDGE_MPI_DEVICE={}: must be direct, mapped or staged", requested));
}

MessageMemory::MessageMemory(const Device& device, Carry carry, std::size_t bytes, const std::string& name)
    : carry_(carry) {
  bytes = std::max<std::size_t>(1, bytes);
  buffer_ =
      device.buffer(bytes, {.kind = carry == Carry::mapped ? MemoryKind::mapped : MemoryKind::device, .name = name});
  if (carry == Carry::staged) pinned_ = device.buffer(bytes, {.kind = MemoryKind::pinned, .name = name + ", pinned"});
}

std::byte* MessageMemory::host() {
  if (carry_ == Carry::direct) return reinterpret_cast<std::byte*>(buffer_.native());
  if (!mapping_) mapping_.emplace((carry_ == Carry::mapped ? buffer_ : pinned_).map());
  return mapping_->data();
}

std::byte* MessageMemory::to_send(Queue& queue, std::size_t offset, std::size_t bytes) {
  if (carry_ == Carry::staged && bytes > 0) queue.download(buffer_, host() + offset, bytes, offset);
  queue.finish();
  return host();
}

std::byte* MessageMemory::to_receive() { return host(); }

void MessageMemory::received(Queue& queue, std::size_t offset, std::size_t bytes) {
  if (carry_ == Carry::staged && bytes > 0) queue.upload(host() + offset, buffer_, bytes, offset);
  if (carry_ == Carry::mapped) mapping_.reset();
}

}  // namespace ridge::mpi
