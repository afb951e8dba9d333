// Fuzz target: packets of `ridge capture`. The first byte chooses the format, a text before the first 0 byte describes
// one; the rest is cut into packets of a length byte each.
#include "support.hpp"

#include <algorithm>

#include "io/capture/assembler.hpp"
#include "io/capture/packet_format.hpp"

namespace {

// Everything that is handed on must be within the counters that were stored or skipped.
void assemble(ridge::io::PacketFormat format, std::span<const std::byte> bytes) {
  using namespace ridge::io;
  std::unique_ptr<Assembler> assembler;
  std::vector<std::unique_ptr<CaptureBlock>> blocks;
  std::vector<CaptureBlock*> free;
  std::uint64_t packets = 0, slots = 0;
  while (!bytes.empty()) {
    const std::size_t length = std::min<std::size_t>(4 * std::to_integer<std::size_t>(bytes[0]), bytes.size() - 1);
    const auto packet = bytes.subspan(1, length);
    bytes = bytes.subspan(1 + length);
    if (!assembler) {
      if (!format.learn(packet).empty()) continue;
      if (format.payload == 0 || format.payload > 4096) return;
      for (int i = 0; i < 6; ++i) free.push_back(blocks.emplace_back(new CaptureBlock(8, format.payload)).get());
      assembler = std::make_unique<Assembler>(
          AssemblerOptions{.streams = 2, .slots = 4, .payload = format.payload, .window = 6, .longest_gap = 100},
          [&]() -> CaptureBlock* {
            if (free.empty()) return nullptr;
            CaptureBlock* block = free.back();
            free.pop_back();
            return block;
          },
          [&](std::uint64_t, std::size_t counters, CaptureBlock* block) {
            slots += 2 * counters;
            if (block != nullptr) free.push_back(block);
          });
    }
    ++packets;
    PacketPlace place;
    if (format.locate(packet, packet.size(), place) != nullptr) {
      assembler->take_damaged();
    } else {
      if (place.begin + place.bytes > packet.size() || place.bytes != format.payload) __builtin_trap();
      assembler->take(place, packet.data() + place.begin, 1 + packets % 7 / 6);
    }
  }
  if (!assembler) return;
  assembler->finish();
  const CaptureCounts& counts = assembler->counts();
  if (counts.received() != packets || counts.delivered + counts.lost != slots) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  if (size < 2) return 0;
  const char* const known[] = {"counter", "vdif", "spead"};
  const std::size_t which = data[0] % 4;
  const std::uint8_t* from = data + 1;
  const std::uint8_t* const end = data + size;
  return fuzz::attempt([&] {
    io::PacketFormat format;
    if (which < 3) {
      format = io::packet_format(known[which]);
    } else {
      const std::uint8_t* zero = std::find(from, end, std::uint8_t{0});
      const fuzz::MemoryFile file(fuzz::text_of(from, static_cast<std::size_t>(zero - from)));
      format = io::packet_format(file.name());
      from = zero == end ? end : zero + 1;
    }
    if (format.kind == io::PacketKind::vdif && format.per_second == 0) format.per_second = 100;
    assemble(format, {reinterpret_cast<const std::byte*>(from), static_cast<std::size_t>(end - from)});
  });
}
