// A device's worker of a hybrid plan: transforms [first, first + count) of a batch in host memory.
#pragma once
#include <cstddef>
#include <memory>

#include <ridge/fft.hpp>
#include <ridge/fft/hybrid.hpp>

#include "fft/layout.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {

// The host's cores that a worker may use: to transform, to copy, or only to wait for its device.
struct Cores {
  std::size_t first = 0, count = 1;
};

class Worker {
 public:
  virtual ~Worker() = default;
  virtual std::size_t grain() const { return 1; }  // shares of a multiple of this many transforms need one plan
  virtual void assign(std::size_t count, const Cores& cores) = 0;  // before run(); may plan and allocate
  // The arrays of the whole batch; the worker's transforms begin at `first`.
  virtual void run(Direction direction, const std::byte* in, std::byte* out, std::size_t first) const = 0;
};

template <class T>
std::unique_ptr<Worker> host_worker(const Device& device, const Problem& problem, const HybridOptions& options);
// In pieces over several queues, so that the way there, the work and the way back run side by side. Out of pageable
// memory every core of the worker copies pieces through pinned memory of its own; pinned memory needs one core.
template <class T>
std::unique_ptr<Worker> device_worker(const Device& device, const Problem& problem, const HybridOptions& options);

// Whether a worker of this device has something to copy for its cores.
bool copies_through_staging(const Device& device, const HybridOptions& options);

// Bytes from a transform of the batch to the next.
struct BatchBytes {
  std::size_t in = 0, out = 0;
};
template <class T>
BatchBytes batch_bytes(const Problem& problem, Direction direction);

}  // namespace ridge::fft
