// The cells of a grid to the modes of its basis and back, on the host: real-to-real transforms along mirrored and fixed
// axes, Fourier transforms of what they leave along periodic ones.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include <ridge/fft/tensor.hpp>

#include "stencil/leap/modes.hpp"

namespace ridge::stencil::leap {

struct TransformAxis {
  const Axis* axis = nullptr;
  std::ptrdiff_t place = 0;  // from a cell to the next
};

// The spectrum is packed, axes in order, a field after the other.
template <class T>
class HostTransform {
 public:
  HostTransform(const std::vector<TransformAxis>& axes, std::size_t fields, std::ptrdiff_t field_place,
                std::size_t threads, bool and_back);
  std::size_t numbers() const { return numbers_; }  // of the spectrum, of T
  void forward(const T* cells, T* spectrum) const;
  void inverse(const T* spectrum, T* cells) const;

 private:
  std::size_t numbers_ = 0, between_ = 0;
  std::optional<fft::TensorPlan<T>> first_, second_, back_first_, back_second_;
};

}  // namespace ridge::stencil::leap
