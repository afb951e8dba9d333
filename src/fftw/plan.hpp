// What stands behind an fftw_plan: a tensor plan, the arrays it was made for, and the forms it takes when it is
// executed on other ones.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include <ridge/fft/tensor.hpp>

namespace ridge::fftw {

// How long a plan may be looked for; each is content with what a later one has found.
enum class Rigor { estimate, measure, patient, exhaustive };

inline constexpr std::uint64_t kMagic = 0x52494447'46465457;  // "RIDGFFTW": no plan of FFTW's begins so

// The arrays of one execution: interleaved sides use the first pointer only.
template <class T>
struct Arrays {
  T *in = nullptr, *in_imaginary = nullptr, *out = nullptr, *out_imaginary = nullptr;
};

template <class T>
class Plan {
 public:
  Plan(const fft::TensorProblem& problem, Rigor rigor, const Arrays<T>& arrays);

  const std::uint64_t magic = kMagic;  // first, so that a stranger's plan is told from ours
  std::atomic<int> references = 1;

  void execute() const { plain_ ? plan_.run(arrays_.in, arrays_.out) : execute(arrays_); }
  // Arrays may lie in place where the plan was made for two, and the other way round.
  void execute(const Arrays<T>& arrays) const;
  // Arrays that are apart, on a plan of interleaved ones.
  void execute_split(const Arrays<T>& arrays) const;

  const fft::TensorPlan<T>& plan() const { return plan_; }
  double cost() const;  // nanoseconds, predicted or measured

 private:
  using Tensor = fft::TensorPlan<T>;
  const Tensor& variant(std::optional<Tensor>& made, const fft::TensorProblem& problem) const;

  Tensor plan_;
  Rigor rigor_;
  Arrays<T> arrays_;
  bool plain_;  // the plan's own arrays are there, lie as it expects, and none is split
  mutable std::mutex mutex_;
  mutable std::optional<Tensor> turned_;  // in place where the plan is not, and the reverse
  mutable std::optional<Tensor> split_, split_in_place_;
};

// The tensor plan of a problem, from the cache where it was made before. Error where there is none.
template <class T>
fft::TensorPlan<T> tensor_plan(const fft::TensorProblem& problem, Rigor rigor);

// What the planner was told by calls of their own.
struct Settings {
  std::atomic<int> threads = 1;
  std::atomic<double> time_limit = -1;  // seconds; negative: none
};
Settings& settings();

}  // namespace ridge::fftw
