// Convolution of a box of samples by a filter with a known spectrum. The zeros around the box are neither stored nor
// transformed, and on devices the spectrum between the transforms of the last axis is not stored either.
//
//   const ridge::fft::BoxFilterProblem problem{.shape = {512, 512, 512}, .box = {.count = {256, 256, 256}}};
//   const ridge::fft::BoxFilter<float> filter(device, problem, spectrum);
//   filter.run(samples, filtered);  // 256^3 values each
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/fft.hpp>

namespace ridge::fft {

struct BoxFilterProblem {
  std::vector<std::size_t> shape = {};  // of the spectrum: one to three axes, frequency 0 first
  Box box = {};                         // the samples and the results; the other samples are zero
  std::size_t threads = 0;              // host; 0 = all
};

// Cheap to copy. Runs of one filter are serialized.
template <class T>
class BoxFilter {
 public:
  using Complex = std::complex<T>;
  // `spectrum` has one value per point of the shape and is copied. A spectrum of ones returns the samples.
  BoxFilter(const Device& device, const BoxFilterProblem& problem, std::span<const Complex> spectrum,
            const planner::Options& options = {.effort = Effort::quick});
  // The spectrum is in a buffer of the device, written by operations of `queue`.
  BoxFilter(Queue& queue, const BoxFilterProblem& problem, const Buffer& spectrum,
            const planner::Options& options = {.effort = Effort::quick});
  void run(std::span<const Complex> in, std::span<Complex> out) const;
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const;  // buffers of a device other than the host
  const Device& device() const;
  std::size_t size() const;  // points of the box
  std::string explain() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace ridge::fft
