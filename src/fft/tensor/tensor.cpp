// Runs the steps of a tensor plan, with scratch memory per thread.
#include "fft/tensor/tensor.hpp"

#include <algorithm>
#include <cmath>

#include "base/threads.hpp"
#include "fft/tensor/builder.hpp"
#include "plan/improve.hpp"

namespace ridge::fft {
namespace {

double product(const std::vector<Dimension>& dimensions) {
  double all = 1;
  for (const Dimension& one : dimensions) all *= static_cast<double>(one.length);
  return all;
}

}  // namespace

template <class T>
Tensor<T>::Tensor(const Device& device, const TensorProblem& problem, const planner::Options& options)
    : device_(device),
      problem_(problem),
      inner_(without_factors(problem)),
      threads_(std::min(problem.threads == 0 ? base::hardware_threads() : problem.threads, base::kMostThreads)),
      load_(problem_, inner_, TensorSide::input),
      store_(problem_, inner_, TensorSide::output) {
  if (!device.is_host()) {
    throw Error(ErrorKind::unavailable, "fft: this tensor plan runs on the host only, not on " + device.id());
  }
  TensorBuilder<T> builder(inner_, options);
  steps_ = std::move(builder.steps);
  for (planner::SharedDecision& one : builder.decisions) decisions_.add(std::move(one));
  if (steps_.size() == 1 && !problem_.split_input && !problem_.split_output && !load_.any() && !store_.any())
    direct_ = steps_.front()->direct();
  std::size_t each = 0;
  for (const auto& step : steps_) each = std::max(each, step->scratch());
  staged_ = (builder.work + 7) / 8 * 8;
  if (load_.any()) builder.work = staged_ + load_.room();
  if (each == 0 && builder.work == 0) {
    no_scratch_.of_thread.resize(threads_);
  } else {
    pool_ = std::make_unique<ScratchPool<T>>(threads_, each, builder.work, 1);
  }
}

template <class T>
void Tensor<T>::run(const TensorArrays& arrays) const {
  if (!pool_) return run_steps(arrays, no_scratch_);
  const auto scratch = pool_->lend();
  run_steps(arrays, *scratch);
}

template <class T>
void Tensor<T>::run_steps(const TensorArrays& arrays, Scratch<T>& scratch) const {
  TensorArrays seen = arrays;
  if (load_.any()) {
    void* const copy = scratch.shared.data() + staged_;
    load_.run(arrays.input, copy);
    seen.input = copy;
  }
  for (const auto& step : steps_) step->run(seen, scratch, threads_);
  if (store_.any()) store_.run(arrays.output, arrays.output);
}

template <class T>
double Tensor<T>::flops() const {
  const double points = product(problem_.axes);
  const bool complex = problem_.kind == TensorKind::complex_forward || problem_.kind == TensorKind::complex_inverse;
  return (complex ? 5 : 2.5) * points * std::log2(points) * product(problem_.loops);
}

template <class T>
double Tensor<T>::bytes() const {
  const double points = product(problem_.axes);
  double numbers = 4 * points;  // complex to complex
  if (problem_.kind == TensorKind::real_to_real) numbers = 2 * points;
  if (problem_.kind == TensorKind::real_forward || problem_.kind == TensorKind::real_inverse) {
    const std::size_t last = problem_.axes.empty() ? 1 : problem_.axes.back().length;
    numbers = points + 2 * points / static_cast<double>(last) * static_cast<double>(last / 2 + 1);
  }
  return numbers * sizeof(T) * product(problem_.loops);
}

template <class T>
double Tensor<T>::done_flops() const {
  double sum = 0;
  for (const auto& step : steps_) sum += step->flops();
  return sum;
}

template <class T>
std::string Tensor<T>::explain() const {
  std::string text;
  for (const auto& step : steps_) {
    text += "  " + step->describe();
    if (!text.ends_with('\n')) text += '\n';
  }
  return steps_.empty() ? "  nothing to do\n" : text;
}

template <class T>
TensorPlan<T>::TensorPlan(const Device& device, const TensorProblem& problem, const planner::Options& options)
    : tensor_(std::make_shared<const Tensor<T>>(device, problem, options)) {
  planner::improve<Tensor<T>>(tensor_, options, [device, problem](const planner::Options& measuring) {
    return std::make_shared<const Tensor<T>>(device, problem, measuring);
  });
}

template <class T>
TensorPlan<T> TensorPlan<T>::adjoint(const planner::Options& options) const {
  return TensorPlan(device(), fft::adjoint(problem()), options);
}

template <class T>
void TensorPlan<T>::run(const void* in, void* out) const noexcept {
  tensor_->run(in, out);
}

template <class T>
void TensorPlan<T>::run(const T* in, const T* in_imaginary, T* out, T* out_imaginary) const noexcept {
  tensor_->run({.input = in, .input_imaginary = in_imaginary, .output = out, .output_imaginary = out_imaginary});
}

template <class T>
const TensorProblem& TensorPlan<T>::problem() const {
  return tensor_->problem();
}
template <class T>
const Device& TensorPlan<T>::device() const {
  return tensor_->device();
}
template <class T>
double TensorPlan<T>::bytes() const {
  return tensor_->bytes();
}
template <class T>
const std::vector<KernelSource>& TensorPlan<T>::kernels() const {
  static const std::vector<KernelSource> none;
  return none;
}
template <class T>
double TensorPlan<T>::flops() const {
  return tensor_->flops();
}
template <class T>
double TensorPlan<T>::done_flops() const {
  return tensor_->done_flops();
}
template <class T>
std::string TensorPlan<T>::explain() const {
  return tensor_->explain();
}
template <class T>
const std::vector<planner::Decision>& TensorPlan<T>::decisions() const {
  return tensor_->decisions();
}

template class Tensor<float>;
template class Tensor<double>;
template class TensorPlan<float>;
template class TensorPlan<double>;

}  // namespace ridge::fft
