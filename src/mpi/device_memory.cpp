// Chooses how blocks of device memory are sent: directly, mapped, or through page-locked memory.
#include "mpi/device_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::mpi {

const char* to_string(Transport transport) {
  switch (transport) {
    case Transport::direct:
      return "direct";
    case Transport::mapped:
      return "mapped";
    case Transport::staged:
      return "staged";
  }
  return "";
}

Transport transport_for(const Communicator& all, const Device& device) {
  const bool cuda = device.info().backend == Backend::cuda, shares = device.info().shares_host_memory;
  const char* requested = std::getenv("RIDGE_MPI_DEVICE");
  if (requested == nullptr || *requested == 0) {
    return cuda && all.knows_cuda_memory() ? Transport::direct : shares ? Transport::mapped : Transport::staged;
  }
  for (const Transport transport : {Transport::direct, Transport::mapped, Transport::staged}) {
    if (std::strcmp(requested, to_string(transport)) != 0) continue;
    if ((transport == Transport::direct && !cuda) || (transport == Transport::mapped && !shares)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("RIDGE_MPI_DEVICE={}: not supported by {} and this MPI", requested, device.id()));
    }
    return transport;
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("RIDGE_MPI_DEVICE={}: must be direct, mapped or staged", requested));
}

MessageMemory::MessageMemory(const Device& device, Transport transport, std::size_t bytes, const std::string& name)
    : transport_(transport) {
  bytes = std::max<std::size_t>(1, bytes);
  buffer_ = device.buffer(
      bytes, {.kind = transport == Transport::mapped ? MemoryKind::mapped : MemoryKind::device, .name = name});
  if (transport == Transport::staged)
    pinned_ = device.buffer(bytes, {.kind = MemoryKind::pinned, .name = name + ", pinned"});
}

std::byte* MessageMemory::host() {
  if (transport_ == Transport::direct) return reinterpret_cast<std::byte*>(buffer_.native());
  if (!mapping_) mapping_.emplace((transport_ == Transport::mapped ? buffer_ : pinned_).map());
  return mapping_->data();
}

std::byte* MessageMemory::to_send(Queue& queue, std::size_t offset, std::size_t bytes) {
  if (transport_ == Transport::staged && bytes > 0) queue.download(buffer_, host() + offset, bytes, offset);
  queue.finish();
  return host();
}

std::byte* MessageMemory::to_receive() { return host(); }

void MessageMemory::received(Queue& queue, std::size_t offset, std::size_t bytes) {
  if (transport_ == Transport::staged && bytes > 0) queue.upload(host() + offset, buffer_, bytes, offset);
  if (transport_ == Transport::mapped) mapping_.reset();
}

}  // namespace ridge::mpi
