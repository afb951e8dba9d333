// Packets from a ring that the kernel fills (AF_PACKET, version 3): no system call per packet. Needs CAP_NET_RAW.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "io/capture/udp.hpp"

struct tpacket_block_desc;

namespace ridge::io {

class PacketRing {
 public:
  // Receives UDP packets to the address, which also gets a socket, so that the kernel does not reject them. Fragments
  // are not joined. Error{unavailable} without the privilege.
  PacketRing(const UdpAddress& address, std::size_t bytes);
  ~PacketRing();
  PacketRing(const PacketRing&) = delete;
  PacketRing& operator=(const PacketRing&) = delete;

  // The first packet that was not taken yet; empty after 0.1 s.
  std::span<const std::byte> peek();
  using Take = std::function<void(std::span<const std::byte> packet, std::uint64_t sender)>;
  // Passes all packets of the next block to `take`; waits at most 0.1 s for it. Returns their number.
  std::size_t receive(const Take& take);
  std::uint64_t kernel_drops();
  std::size_t size() const { return bytes_; }

 private:
  tpacket_block_desc* wait();
  std::size_t walk(const tpacket_block_desc* block, const Take& take) const;

  std::unique_ptr<UdpSocket> silent_;  // keeps the port open; receives nothing
  UdpAddress address_;
  int descriptor_ = -1;
  std::byte* ring_ = nullptr;
  std::size_t bytes_ = 0, next_ = 0;
  std::uint64_t drops_ = 0;
};

}  // namespace ridge::io
