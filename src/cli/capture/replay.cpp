// Divides a file into packets and sends them, with losses, copies, reordering and damage by a seed.
#include "cli/capture/replay.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "command/options.hpp"
#include "io/telescopes/stream.hpp"

namespace ridge::cli {
namespace {

using Packet = std::vector<std::byte>;

// Packets of a file in order: payloads get headers; VDIF frames are sent as they are.
class PacketFile {
 public:
  PacketFile(const std::string& name, io::PacketFormat& format, std::size_t streams, const ReplayOptions& options)
      : in_(name), format_(format), streams_(streams), options_(options) {
    if (format.kind == io::PacketKind::vdif) {
      // The first header gives the length of all frames.
      const std::string_view front = in_.peek(32);
      if (front.size() < 32) mistake(fmt::format("--replay {}: holds no VDIF frame", name));
      std::uint32_t word = 0;
      std::memcpy(&word, front.data() + 8, 4);
      format.payload = std::size_t{word & 0xffffff} * 8;
    } else {
      if (format.payload == 0) format.payload = 8192;
      if (format.kind == io::PacketKind::spead) format.header = format.stream_item != 0 ? 48 : 40;
    }
    if (format.payload < 32 || format.header + format.payload > 65507)
      mistake(fmt::format("--replay: packets of {} bytes; UDP carries 32 to 65507", format.header + format.payload));
    end_ = in_.peek(1).empty();
  }
  bool at_end() const { return end_; }
  std::uint64_t number() const { return number_; }

  // The next packet; a short last payload is filled with zeros.
  Packet next() {
    Packet packet(format_.header + format_.payload);
    const std::size_t got = in_.read(packet.data() + format_.header, format_.payload);
    end_ = got < format_.payload || in_.peek(1).empty();
    const std::uint64_t jump = options_.jump_at > 0 && number_ >= options_.jump_at ? options_.jump_by : 0;
    if (format_.kind != io::PacketKind::vdif) {
      format_.write_header(packet, number_ / streams_ + jump, static_cast<std::uint32_t>(number_ % streams_));
    } else if (jump > 0) {
      std::uint32_t word = 0;
      std::memcpy(&word, packet.data(), 4);
      word += static_cast<std::uint32_t>(jump);  // seconds
      std::memcpy(packet.data(), &word, 4);
    }
    ++number_;
    return packet;
  }

 private:
  io::InputStream in_;
  io::PacketFormat& format_;
  std::size_t streams_;
  const ReplayOptions& options_;
  std::uint64_t number_ = 0;
  bool end_ = false;
};

class PacketSender {
 public:
  PacketSender(const io::UdpAddress& to, double gigabits, bool joins)
      : to_(to), gigabits_(gigabits), begun_(base::now()), joins_(joins) {}

  void send(const Packet& packet, bool second, ReplayCounts& counts) {
    ++counts.sent;
    counts.bytes += packet.size();
    if (second) {
      flush(counts);
      batch_.push_back(packet);
      return flush(counts, true);
    }
    batch_.push_back(packet);
    if (batch_.size() == kSent) flush(counts);
  }
  void flush(const ReplayCounts& counts, bool second = false) {
    std::vector<iovec> parts(batch_.size());
    std::vector<mmsghdr> messages;
    std::vector<std::array<char, CMSG_SPACE(sizeof(std::uint16_t))>> control(batch_.size());
    // Packets of equal length are sent as one message that the kernel divides.
    for (std::size_t i = 0, end = 0; i < batch_.size(); i = end) {
      const std::size_t each = batch_[i].size(), most = std::min<std::size_t>(64, 65000 / each);
      for (end = i; end < batch_.size() && batch_[end].size() == each && (end == i || (joins_ && end - i < most));
           ++end)
        parts[end] = {batch_[end].data(), each};
      mmsghdr& message = messages.emplace_back();
      message.msg_hdr.msg_name = &to_.socket;
      message.msg_hdr.msg_namelen = sizeof to_.socket;
      message.msg_hdr.msg_iov = &parts[i];
      message.msg_hdr.msg_iovlen = end - i;
      if (end - i > 1) io::set_segment_bytes(message.msg_hdr, control[i], each);
    }
    (second ? other_ : socket_).send(messages);
    batch_.clear();
    if (gigabits_ <= 0) return;
    const double due = begun_ + 8e-9 * static_cast<double>(counts.bytes) / gigabits_;
    if (due > base::now()) std::this_thread::sleep_for(std::chrono::duration<double>(due - base::now()));
  }

 private:
  static constexpr std::size_t kSent = 32;
  io::UdpAddress to_;
  double gigabits_, begun_;
  bool joins_;
  io::UdpSocket socket_, other_;
  std::vector<Packet> batch_;
};

}  // namespace

ReplayCounts replay(const io::UdpAddress& to, io::PacketFormat format, std::size_t streams,
                    const ReplayOptions& options) {
  if (!to.is_loopback())
    mistake(fmt::format("--replay sends to loopback addresses (127.x.x.x) only, got {}", to.text()));
  PacketFile file(options.file, format, streams, options);
  if (file.at_end()) mistake(fmt::format("--replay {}: it is empty", options.file));
  PacketSender sender(to, options.rate, options.join);
  ReplayCounts counts;
  std::mt19937_64 random(options.seed);
  const auto chance = [&](double share) {
    return share > 0 && std::uniform_real_distribution<double>()(random) < share;
  };
  struct Delayed {
    std::uint64_t after;
    Packet packet;
  };
  std::vector<Delayed> delayed;
  const auto send_due = [&](bool all) {
    for (std::size_t i = 0; i < delayed.size();) {
      if (!all && delayed[i].after > file.number()) {
        ++i;
        continue;
      }
      sender.send(delayed[i].packet, false, counts);
      delayed.erase(delayed.begin() + static_cast<std::ptrdiff_t>(i));
    }
  };
  std::vector<Packet> last;  // one per stream, sent after all other packets
  while (!file.at_end()) {
    Packet packet = file.next();
    ++counts.packets;
    const bool spare = counts.packets <= streams;
    send_due(false);
    last.push_back(std::move(packet));
    if (last.size() <= streams && !spare) continue;
    packet = std::move(last.front());
    last.erase(last.begin());
    if (!spare && chance(options.loss)) {
      ++counts.lost;
      continue;
    }
    if (!spare && chance(options.reorder)) {
      ++counts.reordered;
      delayed.push_back({file.number() + 1 + random() % std::max<std::size_t>(1, options.depth), std::move(packet)});
      continue;
    }
    sender.send(packet, false, counts);
    if (chance(options.duplicate)) {
      ++counts.duplicated;
      sender.send(packet, false, counts);
    }
    if (!spare && chance(options.damage)) {
      ++counts.damaged;
      const std::size_t shorter = packet.size() - 1 - random() % 16;
      sender.send({packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(shorter)}, false, counts);
    }
    if (!spare && chance(options.second)) {
      ++counts.from_second;
      sender.send(packet, true, counts);
    }
  }
  send_due(true);
  for (const Packet& packet : last) sender.send(packet, false, counts);
  sender.flush(counts);
  return counts;
}

}  // namespace ridge::cli
