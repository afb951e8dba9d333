// Puts packets in order. Packets are stored in blocks of slots, one slot per counter and stream. A block is complete
// when a packet has arrived that is `window` counters behind its end; slots without a packet are then lost.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "io/capture/packet_format.hpp"

namespace ridge::io {

enum class SlotState : std::uint8_t { empty, stored, conflict };

struct CaptureBlock {
  CaptureBlock(std::size_t slots, std::size_t bytes) : data(slots * bytes), states(slots) {}
  base::AlignedArray<std::byte> data;
  std::vector<SlotState> states;  // counter-major, then stream
};

struct AssemblerOptions {
  std::size_t streams = 1;
  std::size_t slots = 256;                             // counters per block
  std::size_t payload = 0;                             // bytes per slot
  std::uint64_t window = 256;                          // counters by which a packet may be late
  std::uint64_t longest_gap = std::uint64_t{1} << 20;  // counters; a longer gap ends the capture
};

// Every received packet is counted in exactly one of the lines of the first group, every counter and stream between the
// first and the last one in `delivered` or `lost`.
struct CaptureCounts {
  std::uint64_t stored = 0;      // put into a slot
  std::uint64_t duplicates = 0;  // equal to a stored packet
  std::uint64_t conflicts = 0;   // same counter as a stored packet, other samples: both are dropped
  std::uint64_t late = 0;        // its block was already delivered
  std::uint64_t overrun = 0;     // no memory was free for its block
  std::uint64_t damaged = 0;     // length or header wrong
  std::uint64_t foreign = 0;     // from another sender than the stream's first packet
  std::uint64_t unknown_stream = 0;
  std::uint64_t unconfirmed = 0;  // the counter jumped, and later packets did not confirm it

  std::uint64_t delivered = 0, lost = 0;  // slots of the delivered blocks
  std::uint64_t received() const {
    return stored + duplicates + conflicts + late + overrun + damaged + foreign + unknown_stream + unconfirmed;
  }
};

class Assembler {
 public:
  // `room` returns an empty block, or null if none is free. `hand` gets complete blocks in order; null: nothing was
  // stored. `counters` is the number of counters, less than `slots` in the last block only.
  using Room = std::function<CaptureBlock*()>;
  using Hand = std::function<void(std::uint64_t first, std::size_t counters, CaptureBlock* block)>;
  Assembler(const AssemblerOptions& options, Room room, Hand hand);

  // Address of the slot if it is open and empty, else null.
  std::byte* slot(std::uint64_t counter, std::uint32_t stream);
  // Takes a packet whose samples are at `payload`, which may be its slot. `sender` identifies the source.
  void take(const PacketPlace& place, const std::byte* payload, std::uint64_t sender);
  void take_damaged() { ++counts_.damaged; }
  void finish();  // delivers the remaining blocks

  const CaptureCounts& counts() const { return counts_; }
  bool begun() const { return begun_; }
  std::uint64_t first() const { return first_; }
  std::uint64_t newest() const { return newest_; }
  // Not empty: the counters went back, or too far ahead, for many packets in a row: another observation.
  const std::string& ended() const { return ended_; }

 private:
  struct Open {
    std::uint64_t first = 0;
    CaptureBlock* block = nullptr;
  };
  struct Held {
    PacketPlace place{};
    std::vector<std::byte> payload{};
  };
  bool admit(const PacketPlace& place, std::uint64_t sender);
  void hold(const PacketPlace& place, const std::byte* payload);
  void refuse(const PacketPlace& place, std::uint64_t& count);
  void drop_held();
  void open_for(std::uint64_t counter);
  void store(const PacketPlace& place, const std::byte* payload);
  void close_front(std::size_t counters);

  AssemblerOptions options_;
  Room room_;
  Hand hand_;
  CaptureCounts counts_;
  std::deque<Open> open_;
  std::uint64_t first_ = 0, newest_ = 0, next_ = 0;  // next_: first counter of the next block to open
  bool begun_ = false;
  std::vector<std::uint64_t> senders_;  // per stream; 0: none yet
  std::vector<Held> held_;
  std::size_t since_held_ = 0, refused_ = 0;
  std::string ended_;
};

}  // namespace ridge::io
