// Captures packets into a stream: receives, orders and writes them, and reports every loss.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "io/capture/assembler.hpp"
#include "io/capture/packet_format.hpp"
#include "io/capture/udp.hpp"
#include "io/telescopes/start_time.hpp"
#include "io/telescopes/stream.hpp"

namespace ridge::io {

struct CaptureOptions {
  PacketFormat format{};
  std::size_t streams = 1;
  std::size_t slots = 0;  // counters per block; 0: blocks of about 4 MiB
  std::uint64_t window = 256, longest_gap = std::uint64_t{1} << 20;
  std::size_t memory = std::size_t{256} << 20;
  double seconds = 0;         // 0: no limit
  std::uint64_t packets = 0;  // received packets; 0: no limit
  double idle = 10;           // seconds without a packet after which the capture ends
  bool ring = false;          // receive from a packet ring (AF_PACKET) instead of a socket
};

// Runs of lost slots, contiguous in the output.
struct LostRun {
  std::uint64_t byte = 0, bytes = 0;  // of the samples written
  std::uint64_t counter = 0;          // of the first slot
  std::uint32_t stream = 0;
};

struct CaptureReport {
  CaptureCounts counts{};
  std::uint64_t first = 0, last = 0;          // counters
  std::uint64_t kernel_drops = 0, bytes = 0;  // bytes received, headers included
  std::uint64_t written = 0;                  // bytes of complete blocks in the output
  std::uint64_t dropped_blocks = 0;           // received while all memory was waiting for the output
  std::size_t buffer = 0;                     // of the kernel
  double seconds = 0, processor_seconds = 0;  // of the receiving thread
  StartTime start{};                          // arrival of the first packet; VDIF: its own time
  std::string ended{};                        // reason why it ended before its limits, or empty
};

class Capture {
 public:
  Capture(const UdpAddress& address, std::size_t buffer, const CaptureOptions& options);
  ~Capture();
  // Waits for the first packet, which completes the format. False if none arrived in time.
  bool begin();
  const PacketFormat& format() const;
  StartTime start() const;
  // Receives until a limit is reached, `stop` is set or the output fails (Error{io}, after report() is complete).
  // `lost` gets each run of lost slots, `shows` the report about twice per second.
  void run(OutputStream& out, const std::atomic<bool>& stop, const std::function<void(const LostRun&)>& lost,
           const std::function<void(const CaptureReport&)>& shows);
  const CaptureReport& report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

StartTime utc_now();

}  // namespace ridge::io
