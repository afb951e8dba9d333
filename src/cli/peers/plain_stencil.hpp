// What a person would write: a plain loop the compiler vectorises, over our threads; on a device a cell a work-item.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ridge/stencil.hpp>

namespace ridge::cli {

// Stencils the peers know: crosses and boxes with one weight for the centre and one for the others, fixed borders.
struct PlainStencil {
  std::size_t dimensions = 2;
  int order = 1;
  bool box = false;
  double centre = 0, other = 0;
};

// Advances a grid of its own, which `grid` starts, by `steps`; read() brings it back. Nothing for a stencil it does not
// know.
template <class T>
class PlainRun {
 public:
  virtual ~PlainRun() = default;
  virtual void put(const stencil::Grid<T>& grid) = 0;  // starts anew from it
  virtual void run(std::size_t steps) = 0;             // waits
  virtual void read(stencil::Grid<T>& grid) = 0;
};
template <class T>
std::unique_ptr<PlainRun<T>> plain_host(const PlainStencil& stencil, const stencil::Grid<T>& grid, std::size_t threads);
template <class T>
std::unique_ptr<PlainRun<T>> plain_device(const Device& device, const PlainStencil& stencil,
                                          const stencil::Grid<T>& grid);

}  // namespace ridge::cli
