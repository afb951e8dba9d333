// Factors along the axes of a tensor problem, multiplied into a copy of the input or into the output.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/fft/tensor.hpp>

#include "fft/tensor/dimensions.hpp"

namespace ridge::fft {

// The problem that is planned when the factors are applied separately: load factors replace the input by a packed copy.
// Error{invalid_argument} for lists of the wrong length and for split arrays.
TensorProblem without_factors(const TensorProblem& problem);

// One pass over one side of a problem that multiplies each element by its factors.
template <class T>
class FactorPass {
 public:
  FactorPass(const TensorProblem& problem, const TensorProblem& inner, TensorSide side);
  bool any() const { return any_; }
  std::size_t room() const;  // complex elements of a packed copy
  // From the caller's strides to those of the inner problem; in place if they are the same memory.
  void run(const void* from, void* to) const;

 private:
  struct Level {
    std::size_t length;
    std::ptrdiff_t from, to;   // elements
    std::vector<T> factors{};  // empty: all 1
  };
  template <class Element>
  void multiply(const Element* from, Element* to, std::size_t level, T factor) const;

  bool any_ = false, complex_ = true;
  std::vector<Level> levels_;
};

}  // namespace ridge::fft
