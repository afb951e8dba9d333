// Opens UDP sockets, receives and sends batches, and reads the kernel's count of losses.
#include "io/capture/udp.hpp"

#include <arpa/inet.h>
#include <netinet/udp.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::io {
namespace {

[[noreturn]] void fail_socket(const std::string& what) {
  throw Error(ErrorKind::io, fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

}  // namespace

UdpAddress udp_address(const std::string& text) {
  const std::string plain = text.starts_with("udp://") ? text.substr(6) : text;
  const auto colon = plain.rfind(':');
  UdpAddress address;
  address.socket.sin_family = AF_INET;
  unsigned port = 0;
  const char* end = plain.data() + plain.size();
  const bool number = colon != std::string::npos && std::from_chars(plain.data() + colon + 1, end, port).ptr == end &&
                      port > 0 && port < 65536;
  if (!number || inet_pton(AF_INET, plain.substr(0, colon).c_str(), &address.socket.sin_addr) != 1) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}: needs an IPv4 address and a port, as in udp://127.0.0.1:4001", text));
  }
  address.socket.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

std::string UdpAddress::text() const {
  char name[INET_ADDRSTRLEN] = {};
  inet_ntop(AF_INET, &socket.sin_addr, name, sizeof name);
  return fmt::format("{}:{}", name, ntohs(socket.sin_port));
}

bool UdpAddress::is_loopback() const { return ntohl(socket.sin_addr.s_addr) >> 24 == 127; }

std::uint64_t sender_of(const sockaddr_in& from) {
  return std::uint64_t{from.sin_addr.s_addr} << 17 | std::uint64_t{from.sin_port} << 1 | 1;
}

UdpSocket::UdpSocket() : descriptor_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  if (descriptor_ < 0) fail_socket("cannot open a UDP socket");
}

UdpSocket::UdpSocket(const UdpAddress& address, std::size_t buffer) : UdpSocket() {
  const int bytes = static_cast<int>(buffer), on = 1;
  if (::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  int granted = 0;
  socklen_t length = sizeof granted;
  ::getsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &granted, &length);
  buffer_ = static_cast<std::size_t>(granted) / 2;  // the kernel doubles the request for its own use
  ::setsockopt(descriptor_, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
  const timeval patience{0, 100000};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address.socket), sizeof address.socket) != 0)
    fail_socket(fmt::format("cannot receive at {}", address.text()));
  if (IN_MULTICAST(ntohl(address.socket.sin_addr.s_addr))) {
    const ip_mreq group{address.socket.sin_addr, {}};
    if (::setsockopt(descriptor_, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group) != 0)
      fail_socket(fmt::format("cannot join the multicast group {}", address.text()));
  }
}

UdpSocket::~UdpSocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t UdpSocket::receive(std::span<mmsghdr> messages) {
  const int got =
      ::recvmmsg(descriptor_, messages.data(), static_cast<unsigned>(messages.size()), MSG_WAITFORONE, nullptr);
  if (got < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
    fail_socket("cannot receive packets");
  }
  msghdr& last = messages[static_cast<std::size_t>(got) - 1].msg_hdr;
  for (cmsghdr* one = CMSG_FIRSTHDR(&last); one != nullptr; one = CMSG_NXTHDR(&last, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SO_RXQ_OVFL) continue;
    std::uint32_t drops = 0;
    std::memcpy(&drops, CMSG_DATA(one), sizeof drops);
    drops_ += static_cast<std::uint32_t>(drops - static_cast<std::uint32_t>(drops_));
  }
  return static_cast<std::size_t>(got);
}

bool UdpSocket::coalesce() {
  const int on = 1;
  return ::setsockopt(descriptor_, IPPROTO_UDP, UDP_GRO, &on, sizeof on) == 0;
}

void set_segment_bytes(msghdr& message, std::span<char> control, std::size_t bytes) {
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(sizeof(std::uint16_t));
  cmsghdr* one = CMSG_FIRSTHDR(&message);
  one->cmsg_level = IPPROTO_UDP;
  one->cmsg_type = UDP_SEGMENT;
  one->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
  const auto each = static_cast<std::uint16_t>(bytes);
  std::memcpy(CMSG_DATA(one), &each, sizeof each);
}

std::size_t segment_bytes(msghdr& message) {
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != IPPROTO_UDP || one->cmsg_type != UDP_GRO) continue;
    int bytes = 0;
    std::memcpy(&bytes, CMSG_DATA(one), sizeof bytes);
    return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
  }
  return 0;
}

std::size_t UdpSocket::peek(std::span<std::byte> to) {
  iovec part{to.data(), to.size()};
  std::array<char, 64> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(descriptor_, &message, MSG_PEEK);
  if (got >= 0) {
    const std::size_t each = segment_bytes(message);
    return each > 0 ? std::min(each, static_cast<std::size_t>(got)) : static_cast<std::size_t>(got);
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
  fail_socket("cannot receive packets");
}

void UdpSocket::send(std::span<mmsghdr> messages) {
  while (!messages.empty()) {
    const int sent = ::sendmmsg(descriptor_, messages.data(), static_cast<unsigned>(messages.size()), 0);
    if (sent < 0 && (errno == EINTR || errno == ENOBUFS || errno == ECONNREFUSED)) continue;
    if (sent < 0) fail_socket("cannot send packets");
    messages = messages.subspan(static_cast<std::size_t>(sent));
  }
}

}  // namespace ridge::io
