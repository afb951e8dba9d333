// Forward and inverse transforms of a grid to the modes of its basis, on the host: real-to-real along mirrored and
// fixed axes, Fourier along periodic ones.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include <ridge/fft/tensor.hpp>

#include "stencil/leap/modes.hpp"

namespace ridge::stencil::leap {

struct TransformAxis {
  const Axis* axis = nullptr;
  std::ptrdiff_t place = 0;  // between cells
};

// The spectrum is contiguous: axes in order, consecutive fields.
template <class T>
class HostTransform {
 public:
  HostTransform(const std::vector<TransformAxis>& axes, std::size_t fields, std::ptrdiff_t field_place,
                std::size_t threads, bool and_back);
  std::size_t numbers() const { return numbers_; }  // of type T in the spectrum
  void forward(const T* cells, T* spectrum) const;
  void inverse(const T* spectrum, T* cells) const;

 private:
  std::size_t numbers_ = 0, between_ = 0;
  std::optional<fft::TensorPlan<T>> first_, second_, back_first_, back_second_;
};

}  // namespace ridge::stencil::leap
