// One batch over several devices at once: each takes the share that lets all of them finish together.
//
//   auto both = ridge::fft::plan<float>({ridge::host(), ridge::device("cuda:0")}, {.shape = {16384}, .batch = 1024});
//   both.forward(in, out);
//   std::cout << both.explain();
//
// Rates are measured while all devices run, because they share memory; a device that does not pay gets nothing.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/fft.hpp>

namespace ridge::fft {

// Where the caller's data lies. Pinned memory (a Buffer of MemoryKind::pinned, mapped) travels by itself; pageable
// memory is copied through pinned memory by some of the host's cores. Rates are measured in memory of this kind.
enum class CallersMemory { pageable, pinned };

struct HybridOptions {
  CallersMemory memory = CallersMemory::pageable;
  std::size_t cores = 0;        // of the host, at most, for everything: transforming, copying, waiting; 0: all
  std::size_t units = 0;        // transforms at once on a device, at most: one a compute unit; 0: as many as fit
  bool pin = true;              // threads that copy stay on their cores
  std::size_t piece_bytes = 0;  // what travels to a device at a time, about; 0: chosen
  double seconds = 1;           // measuring may take about this long
  planner::Options planning = {.effort = Effort::quick};
};

struct HybridShare {
  std::string device;
  std::size_t transforms = 0;
  std::size_t cores = 0;     // of the host that work for this device
  double seconds = 0;        // of its share, with the others running
  double alone_seconds = 0;  // of the whole batch, by itself, with all cores it can use
  double rate = 0;           // transforms a second, measured while the others ran without a pause
};

// Out of place, data in host memory, transforms one after the other without gaps. Runs take turns.
template <class T>
class HybridPlan {
 public:
  using Complex = std::complex<T>;

  // Each device once.
  HybridPlan(const std::vector<Device>& devices, const Problem& problem, const HybridOptions& options = {});
  void forward(std::span<const Complex> in, std::span<Complex> out) const;
  void inverse(std::span<const Complex> in, std::span<Complex> out) const;
  void forward(std::span<const T> in, std::span<Complex> out) const;  // real plans
  void inverse(std::span<const Complex> in, std::span<T> out) const;

  const Problem& problem() const;
  const std::vector<Device>& devices() const;
  double flops() const;  // as Plan counts them
  double bytes() const;
  const std::vector<HybridShare>& shares() const;
  double seconds() const;        // of the batch with these shares, the median of several runs
  double best_seconds() const;   // and their best
  double ideal_seconds() const;  // the batch at the sum of the rates measured together
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
