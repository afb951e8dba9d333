// The baseline stencil: a plain loop, vectorized by the compiler, on all threads; on a device one cell per work-item.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <ridge/stencil.hpp>

namespace ridge::cli {

// Supported stencils: stars and boxes with one weight for the centre and one for the other points, fixed borders.
struct PlainStencil {
  std::size_t dimensions = 2;
  int order = 1;
  bool box = false;
  double centre = 0, other = 0;
};

// Advances its own copy of a grid; read() copies cells of it back. Null for an unsupported stencil.
template <class T>
class PlainRun {
 public:
  virtual ~PlainRun() = default;
  virtual void restart() = 0;                                    // from the cells that it was made with
  virtual void run(std::size_t steps) = 0;                       // waits
  virtual void read(std::size_t first, std::span<T> cells) = 0;  // packed cells from `first` on
};
template <class T>
std::unique_ptr<PlainRun<T>> plain_host(const PlainStencil& stencil, const stencil::Grid<T>& grid, std::size_t threads);

// On a device, where `cells` enqueues the cells to start from.
using PlainCells = std::function<void(Queue& queue, const Buffer& packed)>;
template <class T>
class PlainDeviceRun : public PlainRun<T> {
 public:
  virtual void view(const PlainCells& use) = 0;  // enqueues work that reads the newest cells
};
template <class T>
std::unique_ptr<PlainDeviceRun<T>> plain_device(const Device& device, const PlainStencil& stencil,
                                                const std::vector<std::size_t>& shape, const PlainCells& cells);

// One row: out[x] = centre * in[0][x] + other * (the sum of in[1 ..][x]), for x in [begin, end).
template <class T>
using PlainRow = void (*)(const T* const* in, T centre, T other, T* out, std::size_t begin, std::size_t end);

// For 3, 5, 7, 9, 13, 17, 19, 25 or 27 points, compiled for this processor; null for another number.
template <class T>
PlainRow<T> plain_row(std::size_t points);

}  // namespace ridge::cli
