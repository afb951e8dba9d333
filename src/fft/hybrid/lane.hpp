// A device's lane of a hybrid plan: transforms [first, first + count) of a batch in host memory.
#pragma once
#include <cstddef>
#include <memory>

#include <ridge/fft.hpp>

#include "fft/kernel.hpp"
#include "fft/layout.hpp"

namespace ridge::fft {

class Lane {
 public:
  virtual ~Lane() = default;
  virtual void assign(std::size_t count) = 0;  // before run(); may plan and allocate
  // The arrays of the whole batch; the lane's transforms begin at `first`.
  virtual void run(Direction direction, const std::byte* in, std::byte* out, std::size_t first) const = 0;
};

template <class T>
std::unique_ptr<Lane> host_lane(const Device& device, const Problem& problem, const planner::Options& planning);
// In pieces over three queues, so that the way there, the work and the way back run side by side.
template <class T>
std::unique_ptr<Lane> device_lane(const Device& device, const Problem& problem, const planner::Options& planning);

// Bytes from a transform of the batch to the next.
struct BatchBytes {
  std::size_t in = 0, out = 0;
};
template <class T>
BatchBytes batch_bytes(const Problem& problem, Direction direction);

}  // namespace ridge::fft
