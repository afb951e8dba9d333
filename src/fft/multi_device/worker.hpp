// One device's worker in a hybrid plan: computes transforms [first, first + count) of a batch in host memory.
#pragma once
#include <cstddef>
#include <memory>

#include <ridge/fft.hpp>
#include <ridge/fft/hybrid.hpp>

#include "fft/layout.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {

// Host cores of a worker: to transform, to copy, or only to wait for its device.
struct Cores {
  std::size_t first = 0, count = 1;
};

class Worker {
 public:
  virtual ~Worker() = default;
  virtual std::size_t grain() const { return 1; }  // a share that is a multiple of this needs one plan only
  virtual void assign(std::size_t count, const Cores& cores) = 0;  // before run(); may plan and allocate
  // in and out are the arrays of the whole batch; the worker's transforms begin at `first`.
  virtual void run(Direction direction, const std::byte* in, std::byte* out, std::size_t first) const = 0;
};

template <class T>
std::unique_ptr<Worker> host_worker(const Device& device, const Problem& problem, const HybridOptions& options);
// Splits the batch into blocks over several queues, so that upload, transform and download overlap. From pageable
// memory every core of the worker copies blocks through its own pinned memory; from pinned memory one core is enough.
template <class T>
std::unique_ptr<Worker> device_worker(const Device& device, const Problem& problem, const HybridOptions& options);

// True if a worker of this device copies through pinned memory and so benefits from more cores.
bool copies_through_staging(const Device& device, const HybridOptions& options);

// Bytes between consecutive transforms of the batch.
struct BatchBytes {
  std::size_t in = 0, out = 0;
};
template <class T>
BatchBytes batch_bytes(const Problem& problem, Direction direction);

}  // namespace ridge::fft
