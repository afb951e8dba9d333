// One batch divided among several devices that run concurrently, so that all finish at the same time.
//
//   auto both = ridge::fft::plan<float>({ridge::host(), ridge::device("cuda:0")}, {.shape = {16384}, .batch = 1024});
//   both.forward(in, out);
//   std::cout << both.explain();
//
// Rates are measured while all devices run, because they share memory. A device that does not shorten the run gets no
// transforms.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/fft.hpp>

namespace ridge::fft {

// Kind of the caller's memory. Devices access pinned memory (a mapped Buffer of MemoryKind::pinned) by DMA; pageable
// memory is staged through pinned memory by some host cores. Rates are measured in this kind of memory.
enum class CallersMemory { pageable, pinned };

struct HybridOptions {
  CallersMemory memory = CallersMemory::pageable;
  std::size_t cores = 0;        // maximum host cores for transforming, copying and waiting; 0: all
  std::size_t units = 0;        // maximum concurrent transforms on a device, one per compute unit; 0: as many as fit
  bool pin = true;              // pin copying threads to their cores
  std::size_t piece_bytes = 0;  // approximate size of one transfer to a device; 0: chosen
  double seconds = 1;           // approximate time for measuring
  planner::Options planning = {.effort = Effort::quick};
};

struct HybridShare {
  std::string device;
  std::size_t transforms = 0;
  std::size_t cores = 0;     // host cores that work for this device
  double seconds = 0;        // for its share, while the other devices run
  double alone_seconds = 0;  // for the whole batch on this device alone, with all cores it can use
  double rate = 0;           // transforms per second, measured while the other devices ran continuously
};

// Out-of-place transforms of packed data in host memory. Concurrent runs are serialized.
template <class T>
class HybridPlan {
 public:
  using Complex = std::complex<T>;

  // Each device may appear once.
  HybridPlan(const std::vector<Device>& devices, const Problem& problem, const HybridOptions& options = {});
  void forward(std::span<const Complex> in, std::span<Complex> out) const;
  void inverse(std::span<const Complex> in, std::span<Complex> out) const;
  void forward(std::span<const T> in, std::span<Complex> out) const;  // real plans
  void inverse(std::span<const Complex> in, std::span<T> out) const;

  const Problem& problem() const;
  const std::vector<Device>& devices() const;
  double flops() const;  // as counted by Plan
  double bytes() const;
  const std::vector<HybridShare>& shares() const;
  double seconds() const;        // of the batch with these shares: the median of several runs
  double best_seconds() const;   // the fastest of these runs
  double ideal_seconds() const;  // the batch at the sum of the concurrently measured rates
  std::string explain() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

template <class T>
HybridPlan<T> plan(const std::vector<Device>& devices, const Problem& problem, const HybridOptions& options = {}) {
  return HybridPlan<T>(devices, problem, options);
}

}  // namespace ridge::fft
