// The SIMD loops behind a vector program, chosen for the instruction set at run time. Nothing beyond the cells asked
// for is read or written, and no cell is written twice: what is written may be what is read, cell by cell.
#pragma once
#include <cstddef>

namespace ridge::stencil {

// What an instruction of a vector program does with its operands. Truths are cells with all bits set or none.
enum class VectorWord {
  add,
  subtract,
  multiply,
  divide,
  multiply_add,           // a b + c, one rounding
  multiply_subtract,      // a b - c
  negative_multiply_add,  // c - a b
  minimum,
  maximum,
  absolute,
  square_root,
  negate,
  less,
  less_equal,
  equal,
  both,
  either,
  opposite,
  select,
  copy
};

template <class T>
struct VectorKernels {
  // out[x] = word(a[x], b[x], c[x]) for x below count.
  using Apply = void (*)(VectorWord word, const T* a, const T* b, const T* c, T* out, std::size_t count);
  // out[x] = constant + the sum of weights[i] * in[i][x], for x in [begin, end). `again`: cells may be written twice,
  // since `out` is none of the rows.
  using Sum = void (*)(const T* const* in, const T* weights, std::size_t count, T constant, T* out, std::size_t begin,
                       std::size_t end, bool again);
  Apply apply;
  Sum sum;
};
template <class T>
const VectorKernels<T>& vector_kernels();
template <>
const VectorKernels<float>& vector_kernels();
template <>
const VectorKernels<double>& vector_kernels();

}  // namespace ridge::stencil
