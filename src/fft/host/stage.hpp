// One axis of a transform: every line of the array along it, in whichever way the strides favour.
#pragma once
#include <array>
#include <complex>
#include <cstddef>

#include "fft/layout.hpp"
#include "fft/operators.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {

// Lines beside each other along one other axis, or along the batch.
struct Loop {
  std::size_t count = 1, in = 0, out = 0, in_factor = 0, out_factor = 0;
};

enum class Access {
  rows,     // points of a line are neighbours on both sides
  columns,  // lines are neighbours on both sides
  tiles,    // anything else: through a tile in cache
};

// Elements of a thread's scratch: the tile first, then the kernel's own.
template <class T>
struct StageScratch {
  std::complex<T>* tile;
  std::complex<T>* kernel;
};

template <class T>
class Stage {
 public:
  using Complex = std::complex<T>;
  // `axis` from one side to the other; null factors mean none. The batch is a loop like any other.
  Stage(const LineKernel<T>& line, std::size_t axis, const Side& in, const Side& out, std::size_t batch,
        const Factors<T>* load, const Factors<T>* store);

  std::size_t tile() const { return tile_; }  // elements
  // Writes past the caches from now on where it can: results larger than them are then not read before they are
  // written. Rows only of transforms that are not in place, `threads` sharing the units.
  void stream_large_results(std::size_t threads);
  bool streams() const { return streaming_; }
  std::size_t kernel_scratch() const;
  std::size_t units() const;                                                // what can be shared among threads
  std::size_t planes() const { return loops_[0].count * loops_[1].count; }  // each a run of units, in their order
  // Whether its planes are those of a stage over rows, which comes before (and leaves each where it is read), or after.
  bool same_planes(const std::array<Loop, kMostAxes>& rows, bool before) const;
  const std::array<Loop, kMostAxes>& loops() const { return loops_; }
  double points() const;
  Access access() const { return access_; }
  const LineKernel<T>& line() const { return line_; }

  // Units [begin, end). `in` is of the type the load's samples say.
  void run(Direction direction, const void* in, Complex* out, std::size_t begin, std::size_t end,
           StageScratch<T> scratch) const;

 private:
  struct Place {
    std::size_t in = 0, out = 0, in_factor = 0, out_factor = 0;
  };
  Place place(std::size_t outer) const;  // of the outer loops' index
  void run_rows(Direction direction, const void* in, Complex* out, const Place& at, std::size_t count,
                StageScratch<T> scratch) const;
  void run_columns(Direction direction, const void* in, Complex* out, const Place& at, std::size_t count,
                   StageScratch<T> scratch) const;
  void run_streaming(Direction direction, const Complex* in, Complex* out, std::size_t count,
                     StageScratch<T> scratch) const;
  const void* input(const void* in, std::size_t element) const;

  const LineKernel<T>& line_;
  std::size_t n_, in_stride_, out_stride_, in_factor_, out_factor_;
  std::array<Loop, kMostAxes> loops_;  // the last is the innermost; for columns, the neighbours
  Access access_;
  const Factors<T>*load_, *store_;
  std::size_t element_bytes_;
  std::size_t block_;  // lines a tile holds
  std::size_t tile_ = 0;
  bool streaming_ = false;
  bool far_ = false;  // columns that a tile gathers
};

extern template class Stage<float>;
extern template class Stage<double>;

}  // namespace ridge::fft
