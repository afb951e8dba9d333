// What one instruction set offers to the power-of-two kernels: plain functions over plain pointers.
//
// The files that fill these tables are compiled for instruction sets the machine may not have, so nothing here may
// pull in inline code of the standard library: the linker could keep the copy that was compiled for the newer set.
// Every pointer runs over re, im, re, im ... unless it says "inner": the engine's own order, blocks of `lanes` points,
// interleaved or (split) all real parts of the block before all imaginary ones.
#pragma once
#include <cstddef>

namespace ridge::fft::power2 {

using std::size_t;

inline constexpr size_t kMaxPasses = 5;
inline constexpr int kForward = 0;
inline constexpr int kInverse = 1;

// What a line expects as tables.
enum class LineTableKind {
  passes,     // one for every pass but the last, the first by lanes
  registers,  // register_twiddles() alone, and no scratch
  pairs,      // pair_twiddles() alone, and no scratch
  eights,     // as passes, but the first in order of its lanes, the second for two neighbours at a time
  none,       // no table and no scratch
  // Tangents and cosines (tangent-inl.hpp), a table a pass but the first:
  tangents,
  tangents_whole,   // without scratch
  tangents_square,  // columns, rows' first and second pass, the twiddles between the two steps, and the rows' parts
  // Shears (shear_float.cpp): constants, roots and the first pass, then a table a middle pass:
  shears,
  shears_whole,  // without scratch
};

// A long line in two steps, of which threads take parts: counts of reals. The first writes `work`, all parts of the
// second read it (and may write their own part of it); each thread has a buffer of its own.
template <class T>
struct LineSteps {
  using First = void (*)(size_t part, const T* in, T* work, const T* const* tables, T* buffer);
  using Second = void (*)(size_t part, T* work, T* out, const T* const* tables);
  size_t first_parts, second_parts, work, buffer;
  First first[2];
  Second second[2], second_past[2];  // by direction; past the caches as in Line
};

// A whole transform that fits in cache: Stockham passes through two buffers of `length` points in scratch.
template <class T>
struct Line {
  using Function = void (*)(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count,
                            const T* const* tables, T* scratch);
  size_t length;
  size_t lanes;                // of its first pass; those of the engine where it serves as a leaf
  size_t radices[kMaxPasses];  // zero-terminated
  Function run[2];             // by direction
  Function leaf[2];            // reads inner order; null where the length never serves as a leaf
  size_t together = 1;         // it does so many at a time and no fewer; below eight points they must be neighbours
  LineTableKind tables = LineTableKind::passes;
  // The same with results written past the caches, which must begin at multiples of 64 bytes; null where nobody does.
  Function past[2] = {nullptr, nullptr};
  const LineSteps<T>* steps = nullptr;  // the same by several threads; null where one is enough
};

// One decimation-in-frequency pass over `count` positions of `radix` streams, twiddles applied to the outputs.
template <class T>
struct Level {
  using Function = void (*)(const T* in, size_t in_stream, T* out, size_t out_stream, size_t count, const T* twiddles);
  size_t radix;
  Function outer[2];  // reads user order, writes inner
  Function inner[2];  // inner to inner, in place
};

// `strip` columns of one length side by side, a row of the strip being contiguous.
template <class T>
struct ColumnLine {
  using Function = void (*)(const T* in, size_t in_row, T* out, size_t out_row, const T* const* tables, T* scratch);
  size_t length;
  size_t radices[kMaxPasses];
  Function run[2];
  Function leaf[2];  // reads inner order
};

template <class T>
struct ColumnLevel {
  using Function = void (*)(const T* in, size_t in_row, size_t in_stream, T* out, size_t out_stream, size_t count,
                            const T* twiddles);
  size_t radix;
  Function outer[2];
  Function inner[2];
};

// `strip` contiguous transforms of one short length.
template <class T>
struct Batch {
  using Function = void (*)(const T* in, size_t in_distance, T* out, size_t out_distance, const T* const* tables,
                            T* scratch);
  size_t length;
  size_t radices[kMaxPasses];
  Function run[2];  // null where the line is as fast
};

template <class Item>
struct Items {
  const Item* data;
  size_t count;
  constexpr const Item* begin() const { return data; }
  constexpr const Item* end() const { return data + count; }
};

template <class Item, size_t kCount>
constexpr Items<Item> items(const Item (&array)[kCount]) {
  return {array, kCount};
}

template <class T>
struct Engine {
  const char* name;
  size_t lanes;          // points in one vector of the long kernels: the block of the inner order
  bool split;            // inner order within a block
  size_t leaf;           // the line that finishes large transforms best
  bool wide_levels;      // whether radix 16 pays in the levels above it
  size_t copies;         // how often a table repeats a twiddle that all lanes share
  size_t strip;          // columns a column kernel takes at once
  size_t tile;           // points of one cache line, what `reorder` writes at once
  Items<Line<T>> lines;  // of those with one length the best first
  Items<Level<T>> levels;
  Items<ColumnLine<T>> column_lines;
  Items<ColumnLevel<T>> column_levels;
  Items<Batch<T>> batches;
  // out[point * blocks + b] = in[offsets[b] + point] for every point below `leaf`; whole lines are written.
  void (*reorder)(const T* in, const size_t* offsets, size_t blocks, size_t leaf, T* out);
};

}  // namespace ridge::fft::power2
