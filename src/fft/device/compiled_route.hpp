// A compiled route: its kernels and its arrays.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fft/device/route.hpp"

namespace ridge::fft::on_device {

class CompiledRoute {
 public:
  CompiledRoute(const Device& device, const Route& route, bool float64);

  // Calls from several threads are serialized if they share arrays. Offsets count elements of each side and must keep
  // 16-byte accesses aligned.
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out, std::uint64_t in_offset = 0,
               std::uint64_t out_offset = 0) const;
  const Route& route() const { return route_; }
  std::string describe() const;  // "16*16*16, 256 work-items, 40 registers"

 private:
  struct Stage {
    std::unique_ptr<const CompiledStep> step;
    Place from, to;
    std::uint64_t lines, from_stride, to_stride;
  };
  const Buffer& at(Place place, const Buffer& in, const Buffer& out) const;

  Route route_;
  std::vector<Stage> stages_;
  std::uint64_t at_once_ = 1;
  bool writes_own_arrays_ = false;
  Buffer scratch_, work_, spare_;
  // Last user of the arrays, which another queue must wait for. An event is recorded only then: one per call makes
  // short calls slower. Streams of other libraries may be destroyed before that, so their event is recorded at once.
  mutable std::mutex mutex_;
  mutable std::optional<Queue> last_queue_;
  mutable Event last_;
};

}  // namespace ridge::fft::on_device
