// Table of the functions that one instruction set provides for power-of-two kernels: plain functions over plain
// pointers.
//
// The files that fill these tables are compiled for instruction sets the machine may not have, so this header may not
// include inline code of the standard library: the linker could keep the copy that was compiled for the newer set.
// Every pointer refers to re, im, re, im ... unless it says "inner": the engine's own order, blocks of `lanes` points,
// interleaved or (split) all real parts of the block before all imaginary ones.
#pragma once
#include <cstddef>

namespace ridge::fft::power2 {

using std::size_t;

inline constexpr size_t kMaxPasses = 5;
inline constexpr int kForward = 0;
inline constexpr int kInverse = 1;

// Layout of a line's tables.
enum class LineTableKind {
  passes,     // one per pass but the last, the first by lanes
  registers,  // only register_twiddles(), no scratch
  pairs,      // only pair_twiddles(), no scratch
  eights,     // as passes, but the first in the order of its lanes, the second for two neighbours at a time
  none,       // no table and no scratch
  // Tangents and cosines (tangent/tangent-inl.hpp), one table per pass but the first:
  tangents,
  tangents_whole,   // without scratch
  tangents_square,  // columns, rows' first and second pass, the twiddles between the two steps, and the rows' parts
  // Shears (shear_float.cpp): constants, roots and the first pass, then one table per middle pass:
  shears,
  shears_whole,  // without scratch
};

// A long line in two steps that threads share; counts are in reals. The first step writes `work`, all parts of the
// second read it (and may overwrite their own part); each thread has its own buffer.
template <class T>
struct LineSteps {
  using First = void (*)(size_t part, const T* in, T* work, const T* const* tables, T* buffer);
  using Second = void (*)(size_t part, T* work, T* out, const T* const* tables);
  size_t first_parts, second_parts, work, buffer;
  First first[2];
  Second second[2], second_past[2];  // by direction; `past`: non-temporal stores as in Line
};

// A whole transform that fits in cache: Stockham passes through two buffers of `length` points in scratch.
template <class T>
struct Line {
  using Function = void (*)(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count,
                            const T* const* tables, T* scratch);
  size_t length;
  size_t lanes;                // of its first pass; those of the engine if it serves as a leaf
  size_t radices[kMaxPasses];  // zero-terminated
  Function run[2];             // by direction
  Function leaf[2];            // reads inner order; null if the length never serves as a leaf
  size_t together = 1;         // number of lines per call, exactly; below eight points they must be contiguous
  LineTableKind tables = LineTableKind::passes;
  // The same with non-temporal stores to addresses that are multiples of 64 bytes; null if unavailable.
  Function past[2] = {nullptr, nullptr};
  const LineSteps<T>* steps = nullptr;  // the same by several threads; null if one is enough
};

// One decimation-in-frequency pass over `count` positions of `radix` streams, twiddles applied to the outputs.
template <class T>
struct Level {
  using Function = void (*)(const T* in, size_t in_stream, T* out, size_t out_stream, size_t count, const T* twiddles);
  size_t radix;
  Function outer[2];  // reads user order, writes inner
  Function inner[2];  // inner to inner, in place
};

// `strip` adjacent columns of one length; a row of the strip is contiguous.
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
  Function run[2];  // null if the line is as fast
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
  bool wide_levels;      // radix 16 pays in the levels above it
  size_t copies;         // repetitions in a table of a twiddle that all lanes share
  size_t strip;          // columns per call of a column kernel
  size_t tile;           // points of one cache line, the unit that `reorder` writes
  Items<Line<T>> lines;  // lines of one length: best first
  Items<Level<T>> levels;
  Items<ColumnLine<T>> column_lines;
  Items<ColumnLevel<T>> column_levels;
  Items<Batch<T>> batches;
  // out[point * blocks + b] = in[offsets[b] + point] for every point below `leaf`; writes whole cache lines.
  void (*reorder)(const T* in, const size_t* offsets, size_t blocks, size_t leaf, T* out);
};

}  // namespace ridge::fft::power2
