// The host's ceilings.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/machine.hpp>

#include "base/aligned.hpp"
#include "machine/host_caches.hpp"

namespace ridge::machine {

// A piece of memory for each thread, first touched by it. Half of a piece is read and half is written by a copy.
class HostPieces {
 public:
  HostPieces(std::size_t threads, std::size_t bytes_a_thread);
  std::size_t threads() const { return threads_; }
  std::size_t half() const { return half_; }  // bytes a copy of one thread moves
  std::byte* from(std::size_t thread) { return memory_.data() + thread * stride_; }
  // Half a page further on, so that loads and stores of a copy never meet at the same address modulo the page.
  std::byte* to(std::size_t thread) { return from(thread) + half_ + 2048; }

 private:
  std::size_t threads_, half_, stride_;
  base::AlignedArray<std::byte> memory_;
};

// Best of several ways each: vector loops and the C library's; `copy` is the best of plain and streaming copies where
// `best_of_all`, as fits main memory, and of the plain ones else. About `seconds` in all.
Bandwidth host_bandwidth(HostPieces& pieces, bool best_of_all, double seconds);

double host_copy_bandwidth(HostPieces& pieces, double seconds);  // only the copies of the above
double host_flops_float(std::size_t threads, double seconds);
double host_flops_double(std::size_t threads, double seconds);
double host_launch_seconds(double seconds);

// Bytes of the main-memory probe for all threads together: at least 4 times the last cache level within 256 MiB to 1
// GiB, a quarter of the free memory at most, less where there is little time.
std::size_t host_memory_probe_bytes(const std::vector<Cache>& caches, bool glance);

// One level of the hierarchy; nullptr is main memory. Fills name, capacity and both bandwidths.
Level host_level(const Cache* cache, const std::vector<Cache>& caches, bool glance, double seconds);

}  // namespace ridge::machine
