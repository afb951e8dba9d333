// Reads stream and counter from packets of each format, and parses descriptions of formats.
#include "io/capture/packet_format.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "io/telescopes/stream.hpp"
#include "io/telescopes/vdif.hpp"

namespace ridge::io {
namespace {

constexpr std::uint32_t kHeapSize = 2, kHeapOffset = 3, kPayloadBytes = 4;  // SPEAD items

std::uint64_t get(std::span<const std::byte> from, const PacketField& field) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < field.bytes; ++i) {
    const std::size_t at = field.big_endian ? i : field.bytes - 1 - i;
    value = value << 8 | std::to_integer<std::uint64_t>(from[field.offset + at]);
  }
  return value;
}

void put(std::span<std::byte> to, const PacketField& field, std::uint64_t value) {
  for (std::size_t i = 0; i < field.bytes; ++i, value >>= 8) {
    const std::size_t at = field.big_endian ? field.bytes - 1 - i : i;
    to[field.offset + at] = static_cast<std::byte>(value);
  }
}

std::uint32_t word(std::span<const std::byte> from, std::size_t index) {
  return static_cast<std::uint32_t>(get(from, {4 * index, 4, false}));
}

VdifHeader vdif_fields(std::span<const std::byte> front) {
  VdifHeader h;
  const std::uint32_t w0 = word(front, 0), w1 = word(front, 1), w2 = word(front, 2), w3 = word(front, 3);
  h.invalid = w0 >> 31 != 0;
  h.legacy = (w0 >> 30 & 1) != 0;
  h.seconds = w0 & 0x3fffffff;
  h.epoch = w1 >> 24 & 0x3f;
  h.frame = w1 & 0xffffff;
  h.channels_log2 = w2 >> 24 & 31;
  h.frame_bytes = (w2 & 0xffffff) * 8;
  h.is_complex = w3 >> 31 != 0;
  h.bits = (w3 >> 26 & 31) + 1;
  h.thread = w3 >> 16 & 0x3ff;
  if (!h.legacy && front.size() >= 32) {
    const std::uint32_t w4 = word(front, 4);
    h.extended = w4 >> 24;
    if (h.extended == 1 || h.extended == 3) h.sample_rate = (w4 & 0x7fffff) * ((w4 >> 23 & 1) != 0 ? 1e6 : 1e3);
  }
  return h;
}

// The items of a SPEAD packet (64-bit pointers with 48-bit values) that place it.
struct SpeadItems {
  std::size_t header = 0;
  std::uint64_t counter = 0, stream = 0, heap_size = 0, offset = 0, payload = 0;
  bool complete = false;
};

const char* spead_items(const PacketFormat& format, std::span<const std::byte> front, SpeadItems& items) {
  if (front.size() < 8 || get(front, {0, 2, true}) != 0x5304 || get(front, {2, 2, true}) != 0x0206)
    return "not a SPEAD packet of 64-bit items with 48-bit addresses";
  const auto count = static_cast<std::size_t>(get(front, {6, 2, true}));
  items.header = 8 + 8 * count;
  if (items.header > front.size()) return "the SPEAD header is longer than expected";
  unsigned seen = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t item = get(front, {8 + 8 * i, 8, true}), value = item & ((std::uint64_t{1} << 48) - 1);
    const auto id = static_cast<std::uint32_t>(item >> 48 & 0x7fff);
    if (id == format.counter_item) items.counter = value, seen |= 1;
    if (id == kHeapSize) items.heap_size = value, seen |= 2;
    if (id == kHeapOffset) items.offset = value, seen |= 4;
    if (id == kPayloadBytes) items.payload = value, seen |= 8;
    if (format.stream_item != 0 && id == format.stream_item) items.stream = value, seen |= 16;
  }
  items.complete = seen == (format.stream_item != 0 ? 31U : 15U);
  return items.complete ? nullptr : "an item that places the SPEAD packet is missing";
}

[[noreturn]] void refuse_format(const std::string& name, std::size_t line, const std::string& what) {
  throw Error(ErrorKind::invalid_argument, fmt::format("--format {}: line {}: {}", name, line, what));
}

std::uint64_t format_number(const std::string& name, std::size_t line, const std::string& text) {
  const bool hex = text.starts_with("0x");
  std::uint64_t value = 0;
  const char* begin = text.data() + (hex ? 2 : 0);
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(begin, end, value, hex ? 16 : 10);
  if (error != std::errc() || at != end || begin == end)
    refuse_format(name, line, fmt::format("\"{}\" is not a whole number", text));
  return value;
}

void take_line(PacketFormat& format, const std::string& name, std::size_t line, const std::vector<std::string>& words) {
  const auto number = [&](std::size_t i) {
    if (i >= words.size()) refuse_format(name, line, fmt::format("\"{}\" needs {} more values", words[0], i));
    return format_number(name, line, words[i]);
  };
  const auto field = [&] {
    const PacketField got{number(1), number(2), words.size() > 3 && words[3] == "big"};
    if (got.bytes == 0 || got.bytes > 8 || got.offset > kMostPacketHeader - 8 ||
        (words.size() > 3 && words[3] != "big" && words[3] != "little"))
      refuse_format(name, line, "needs OFFSET, BYTES (1 to 8) and little or big");
    return got;
  };
  const std::string& key = words[0];
  if (key == "kind" && words.size() == 2 && (words[1] == "counter" || words[1] == "vdif" || words[1] == "spead")) {
    format.kind = words[1] == "vdif" ? PacketKind::vdif : words[1] == "spead" ? PacketKind::spead : PacketKind::counter;
  } else if (key == "counter") {
    format.counter = field();
  } else if (key == "stream") {
    format.stream = field();
  } else if (key == "samples") {
    format.header = number(1);
  } else if (key == "payload") {
    format.payload = number(1);
  } else if (key == "step") {
    format.step = number(1);
  } else if (key == "per-second") {
    format.per_second = number(1);
  } else if (key == "counter-item") {
    format.counter_item = static_cast<std::uint32_t>(number(1) & 0x7fff);
  } else if (key == "stream-item") {
    format.stream_item = static_cast<std::uint32_t>(number(1) & 0x7fff);
  } else {
    refuse_format(name, line,
                  fmt::format("\"{}\": needs kind (counter, vdif, spead), counter, stream, samples, payload, step, "
                              "per-second, counter-item or stream-item",
                              key));
  }
}

}  // namespace

std::string PacketFormat::learn(std::span<const std::byte> packet) {
  if (kind == PacketKind::vdif) {
    if (packet.size() < 32) return "a VDIF frame has at least 32 bytes";
    const VdifHeader h = vdif_fields(packet);
    if (h.frame_bytes != packet.size() || h.bits > 16 || h.channels_log2 > 20)
      return fmt::format("its VDIF header gives a frame of {} bytes", h.frame_bytes);
    epoch = h.epoch;
    payload = packet.size();
    if (per_second == 0 && h.sample_rate > 0 && h.samples() > 0)
      per_second = static_cast<std::uint64_t>(h.sample_rate / static_cast<double>(h.samples()));
    return "";
  }
  if (kind == PacketKind::spead) {
    SpeadItems items;
    if (const char* reason = spead_items(*this, packet, items)) return reason;
    if (items.payload == 0 || items.heap_size == 0 || items.heap_size % items.payload != 0 ||
        items.header + items.payload != packet.size())
      return "its heap is not a whole number of payloads";
    header = items.header;
    payload = static_cast<std::size_t>(items.payload);
    heap = items.heap_size / items.payload;
    return header > kMostPacketHeader ? "its SPEAD header is longer than 1024 bytes" : "";
  }
  if (packet.size() <= header)
    return fmt::format("it has {} bytes, and the header alone has {}", packet.size(), header);
  if (payload == 0) payload = packet.size() - header;
  return packet.size() == header + payload ? ""
                                           : fmt::format("it has {} bytes, not {}", packet.size(), header + payload);
}

const char* PacketFormat::locate(std::span<const std::byte> front, std::size_t bytes, PacketPlace& place) const {
  place.begin = header;
  place.bytes = payload;
  if (kind == PacketKind::vdif) {
    if (bytes != payload || front.size() < 16) return "another length";
    const VdifHeader h = vdif_fields(front);
    if (h.frame_bytes != payload || h.epoch != epoch || (per_second > 0 && h.frame >= per_second))
      return "a VDIF header that contradicts the first one";
    place.counter = h.seconds * per_second + h.frame;
    place.stream = h.thread;
    return nullptr;
  }
  if (kind == PacketKind::spead) {
    SpeadItems items;
    if (const char* reason = spead_items(*this, front, items)) return reason;
    if (items.payload != payload || items.heap_size != heap * payload || items.offset % payload != 0 ||
        items.offset >= items.heap_size || items.counter % step != 0 || items.header + payload != bytes)
      return "a SPEAD heap of another shape";
    place.begin = items.header;
    place.counter = items.counter / step * heap + items.offset / payload;
    place.stream = static_cast<std::uint32_t>(std::min<std::uint64_t>(items.stream, UINT32_MAX));
    return nullptr;
  }
  if (bytes != header + payload || front.size() < header) return "another length";
  const std::uint64_t value = get(front, counter);
  if (value % step != 0) return "a counter that is not a multiple of the step";
  place.counter = value / step;
  place.stream =
      stream.bytes == 0 ? 0 : static_cast<std::uint32_t>(std::min<std::uint64_t>(get(front, stream), UINT32_MAX));
  return nullptr;
}

void PacketFormat::write_header(std::span<std::byte> to, std::uint64_t number, std::uint32_t of_stream) const {
  if (kind == PacketKind::vdif) {
    const std::uint64_t rate = std::max<std::uint64_t>(1, per_second);
    put(to, {0, 4, false}, (word(to, 0) & 0xc0000000) | (number / rate & 0x3fffffff));
    put(to, {4, 4, false}, (word(to, 1) & 0xff000000) | (number % rate & 0xffffff));
    put(to, {12, 4, false}, (word(to, 3) & 0xfc00ffff) | (of_stream & 0x3ff) << 16);
    return;
  }
  std::fill(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(header), std::byte{0});
  if (kind == PacketKind::counter) {
    put(to, counter, number * step);
    if (stream.bytes > 0) put(to, stream, of_stream);
    return;
  }
  const std::uint64_t items[][2] = {{counter_item, number / heap * step},
                                    {kHeapSize, heap * payload},
                                    {kHeapOffset, number % heap * payload},
                                    {kPayloadBytes, payload},
                                    {stream_item, of_stream}};
  const std::size_t count = stream_item != 0 ? 5 : 4;
  put(to, {0, 4, true}, 0x53040206);
  put(to, {6, 2, true}, count);
  for (std::size_t i = 0; i < count; ++i)
    put(to, {8 + 8 * i, 8, true}, std::uint64_t{1} << 63 | items[i][0] << 48 | items[i][1]);
}

void PacketFormat::fill_lost(std::span<std::byte> slot, std::span<const std::byte> model, std::uint64_t number,
                             std::uint32_t of_stream) const {
  std::fill(slot.begin(), slot.end(), std::byte{0});
  if (kind != PacketKind::vdif) return;
  std::copy_n(model.begin(), std::min<std::size_t>(32, model.size()), slot.begin());
  write_header(slot, number, of_stream);
  put(slot, {0, 4, false}, word(slot, 0) | std::uint64_t{1} << 31);
}

PacketFormat packet_format(const std::string& name) {
  PacketFormat format;
  if (name == "counter") return format;
  if (name == "vdif" || name == "spead") {
    format.kind = name == "vdif" ? PacketKind::vdif : PacketKind::spead;
    format.header = name == "vdif" ? 0 : 40;
    return format;
  }
  if (!std::filesystem::exists(name)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--format {}: needs counter, vdif, spead or a file that describes the packets", name));
  }
  InputStream in(name);
  std::string text(65536, '\0');
  text.resize(in.read(text.data(), text.size()));
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream parts(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string one; parts >> one;) words.push_back(one);
    if (!words.empty()) take_line(format, name, number, words);
  }
  if (format.kind == PacketKind::vdif) format.header = 0;  // frames are stored whole
  const auto beyond = [&](const PacketField& field) { return field.offset + field.bytes > format.header; };
  const bool inside = format.kind != PacketKind::counter || (!beyond(format.counter) && !beyond(format.stream));
  if (!inside || format.step == 0 || format.header > kMostPacketHeader || format.payload > kMostPacket ||
      format.header + format.payload > kMostPacket) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--format {}: needs counter and stream within the {} bytes before the samples (\"samples "
                            "OFFSET\", at most 1024), a step above 0, and packets of at most 65536 bytes",
                            name, format.header));
  }
  return format;
}

}  // namespace ridge::io
