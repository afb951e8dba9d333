// `ridge capture --replay FILE`: sends a file as packets to a loopback address, with losses on purpose.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "io/capture/packet_format.hpp"
#include "io/capture/udp.hpp"

namespace ridge::cli {

struct ReplayOptions {
  std::string file{};
  double loss = 0, duplicate = 0, reorder = 0, damage = 0, second = 0;  // shares of the packets
  std::size_t depth = 16;  // reordering: packets by which one is delayed at most
  double rate = 0;         // Gbit/s; 0: as fast as possible
  bool join = false;       // several packets per message, which the kernel divides
  std::uint64_t seed = 1;
  std::uint64_t jump_at = 0, jump_by = 0;  // packets from this one on have later counters
};

struct ReplayCounts {
  std::uint64_t packets = 0, lost = 0, duplicated = 0, reordered = 0, damaged = 0, from_second = 0, sent = 0, bytes = 0;
};

// The first and the last packet of each stream are always sent, in order.
ReplayCounts replay(const io::UdpAddress& to, io::PacketFormat format, std::size_t streams,
                    const ReplayOptions& options);

}  // namespace ridge::cli
