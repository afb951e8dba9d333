// The loops of every host variant that takes a step at a time: threads over rows, a fork a step.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "stencil/host/host_variant.hpp"

namespace ridge::stencil {

struct RowLoops {
  std::size_t rows = 1;    // output rows a kernel call computes
  std::size_t width = 0;   // cells of a block along x; 0: whole rows
  std::size_t height = 0;  // rows of a block along y (3D); 0: whole planes
  std::size_t threads = 1;
  bool fence = false;  // the kernel stores round the caches
  // Rows of a plane as one long row: what lies between them is computed too and made good afterwards. For kernels that
  // take any cells along x, one field, whole blocks.
  bool flat = false;
  // Not 0: each thread's rows are cut into so many pieces, and a thread that is done with its own takes others'.
  std::size_t pieces = 0;
};

template <class T>
class RowVariant final : public HostVariant<T> {
 public:
  RowVariant(const Layout& layout, RowKernel<T> kernel, const RowLoops& loops)
      : HostVariant<T>(layout), kernel_(std::move(kernel)), loops_(loops) {}
  void steps(Levels<T>& levels, std::size_t count) const override;

 private:
  class Pieces;
  void thread_rows(Levels<T>& levels, RowTable<T>& table, const base::Share& share) const;
  void flat_rows(Levels<T>& levels, RowTable<T>& table, std::size_t z, const base::Share& rows) const;
  void block(Levels<T>& levels, RowTable<T>& table, const base::Share& share, std::size_t z, std::size_t y_begin,
             std::size_t y_end) const;
  void thread_columns(Levels<T>& levels, RowTable<T>& table, std::size_t thread, std::size_t threads) const;
  void close_rows(Levels<T>& levels) const;

  RowKernel<T> kernel_;
  RowLoops loops_;
};

// The candidate every lister of row variants starts from: name, kernel, what the loops are, cost of `accesses`.
template <class T>
Entry<T> row_entry(const std::string& variant, const Update<T>& update, const Layout& layout,
                   const KernelChoice<T>& choice, const RowLoops& loops, double accesses, double efficiency);

}  // namespace ridge::stencil
