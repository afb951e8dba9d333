// One axis of a transform: all lines of the array along it, with the access pattern that suits the strides.
#pragma once
#include <array>
#include <complex>
#include <cstddef>

#include "fft/layout.hpp"
#include "fft/operators.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {

// Lines along one other axis, or along the batch.
struct Loop {
  std::size_t count = 1, in = 0, out = 0, in_factor = 0, out_factor = 0;
};

enum class Access {
  rows,     // points of a line are contiguous on both sides
  columns,  // lines are adjacent on both sides
  tiles,    // anything else: through a tile in cache
};

// Scratch elements of a thread: the tile first, then the kernel's scratch.
template <class T>
struct StageScratch {
  std::complex<T>* tile;
  std::complex<T>* kernel;
};

template <class T>
class Stage {
 public:
  using Complex = std::complex<T>;
  // Transforms `axis` from one side to the other; null factors mean none. The batch is a loop like any other.
  Stage(const LineKernel<T>& line, std::size_t axis, const Side& in, const Side& out, std::size_t batch,
        const Factors<T>* load, const Factors<T>* store);

  std::size_t tile() const { return tile_; }  // elements
  // Switches to non-temporal stores if possible: results larger than the caches are then not read before they are
  // written. Rows only, out of place, with `threads` sharing the units.
  void stream_large_results(std::size_t threads);
  bool streams() const { return streaming_; }
  std::size_t kernel_scratch() const;
  std::size_t units() const;                                                // units of work for the threads
  std::size_t planes() const { return loops_[0].count * loops_[1].count; }  // each is a contiguous range of units
  // True if its planes are those of a row stage that runs before it (and leaves each plane where it is read), or after
  // it.
  bool same_planes(const std::array<Loop, kMostAxes>& rows, bool before) const;
  const std::array<Loop, kMostAxes>& loops() const { return loops_; }
  double points() const;
  Access access() const { return access_; }
  const LineKernel<T>& line() const { return line_; }

  // Units [begin, end). `in` has the type of the load's samples.
  void run(Direction direction, const void* in, Complex* out, std::size_t begin, std::size_t end,
           StageScratch<T> scratch) const;

 private:
  struct Place {
    std::size_t in = 0, out = 0, in_factor = 0, out_factor = 0;
  };
  Place place(std::size_t outer) const;  // position for an index of the outer loops
  void run_rows(Direction direction, const void* in, Complex* out, const Place& at, std::size_t count,
                StageScratch<T> scratch) const;
  void run_columns(Direction direction, const void* in, Complex* out, const Place& at, std::size_t count,
                   StageScratch<T> scratch) const;
  void run_streaming(Direction direction, const Complex* in, Complex* out, std::size_t count,
                     StageScratch<T> scratch) const;
  const void* input(const void* in, std::size_t element) const;

  const LineKernel<T>& line_;
  std::size_t n_, in_stride_, out_stride_, in_factor_, out_factor_;
  std::array<Loop, kMostAxes> loops_;  // the last is innermost; for columns, the adjacent lines
  Access access_;
  const Factors<T>*load_, *store_;
  std::size_t element_bytes_;
  std::size_t block_;  // lines per tile
  std::size_t tile_ = 0;
  bool streaming_ = false;
  bool far_ = false;  // columns are gathered in a tile
};

extern template class Stage<float>;
extern template class Stage<double>;

}  // namespace ridge::fft
