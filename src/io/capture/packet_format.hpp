// Packets of a receiver: where the stream's number, the packet's counter and the samples are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ridge::io {

// An unsigned number in a packet's header.
struct PacketField {
  std::size_t offset = 0, bytes = 0;  // 0 bytes: absent
  bool big_endian = false;
};

enum class PacketKind { counter, vdif, spead };

// Position of a packet in the capture, and of the samples in the packet.
struct PacketPlace {
  std::uint64_t counter = 0;  // consecutive within a stream
  std::uint32_t stream = 0;
  std::size_t begin = 0, bytes = 0;
};

struct PacketFormat {
  PacketKind kind = PacketKind::counter;
  std::size_t header = 8;   // bytes before the samples; VDIF: 0, whole frames are stored
  std::size_t payload = 0;  // bytes stored per packet; 0: as in the first packet
  PacketField counter{0, 8, false}, stream{};
  std::uint64_t step = 1;        // difference between the counters of consecutive packets (SPEAD: heaps)
  std::uint64_t per_second = 0;  // VDIF: frames per second and thread; 0: from the header
  std::uint32_t counter_item = 1, stream_item = 0;  // SPEAD: item identifiers; stream 0: none
  std::uint64_t heap = 1;                           // SPEAD: packets per heap, from the first packet
  std::uint32_t epoch = 0;                          // VDIF: of the first packet

  // Reads the sizes from the first packet. Returns the reason if the packet cannot be of this format.
  std::string learn(std::span<const std::byte> packet);
  // `front`: at least the first bytes of the packet, `bytes`: its length. Returns the reason or null.
  const char* locate(std::span<const std::byte> front, std::size_t bytes, PacketPlace& place) const;
  // Writes the header of a packet (`header` bytes; VDIF: the counter within the frame at `to`).
  void write_header(std::span<std::byte> to, std::uint64_t number, std::uint32_t of_stream) const;
  // Makes a stored packet that was lost: zeros; VDIF: a frame that is marked invalid, with the header of `model`.
  void fill_lost(std::span<std::byte> slot, std::span<const std::byte> model, std::uint64_t number,
                 std::uint32_t of_stream) const;
};

inline constexpr std::size_t kMostPacket = 65536, kMostPacketHeader = 1024;

// "counter", "vdif", "spead", or a text file of "key value ..." lines: kind, counter OFFSET BYTES little|big, stream
// (the same), samples OFFSET, payload BYTES, step N, counter-item N, stream-item N, per-second N. # begins a comment.
PacketFormat packet_format(const std::string& name);

}  // namespace ridge::io
