// A decided tensor transform: steps from the caller's input over work memory to the caller's output.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <ridge/fft/tensor.hpp>

#include "fft/host/scratch.hpp"
#include "plan/shared_decisions.hpp"

namespace ridge::fft {

// Where a step reads and writes. Work memory lies in the run's scratch.
enum class Slot { input, output, work };

// The arrays of one run; a split side has its imaginary parts apart.
struct TensorArrays {
  const void* input = nullptr;
  const void* input_imaginary = nullptr;
  void* output = nullptr;
  void* output_imaginary = nullptr;
};

// A whole run as one plain call, for transforms that last as long as a lock.
struct DirectCall {
  void (*run)(const void* object, const void* in, void* out) = nullptr;
  const void* object = nullptr;
};

// One pass over memory. Immutable; many threads may run it.
template <class T>
class TensorStep {
 public:
  virtual ~TensorStep() = default;
  virtual std::string describe() const = 0;
  virtual double flops() const = 0;
  virtual std::size_t scratch() const = 0;  // complex elements for each thread
  virtual void run(const TensorArrays& arrays, Scratch<T>& scratch, std::size_t threads) const = 0;
  // Where the step is all there is to do, from the input to the output, and needs nothing of the tensor.
  virtual DirectCall direct() const { return {}; }
};

template <class T>
class Tensor {
 public:
  Tensor(const Device& device, const TensorProblem& problem, const planner::Options& options);
  void run(const TensorArrays& arrays) const;
  // Neither side is split.
  void run(const void* in, void* out) const {
    direct_.run != nullptr ? direct_.run(direct_.object, in, out) : run({.input = in, .output = out});
  }
  const TensorProblem& problem() const { return problem_; }
  const Device& device() const { return device_; }
  const std::vector<planner::Decision>& decisions() const { return decisions_.all(); }
  double flops() const;
  double done_flops() const;
  double bytes() const;
  std::string explain() const;

 private:
  Device device_;
  TensorProblem problem_;
  std::size_t threads_;
  std::vector<std::unique_ptr<TensorStep<T>>> steps_;
  planner::SharedDecisions decisions_;
  std::unique_ptr<ScratchPool<T>> pool_;  // none where no step needs scratch
  mutable Scratch<T> no_scratch_;
  DirectCall direct_;
};

}  // namespace ridge::fft
