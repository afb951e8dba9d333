// What host variants share: a session over two levels, threads to try, and which kernel computes rows.
#pragma once
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "stencil/host/levels.hpp"
#include "stencil/host/linear_rows.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {

template <class T>
class HostVariant : public Variant<T> {
 public:
  explicit HostVariant(const Layout& layout) : layout_(layout) {}
  std::unique_ptr<Running<T>> start(const Grid<T>& grid, const Grid<T>* coefficients) const final;
  bool takes_strides() const final { return true; }

  // Takes `count` steps, any number. Afterwards levels.current() is the newest, its rows closed (close_row), and after
  // a single step levels.next() is the one before. Called by one thread at a time for the same levels, by any number
  // for different ones.
  virtual void steps(Levels<T>& levels, std::size_t count) const = 0;

 protected:
  const Layout& layout() const { return layout_; }

 private:
  Layout layout_;
};

// A way to compute rows, and what to call it. The update's own loop always comes first and is exact; the SIMD sum of a
// linear update is exact where the update is defined as that sum; other updates of real numbers also come as a list of
// vector operations.
template <class T>
struct KernelChoice {
  const char* name;  // "compiler", "simd", "vector"
  RowKernel<T> kernel;
  bool exact;
};
template <class T>
std::vector<KernelChoice<T>> row_kernels(const Update<T>& update, bool streaming = false);

// One thread, and all the problem may use: forking costs more than small grids take.
std::vector<std::size_t> thread_counts(const Layout& layout);

}  // namespace ridge::stencil
