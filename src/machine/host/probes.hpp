// Measures the host's ceilings.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/machine.hpp>

#include "base/aligned.hpp"
#include "machine/host/caches.hpp"

namespace ridge::machine {

// A block of memory per thread, first touched by that thread. A copy reads one half of the block and writes the other.
class HostPieces {
 public:
  HostPieces(std::size_t threads, std::size_t bytes_per_thread);
  std::size_t threads() const { return threads_; }
  std::size_t half() const { return half_; }  // bytes that a copy moves per thread
  std::byte* from(std::size_t thread) { return memory_.data() + thread * stride_; }
  // Half a page of extra offset, so that loads and stores of a copy never have the same address modulo the page size.
  std::byte* to(std::size_t thread) { return from(thread) + half_ + 2048; }

 private:
  std::size_t threads_, half_, stride_;
  base::AlignedArray<std::byte> memory_;
};

// Best of several methods each: vector loops and the C library's functions. `copy` is the best of plain and streaming
// copies if `best_of_all` (main memory), else of plain copies. Takes about `seconds`.
Bandwidth host_bandwidth(HostPieces& pieces, bool best_of_all, double seconds);

double host_copy_bandwidth(HostPieces& pieces, double seconds);  // measures only the copies
double host_flops_float(std::size_t threads, double seconds);
double host_flops_double(std::size_t threads, double seconds);
double host_launch_seconds(double seconds);

// Bytes of the main-memory probe for all threads together: at least 4 times the last-level cache within 256 MiB to 1
// GiB, at most a quarter of the free memory, less for a quick measurement.
std::size_t host_memory_probe_bytes(const std::vector<Cache>& caches, bool quick);

// Measures one level of the hierarchy (nullptr: main memory). Fills name, capacity and both bandwidths.
Level host_level(const Cache* cache, const std::vector<Cache>& caches, bool quick, double seconds);

}  // namespace ridge::machine
