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

// Output rows that one pass over x computes: what they read in common is loaded once.
inline constexpr std::size_t kBlockRows = 4;

// Part of a weighted sum, `count` weights: of rows one after the other along the axis the output rows follow each other
// on, or of neighbours along x. A single point is one of the latter kind.
struct WeightedRun {
  std::size_t count = 1;
  bool across = false;
};

// A sum times a row, and another sum, as waves through a medium have it: what takes three instructions in one pass.
// `ahead` are rows that are fetched on the way.
template <class T>
struct SumProduct {
  struct Part {
    const T* const* in;
    const T* weights;
    std::size_t count;
    T constant;
  };
  Part sum, more;
  const T* factor;
  const T* const* ahead;
  std::size_t ahead_count;
};

template <class T>
struct VectorKernels {
  // out[x] = word(a[x], b[x], c[x]) for x below count.
  using Apply = void (*)(VectorWord word, const T* a, const T* b, const T* c, T* out, std::size_t count);
  // out[x] = constant + the sum of weights[i] * in[i][x], for x in [begin, end). `again`: cells may be written twice,
  // since `out` is none of the rows.
  using Sum = void (*)(const T* const* in, const T* weights, std::size_t count, T constant, T* out, std::size_t begin,
                       std::size_t end, bool again);
  // Sums of kBlockRows rows: out[r][x] for x below count. A run across has count + kBlockRows - 1 pointers in `in`, of
  // which row r takes those from r on; one along x has kBlockRows, its first cell for each row. Their weights follow
  // each other. Every row is summed in the order that `sum` has.
  using SumRows = void (*)(const T* const* in, const WeightedRun* runs, std::size_t run_count, const T* weights,
                           T constant, T* const* out, std::size_t count, bool again);
  // out[x] = factor[x] * sum + more, for x below count.
  using Product = void (*)(const SumProduct<T>& product, T* out, std::size_t count);
  Apply apply;
  Sum sum;
  SumRows sum_rows;
  Product product;
};
template <class T>
const VectorKernels<T>& vector_kernels();
template <>
const VectorKernels<float>& vector_kernels();
template <>
const VectorKernels<double>& vector_kernels();

}  // namespace ridge::stencil
