// Implementation of an fftw_plan: a tensor plan, the arrays it was planned for, and the variants needed to execute it
// on other arrays.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include <ridge/fft/tensor.hpp>

namespace ridge::fftw {

// Planning effort. Each level accepts results of a higher one.
enum class Rigor { estimate, measure, patient, exhaustive };

inline constexpr std::uint64_t kMagic = 0x52494447'46465457;  // "RIDGFFTW": no plan of FFTW starts with it

// The arrays of one execution. Interleaved sides use the first pointer only.
template <class T>
struct Arrays {
  T *in = nullptr, *in_imaginary = nullptr, *out = nullptr, *out_imaginary = nullptr;
};

template <class T>
class Plan {
 public:
  Plan(const fft::TensorProblem& problem, Rigor rigor, const Arrays<T>& arrays);

  const std::uint64_t magic = kMagic;  // first member: distinguishes our plans from FFTW's
  std::atomic<int> references = 1;

  void execute() const { plain_ ? plan_.run(arrays_.in, arrays_.out) : execute(arrays_); }
  // The arrays may be in place for an out-of-place plan, and vice versa.
  void execute(const Arrays<T>& arrays) const;
  // Executes a plan of interleaved arrays on split arrays.
  void execute_split(const Arrays<T>& arrays) const;

  const fft::TensorPlan<T>& plan() const { return plan_; }
  double cost() const;  // nanoseconds, predicted or measured

 private:
  using Tensor = fft::TensorPlan<T>;
  const Tensor& variant(std::optional<Tensor>& made, const fft::TensorProblem& problem) const;

  Tensor plan_;
  Rigor rigor_;
  Arrays<T> arrays_;
  bool plain_;  // the plan's own arrays exist, have the expected layout and are not split
  mutable std::mutex mutex_;
  mutable std::optional<Tensor> other_placement_;  // the in-place version of an out-of-place plan, or the reverse
  mutable std::optional<Tensor> split_, split_in_place_;
};

// Returns the tensor plan of a problem, from the cache if it was planned before. Throws Error if it cannot be planned.
template <class T>
fft::TensorPlan<T> tensor_plan(const fft::TensorProblem& problem, Rigor rigor);

// Planner settings made by separate calls.
struct Settings {
  std::atomic<int> threads = 1;
  std::atomic<double> time_limit = -1;  // seconds; negative: none
};
Settings& settings();

}  // namespace ridge::fftw
