// UDP sockets for packet capture: many packets per system call, and the kernel's own count of losses.
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ridge::io {

// "udp://127.0.0.1:4001" or "127.0.0.1:4001".
struct UdpAddress {
  sockaddr_in socket{};
  std::string text() const;
  bool is_loopback() const;
};
UdpAddress udp_address(const std::string& text);

class UdpSocket {
 public:
  // Receives at the address (a multicast group is joined). `buffer`: bytes that the kernel should hold.
  UdpSocket(const UdpAddress& address, std::size_t buffer);
  UdpSocket();  // for sending
  ~UdpSocket();
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  // Receives up to messages.size() packets; waits at most 0.1 s for the first. Returns their number.
  std::size_t receive(std::span<mmsghdr> messages);
  // Copies the next packet without removing it; 0 after 0.1 s. `to` should hold kMostPacket bytes.
  std::size_t peek(std::span<std::byte> to);
  // Sends all messages, waiting as the kernel asks.
  void send(std::span<mmsghdr> messages);
  // Packets that the kernel or the card has joined arrive as one message; see segment_bytes(). False: not supported.
  bool coalesce();
  int descriptor() const { return descriptor_; }
  std::size_t buffer() const { return buffer_; }         // bytes that the kernel granted
  std::uint64_t kernel_drops() const { return drops_; }  // packets that found the buffer full

 private:
  int descriptor_ = -1;
  std::size_t buffer_ = 0;
  std::uint64_t drops_ = 0;
};

// Lets the kernel divide a message to be sent into packets of `bytes` bytes. `control` is its ancillary data.
void set_segment_bytes(msghdr& message, std::span<char> control, std::size_t bytes);

// Bytes per packet of a received message that holds several; 0: it holds one.
std::size_t segment_bytes(msghdr& message);

// Address and port as one number, never 0.
std::uint64_t sender_of(const sockaddr_in& from);

}  // namespace ridge::io
