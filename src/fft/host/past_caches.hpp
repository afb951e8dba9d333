// Lines that write their results past the caches by themselves, for batches that nobody reads soon.
#pragma once
#include "fft/variant.hpp"

namespace ridge::fft {

// A second face of a LineKernel. Whoever calls it fences before others read the results (TwoStepKernels::finish).
template <class T>
class PastCaches {
 public:
  using Complex = std::complex<T>;
  virtual ~PastCaches() = default;
  virtual bool goes_past() const = 0;
  virtual void run_many_past(Direction direction, const Complex* in, std::size_t in_distance, Complex* out,
                             std::size_t out_distance, std::size_t count, Complex* scratch) const = 0;
};

// Null where the line has no such way.
template <class T>
const PastCaches<T>* past_caches_of(const LineKernel<T>& line) {
  const auto* face = dynamic_cast<const PastCaches<T>*>(&line);
  return face != nullptr && face->goes_past() ? face : nullptr;
}

}  // namespace ridge::fft
