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

// The same of kBlockRows rows. A run across has count + kBlockRows - 1 pointers in `in`, of which row r takes those
// from r on; one along x has kBlockRows, its first cell for each row. Their weights follow each other.
template <class T>
struct RowsProduct {
  struct Part {
    const T* const* in;
    const WeightedRun* runs;
    std::size_t run_count;
    const T* weights;
    T constant;
  };
  Part sum{}, more{};
  const T* const* factors = nullptr;  // a row each; none: the sum alone
  const T* const* ahead = nullptr;
  std::size_t ahead_count = 0;
};

// Waves: a star of one field, in pairs of neighbours that weigh the same, and the older level of the cell, which the
// new one is written over. In a medium the star is multiplied by a row, where waves die out the whole by another.
inline constexpr std::size_t kMostRadius = 4, kMostMedia = 2;
template <class T>
struct Star {
  std::size_t radius = 0;
  bool beside = false;    // with neighbours along y, which the rows of a block do not follow
  std::size_t media = 0;  // new = star + older o, m star + own u + older o, or n (m star + own u + older o) + o
  T center{}, own{}, older{};
  T across_weights[kMostRadius]{}, beside_weights[kMostRadius]{}, along_weights[kMostRadius]{};  // by distance - 1
};
template <class T>
struct StarRows {
  const T* in = nullptr;  // x = 0 of the first row, aligned as the others are; what surrounds a row may be read
  T* out = nullptr;
  const T* media[kMostMedia]{};
  std::ptrdiff_t plane = 0, pitch = 0;  // to the next row of a block, and to the next one beside it
  const T* ahead[2 + kMostMedia]{};     // fetched on the way, as many rows; null: nothing
  // Rows that do not follow each other so, one at a time: pointers by offset + radius.
  const T* const* across = nullptr;
  const T* const* beside = nullptr;
};

template <class T>
struct VectorKernels {
  // out[x] = word(a[x], b[x], c[x]) for x below count.
  using Apply = void (*)(VectorWord word, const T* a, const T* b, const T* c, T* out, std::size_t count);
  // out[x] = constant + the sum of weights[i] * in[i][x], for x in [begin, end). `again`: cells may be written twice,
  // since `out` is none of the rows.
  using Sum = void (*)(const T* const* in, const T* weights, std::size_t count, T constant, T* out, std::size_t begin,
                       std::size_t end, bool again);
  // out[r][x] for x below count, every row in the order that `sum` and `product` have.
  using Rows = void (*)(const RowsProduct<T>& product, T* const* out, std::size_t count, bool again);
  // out[x] = factor[x] * sum + more, for x below count.
  using Product = void (*)(const SumProduct<T>& product, T* out, std::size_t count);
  // Cells [begin, end) of kBlockRows rows, or of one by its pointers; the same numbers either way. Null where there is
  // none for this instruction set.
  using OfStar = void (*)(const Star<T>& star, const StarRows<T>& rows, std::size_t begin, std::size_t end);
  Apply apply;
  Sum sum;
  Rows rows;
  Product product;
  OfStar star_block;
  OfStar star_row;
};
template <class T>
const VectorKernels<T>& vector_kernels();
template <>
const VectorKernels<float>& vector_kernels();
template <>
const VectorKernels<double>& vector_kernels();

}  // namespace ridge::stencil
