// Real-to-real transforms (cosine, sine, Hartley, half-complex) on devices, for the problems of tensor.hpp.
//
//   ridge::fft::DeviceTensorPlan<float> dct(ridge::device("cuda:0"),
//                                           {.kind = TensorKind::real_to_real,
//                                            .axes = {{512, 512, 512}, {512, 1, 1}},
//                                            .real_kinds = {RealKind::dct2, RealKind::dct2}});
//   dct.enqueue(queue, in, out);
//
// One to three axes of any length, any number of loops, non-negative strides. The input is preserved unless the plan is
// in place. Factors (load, store) of packed arrays, 1 but for the ends of the axes: adjoints of cosine and sine
// transforms have such factors.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/fft/tensor.hpp>
#include <ridge/plan.hpp>

namespace ridge::fft {

template <class T>
class DeviceTensor;  // src/fft/device/real_to_real/tensor.cpp

template <class T>
class DeviceTensorPlan {
 public:
  // Error{invalid_argument} for kinds other than real_to_real, more than three axes, negative strides, axes of length
  // 0, and outputs that share elements; Error{unavailable} for other factors than those above.
  DeviceTensorPlan(const Device& device, const TensorProblem& problem, const planner::Options& options = {});

  // Device memory: enqueued, not waited for. Error if a buffer is shorter than the strides require.
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const;
  // Host memory: uploads, transforms and downloads.
  void run(std::span<const T> in, std::span<T> out) const;

  const TensorProblem& problem() const;
  const Device& device() const;
  double flops() const;  // the conventional count: half of a complex transform's
  double bytes() const;  // every element read once and written once
  std::string explain() const;
  const std::vector<planner::Decision>& decisions() const;
  std::vector<KernelSource> kernels() const;

 private:
  std::shared_ptr<const DeviceTensor<T>> tensor_;
};

}  // namespace ridge::fft
