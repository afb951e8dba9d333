// Sets up the kernel's ring of packets, filters one port, and hands over its blocks.
#include "io/capture/packet_ring.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::io {
namespace {

constexpr std::size_t kRingBlock = std::size_t{1} << 20;
constexpr unsigned kRetireMilliseconds = 10;  // a block is handed over when it is full or this old

// Interface of a local address; 0: all.
int interface_of(const UdpAddress& address) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return 0;
  unsigned found = 0;
  for (const ifaddrs* one = all; one != nullptr && found == 0; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    sockaddr_in own{};
    std::memcpy(&own, one->ifa_addr, sizeof own);
    const bool loopback = address.is_loopback() && ntohl(own.sin_addr.s_addr) >> 24 == 127;
    if (loopback || own.sin_addr.s_addr == address.socket.sin_addr.s_addr) found = ::if_nametoindex(one->ifa_name);
  }
  ::freeifaddrs(all);
  return static_cast<int>(found);
}

void set_filter(int descriptor, std::span<sock_filter> program) {
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  ::setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

// Passes unfragmented UDP packets to one port. Offsets are those of the IP header.
void filter_port(int descriptor, std::uint16_t port) {
  sock_filter program[] = {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 6),
                           BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 6),
                           BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x3fff, 4, 0),
                           BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
                           BPF_STMT(BPF_LD | BPF_H | BPF_IND, 2),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, port, 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, 0x7ffffff),
                           BPF_STMT(BPF_RET | BPF_K, 0)};
  set_filter(descriptor, program);
}

}  // namespace

PacketRing::PacketRing(const UdpAddress& address, std::size_t bytes)
    : address_(address),
      descriptor_(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0)),
      bytes_(std::max<std::size_t>(4, bytes / kRingBlock) * kRingBlock) {
  if (descriptor_ < 0) {
    throw Error(ErrorKind::unavailable,
                fmt::format("--method ring needs the privilege CAP_NET_RAW ({}): run as root, or use --method socket",
                            std::generic_category().message(errno)));
  }
  filter_port(descriptor_, ntohs(address.socket.sin_port));
  const int version = TPACKET_V3, on = 1;
  ::setsockopt(descriptor_, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
  tpacket_req3 request{};
  request.tp_block_size = kRingBlock;
  request.tp_block_nr = static_cast<unsigned>(bytes_ / kRingBlock);
  request.tp_frame_size = 2048;
  request.tp_frame_nr = static_cast<unsigned>(bytes_ / 2048);
  request.tp_retire_blk_tov = kRetireMilliseconds;
  sockaddr_ll where{};
  where.sll_family = AF_PACKET;
  where.sll_protocol = htons(ETH_P_IP);
  where.sll_ifindex = interface_of(address);
  void* memory = MAP_FAILED;
  if (::setsockopt(descriptor_, SOL_PACKET, PACKET_VERSION, &version, sizeof version) == 0 &&
      ::setsockopt(descriptor_, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) == 0)
    memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (memory == MAP_FAILED || ::bind(descriptor_, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
    const std::string reason = std::generic_category().message(errno);
    if (memory != MAP_FAILED) ::munmap(memory, bytes_);
    ::close(descriptor_);
    throw Error(ErrorKind::io, fmt::format("cannot map a packet ring of {} bytes: {}: lower --buffer", bytes_, reason));
  }
  ring_ = static_cast<std::byte*>(memory);
  try {
    silent_ = std::make_unique<UdpSocket>(address, 4096);
  } catch (...) {
    ::munmap(ring_, bytes_);
    ::close(descriptor_);
    throw;
  }
  sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
  set_filter(silent_->descriptor(), nothing);
}

PacketRing::~PacketRing() {
  ::munmap(ring_, bytes_);
  ::close(descriptor_);
}

// The next block if the kernel has handed it over, else null after 0.1 s.
tpacket_block_desc* PacketRing::wait() {
  auto* block = reinterpret_cast<tpacket_block_desc*>(ring_ + next_ * kRingBlock);
  const std::atomic_ref<std::uint32_t> status(block->hdr.bh1.block_status);
  if ((status.load(std::memory_order_acquire) & TP_STATUS_USER) == 0) {
    pollfd ready{descriptor_, POLLIN | POLLERR, 0};
    ::poll(&ready, 1, 100);
    if ((status.load(std::memory_order_acquire) & TP_STATUS_USER) == 0) return nullptr;
  }
  return block;
}

std::size_t PacketRing::walk(const tpacket_block_desc* block, const Take& take) const {
  const auto* at = reinterpret_cast<const std::byte*>(block) + block->hdr.bh1.offset_to_first_pkt;
  std::size_t taken = 0;
  for (std::uint32_t i = 0; i < block->hdr.bh1.num_pkts; ++i) {
    const auto* head = reinterpret_cast<const tpacket3_hdr*>(at);
    const std::byte* ip = at + head->tp_net;
    at += head->tp_next_offset;
    const std::size_t have = head->tp_snaplen, words = std::to_integer<std::size_t>(ip[0]) & 15;
    if (have < 4 * words + 8 || words < 5) continue;
    sockaddr_in from{};
    std::uint32_t to = 0;
    std::uint16_t length = 0;
    std::memcpy(&from.sin_addr, ip + 12, 4);
    std::memcpy(&to, ip + 16, 4);
    std::memcpy(&from.sin_port, ip + 4 * words, 2);
    std::memcpy(&length, ip + 4 * words + 4, 2);
    const std::uint32_t own = address_.socket.sin_addr.s_addr;
    if (own != INADDR_ANY && to != own) continue;
    // Segmented packets sent by this machine arrive joined; the UDP length may then count all of them.
    const std::size_t bytes = std::min<std::size_t>(have - 4 * words - 8, std::max<std::size_t>(ntohs(length), 8) - 8);
    take({ip + 4 * words + 8, bytes}, sender_of(from));
    ++taken;
  }
  return taken;
}

std::span<const std::byte> PacketRing::peek() {
  std::span<const std::byte> first;
  for (const tpacket_block_desc* block = wait(); block != nullptr && first.empty(); block = wait()) {
    walk(block, [&](std::span<const std::byte> packet, std::uint64_t) {
      if (first.empty()) first = packet;
    });
    if (first.empty()) receive([](std::span<const std::byte>, std::uint64_t) {});
  }
  return first;
}

std::size_t PacketRing::receive(const Take& take) {
  tpacket_block_desc* block = wait();
  if (block == nullptr) return 0;
  const std::size_t taken = walk(block, take);
  std::atomic_ref<std::uint32_t>(block->hdr.bh1.block_status).store(TP_STATUS_KERNEL, std::memory_order_release);
  next_ = (next_ + 1) % (bytes_ / kRingBlock);
  return taken;
}

std::uint64_t PacketRing::kernel_drops() {
  tpacket_stats_v3 statistics{};
  socklen_t length = sizeof statistics;
  if (::getsockopt(descriptor_, SOL_PACKET, PACKET_STATISTICS, &statistics, &length) == 0)
    drops_ += statistics.tp_drops;
  return drops_;
}

}  // namespace ridge::io
