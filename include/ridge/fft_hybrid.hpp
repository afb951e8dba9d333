// One batch over several devices at once: each takes the share that lets all of them finish together.
//
//   auto both = ridge::fft::HybridPlan<float>({ridge::host(), ridge::device("cuda:0")}, {.shape = {16384}, .batch =
//   1024}); both.forward(in, out); std::cout << both.explain();
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

// Where the caller's data lies. Pinned memory (a Buffer of MemoryKind::pinned, mapped) travels faster and without help
// from the processor; rates are measured in memory of this kind.
enum class CallersMemory { pageable, pinned };

struct HybridOptions {
  CallersMemory memory = CallersMemory::pageable;
  double seconds = 1;  // measuring may take about this long
  planner::Options planning = {.effort = Effort::quick};
};

struct HybridShare {
  std::string device;
  std::size_t transforms = 0;
  double seconds = 0;        // of its share, with the others running
  double alone_seconds = 0;  // of the whole batch, by itself
};

// Out of place, data in host memory. Runs take turns.
template <class T>
class HybridPlan {
 public:
  using Complex = std::complex<T>;

  // Each device once; the problem's threads are the cores the host may use.
  HybridPlan(const std::vector<Device>& devices, const Problem& problem, const HybridOptions& options = {});
  void forward(std::span<const Complex> in, std::span<Complex> out) const;
  void inverse(std::span<const Complex> in, std::span<Complex> out) const;
  void forward(std::span<const T> in, std::span<Complex> out) const;  // real plans
  void inverse(std::span<const Complex> in, std::span<T> out) const;

  const std::vector<HybridShare>& shares() const;
  double seconds() const;        // of the batch, measured with these shares
  double ideal_seconds() const;  // with the sum of the rates measured together
  std::string explain() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ridge::fft
