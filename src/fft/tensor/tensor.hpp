// A planned tensor transform: steps from the caller's input through work memory to the caller's output.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <ridge/fft/tensor.hpp>

#include "fft/host/scratch.hpp"
#include "fft/tensor/factors.hpp"
#include "plan/shared_decisions.hpp"

namespace ridge::fft {

// Arrays that a step reads and writes. Work memory is part of the run's scratch.
enum class Slot { input, output, work };

// The arrays of one run. A split side has its imaginary parts in a second array.
struct TensorArrays {
  const void* input = nullptr;
  const void* input_imaginary = nullptr;
  void* output = nullptr;
  void* output_imaginary = nullptr;
};

// A whole run as one plain function call, for transforms as short as taking a lock.
struct DirectCall {
  void (*run)(const void* object, const void* in, void* out) = nullptr;
  const void* object = nullptr;
};

// One pass over memory. Immutable; several threads may run it.
template <class T>
class TensorStep {
 public:
  virtual ~TensorStep() = default;
  virtual std::string describe() const = 0;
  virtual double flops() const = 0;
  virtual std::size_t scratch() const = 0;  // complex elements per thread
  virtual void run(const TensorArrays& arrays, Scratch<T>& scratch, std::size_t threads) const = 0;
  // Set if the step alone leads from the input to the output and needs nothing else of the tensor.
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
  void run_steps(const TensorArrays& arrays, Scratch<T>& scratch) const;

  Device device_;
  TensorProblem problem_, inner_;  // inner_: without factors, its input in work memory if there are load factors
  std::size_t threads_;
  std::vector<std::unique_ptr<TensorStep<T>>> steps_;
  planner::SharedDecisions decisions_;
  std::unique_ptr<ScratchPool<T>> pool_;  // null if no step needs scratch
  mutable Scratch<T> no_scratch_;
  DirectCall direct_;
  FactorPass<T> load_, store_;
  std::size_t staged_ = 0;  // first complex element of the copy of the input in the shared scratch
};

}  // namespace ridge::fft
