// Loops of the host variants that take one step at a time: threads over rows, one fork per step.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "stencil/host/host_variant.hpp"

namespace ridge::stencil {

constexpr std::size_t kPieces = 32;  // per thread, with the dynamic schedule

struct RowLoops {
  std::size_t rows = 1;    // output rows per kernel call
  std::size_t width = 0;   // cells per block along x; 0: whole rows
  std::size_t height = 0;  // rows per block along y (3D); 0: whole planes
  std::size_t threads = 1;
  bool fence = false;  // the kernel uses streaming stores
  // Computes the rows of a plane as one long row; the padding between them is computed too and restored afterwards. For
  // kernels that accept any range of x, one field, whole blocks.
  bool flat = false;
  // If not 0, each thread's rows are divided into this many blocks, and idle threads take blocks of others: the dynamic
  // schedule.
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

// Base candidate of the row variants: name, kernel, loop parameters, and the cost of `accesses` memory accesses per
// cell. A schedule that the caller chose replaces the one of `loops`.
template <class T>
Entry<T> row_entry(const std::string& variant, const Update<T>& update, const Layout& layout,
                   const KernelChoice<T>& choice, RowLoops loops, double accesses, double efficiency);

}  // namespace ridge::stencil
