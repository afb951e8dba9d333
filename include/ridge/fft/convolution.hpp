// Convolution and correlation by FFT; applies one filter to many or long signals.
//
//   std::vector<float> smooth = ridge::fft::convolve<float>(ridge::host(), signal, weights);
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

namespace ridge::fft {

enum class ConvolutionKind {
  linear,    // a.size() + b.size() - 1 values
  circular,  // length of the longer input; the shorter one is padded with zeros
};

// Element is float, double or complex of them. Convolution: out[n] = sum a[m] b[n - m].
// Correlation: out[n] = sum a[m] conj(b[m - (n - (b.size() - 1))]) for linear, lag 0 at b.size() - 1; circular:
// out[n] = sum a[m + n] conj(b[m]), lag 0 first.
template <class Element>
std::vector<Element> convolve(const Device& device, std::span<const Element> a, std::span<const Element> b,
                              ConvolutionKind kind = ConvolutionKind::linear);
template <class Element>
std::vector<Element> correlate(const Device& device, std::span<const Element> a, std::span<const Element> b,
                               ConvolutionKind kind = ConvolutionKind::linear);

struct ConvolutionOptions {
  std::size_t block = 0;    // transform length per block; 0: chosen for the lengths of filter and signal
  std::size_t signal = 0;   // samples of each signal, if short and known: blocks are then no longer than needed
  std::size_t threads = 0;  // 0 = all
  planner::Options planning = {.effort = Effort::quick};
};

template <class Element>
class Convolver;

// Applies one filter to many or long signals by overlap-save; blocks are processed in parallel.
template <class Element>
class Convolution {
 public:
  Convolution(const Device& device, std::span<const Element> filter, const ConvolutionOptions& options = {});
  // out has signal.size() + filter.size() - 1 values and does not overlap the signal.
  void run(std::span<const Element> signal, std::span<Element> out) const;
  // The adjoint map: its run() reads signal.size() + filter.size() - 1 values and writes signal.size(),
  // out[j] = sum over k of conj(filter[k]) in[j + k]. The adjoint of the adjoint is this convolution again.
  Convolution adjoint() const;
  std::size_t filter_size() const;
  std::size_t block() const;
  std::string explain() const;

 private:
  explicit Convolution(std::shared_ptr<const Convolver<Element>> convolver) : convolver_(std::move(convolver)) {}
  std::shared_ptr<const Convolver<Element>> convolver_;
};

}  // namespace ridge::fft
