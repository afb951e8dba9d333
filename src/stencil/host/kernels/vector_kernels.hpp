// SIMD loops of vector programs, dispatched by instruction set at run time. They read and write exactly the requested
// cells, and write each once, so that outputs may overwrite inputs cell by cell.
#pragma once
#include <cstddef>

namespace ridge::stencil {

// Operations of a vector program. Conditions are cells with all bits set or none.
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

// Output rows per pass over x; common inputs are loaded once.
inline constexpr std::size_t kBlockRows = 4;

// Part of a weighted sum with `count` weights: of consecutive rows along the axis of the output rows, or of neighbours
// along x. A single point is of the latter kind.
struct WeightedRun {
  std::size_t count = 1;
  bool across = false;
};

// A sum times a row, plus another sum, as for waves in a medium: three instructions in one pass. The rows `ahead` are
// prefetched.
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

// The same for kBlockRows rows. A run across has count + kBlockRows - 1 pointers in `in`, of which row r uses those
// from r on; a run along x has kBlockRows, the first cell of each row. Weights are consecutive.
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
  const T* const* factors = nullptr;  // one per row; null: only the sum
  const T* const* ahead = nullptr;
  std::size_t ahead_count = 0;
};

// Waves: a star of one field with pairs of neighbours of equal weight, and the cell's older level, which the new one
// overwrites. In a medium the star is multiplied by a row; in absorbing layers the whole by another.
inline constexpr std::size_t kMostRadius = 4, kMostMedia = 2;
template <class T>
struct Star {
  std::size_t radius = 0;
  bool beside = false;    // has neighbours along y, across the rows of a block
  std::size_t media = 0;  // new = star + older o, m star + own u + older o, or n (m star + own u + older o) + o
  T center{}, own{}, older{};
  T across_weights[kMostRadius]{}, beside_weights[kMostRadius]{}, along_weights[kMostRadius]{};  // by distance - 1
};
template <class T>
struct StarRows {
  const T* in =
      nullptr;  // x = 0 of the first row; all rows have the same alignment, and cells around a row may be read
  T* out = nullptr;
  const T* media[kMostMedia]{};
  std::ptrdiff_t plane = 0, pitch = 0;  // to the next row of a block, and to the next row along y
  const T* ahead[2 + kMostMedia]{};     // rows to prefetch; null: none
  // For rows that are not equally spaced, one at a time: pointers by offset + radius.
  const T* const* across = nullptr;
  const T* const* beside = nullptr;
};

template <class T>
struct VectorKernels {
  // out[x] = word(a[x], b[x], c[x]) for x below count.
  using Apply = void (*)(VectorWord word, const T* a, const T* b, const T* c, T* out, std::size_t count);
  // out[x] = constant + the sum of weights[i] * in[i][x], for x in [begin, end). `again`: cells may be written twice,
  // because `out` is none of the input rows.
  using Sum = void (*)(const T* const* in, const T* weights, std::size_t count, T constant, T* out, std::size_t begin,
                       std::size_t end, bool again);
  // out[r][x] for x below count, each row in the order of `sum` and `product`.
  using Rows = void (*)(const RowsProduct<T>& product, T* const* out, std::size_t count, bool again);
  // out[x] = factor[x] * sum + more, for x below count.
  using Product = void (*)(const SumProduct<T>& product, T* out, std::size_t count);
  // Cells [begin, end) of kBlockRows rows, or of one row by its pointers, with identical results. Null if this
  // instruction set has none.
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
