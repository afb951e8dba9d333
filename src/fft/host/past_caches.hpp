// Interface of line kernels that can write their results with non-temporal stores, for batches that are not read soon.
#pragma once
#include "fft/variant.hpp"

namespace ridge::fft {

// Second interface of a LineKernel. The caller must issue a fence before other threads read the results
// (TwoStepKernels::finish).
template <class T>
class PastCaches {
 public:
  using Complex = std::complex<T>;
  virtual ~PastCaches() = default;
  virtual bool goes_past() const = 0;
  virtual void run_many_past(Direction direction, const Complex* in, std::size_t in_distance, Complex* out,
                             std::size_t out_distance, std::size_t count, Complex* scratch) const = 0;
};

// Null if the kernel has no such method.
template <class T>
const PastCaches<T>* past_caches_of(const LineKernel<T>& line) {
  const auto* face = dynamic_cast<const PastCaches<T>*>(&line);
  return face != nullptr && face->goes_past() ? face : nullptr;
}

}  // namespace ridge::fft
