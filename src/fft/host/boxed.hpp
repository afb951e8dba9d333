// A host transform of which only a box is given or wanted. Between two axes only the box that is not zero, or still
// needed, is stored. A block of lines with missing points is copied into a tile that stays in cache; a line of
// which all points are wanted is transformed from the tile to its final position.
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fft/box_order.hpp"
#include "fft/host/real/real_kernel.hpp"
#include "fft/host/scratch.hpp"
#include "fft/host/stage.hpp"
#include "fft/operators.hpp"

namespace ridge::fft {

// The lines of one axis.
template <class T>
struct BoxPass {
  BoxAxis axis{};
  const LineKernel<T>* line = nullptr;  // or, along the last axis of real samples:
  const RealKernel<T>* real = nullptr;
  bool forward = true;
  Loop points{};  // steps along the axis
  Loop lines{};   // steps between the lines of a block
  std::array<Loop, 2> outer{};
  const Factors<T>*load = nullptr, *store = nullptr;  // null: none
  std::size_t element_bytes = sizeof(std::complex<T>);
  bool columns = false;                            // lines of a tile are side by side
  bool streams = false;                            // results are written past the caches
  std::size_t width = 1;                           // lines per block
  std::size_t pitch() const { return width + 8; }  // of a tile of columns: not a power of two, whose lines share sets

  std::size_t blocks() const { return (lines.count + width - 1) / width; }
  std::size_t planes() const { return outer[0].count * outer[1].count; }
  std::size_t read_points() const { return axis.kind == Kind::real && !forward ? axis.length / 2 + 1 : axis.length; }
  std::size_t written_points() const { return axis.kind == Kind::real && forward ? axis.length / 2 + 1 : axis.length; }
  std::size_t tile() const;     // complex elements of the tile
  std::size_t scratch() const;  // of the kernel
  // True if that side needs no tile: the box holds all points, points or lines are adjacent, and there are no factors.
  bool direct_in() const;
  bool direct_out() const;
  // One block. `fresh`: the points of the tile outside the box are not zero yet; false afterwards if they stay zero.
  void run(const void* in, void* out, std::size_t block, std::complex<T>* tile, bool& fresh) const;

 private:
  void load_tile(const void* from, const Loop& at, std::size_t count, std::complex<T>* tile) const;
  void store_tile(const std::complex<T>* result, const Loop& at, std::size_t count, void* out) const;
};

template <class T>
class BoxedTransform {
 public:
  using Complex = std::complex<T>;
  struct Kernels {
    std::function<const LineKernel<T>&(std::size_t)> line;
    std::function<const RealKernel<T>&(std::size_t)> real;
  };
  BoxedTransform(const Problem& problem, const Layout& layout, std::size_t threads, const Kernels& kernels);
  void run(Direction direction, const void* in, void* out) const;
  std::string explain() const;
  double done_flops() const;

 private:
  struct Directed {
    std::vector<BoxAxis> axes{};
    Factors<T> load{}, store{};
    std::vector<std::vector<BoxPass<T>>> groups{};  // one pass, or two that share planes in a thread's scratch
    std::vector<std::size_t> between{};             // elements of the array after each group but the last
  };
  void build(Directed& directed, Direction direction, const Layout& layout, const Kernels& kernels);
  BoxPass<T> pass_of(const BoxAxis& axis, Direction direction, const Side& in, const Side& out, std::size_t inner,
                     const Kernels& kernels) const;

  Problem problem_;
  std::size_t threads_, tile_ = 0, plane_ = 0;
  Directed forward_, inverse_;
  std::unique_ptr<ScratchPool<T>> pool_;
};

extern template class BoxedTransform<float>;
extern template class BoxedTransform<double>;

}  // namespace ridge::fft
