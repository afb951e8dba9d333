// Shared part of the host variants: a session over two time levels, thread counts to try, and the available row
// kernels.
#pragma once
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "stencil/host/kernels/linear_rows.hpp"
#include "stencil/host/levels.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {

template <class T>
class HostVariant : public Variant<T> {
 public:
  explicit HostVariant(const Layout& layout) : layout_(layout) {}
  std::unique_ptr<Running<T>> start(const Grid<T>& grid, const Grid<T>* coefficients) const final;
  bool takes_strides() const final { return true; }

  // Takes `count` steps. Afterwards levels.current() is the newest level with filled border cells (close_row). Called
  // by one thread at a time per Levels object, concurrently for different ones.
  virtual void steps(Levels<T>& levels, std::size_t count) const = 0;
  // Takes one step, after which levels.next() is the previous level. Variants whose steps overwrite it have their own.
  virtual void step_apart(Levels<T>& levels) const { steps(levels, 1); }
  // Takes one step, in place if the variant can: then the two levels of each field are exchanged. `opened`: not the
  // first call since settle(). Returns whether they are exchanged afterwards. `done`, if any, is called for all rows.
  virtual bool single(Levels<T>& levels, bool /*opened*/, bool /*exchanged*/, const RowsDone& done) const {
    steps(levels, 1);
    if (done) done_with_all(done, false);
    return false;
  }
  virtual void exchange(Levels<T>& /*levels*/) const {}  // swaps them

 protected:
  const Layout& layout() const { return layout_; }
  // Calls `done` for all rows, divided among the threads.
  void done_with_all(const RowsDone& done, bool exchanged) const;

 private:
  Layout layout_;
};

// A row kernel and its name. The update's own loop comes first and is exact. The SIMD sum of a linear update is exact
// if the update is defined as that sum. Other floating-point updates are also available as a list of vector operations.
template <class T>
struct KernelChoice {
  const char* name;  // "compiler", "simd", "vector"
  RowKernel<T> kernel;
  bool exact;
};
template <class T>
std::vector<KernelChoice<T>> row_kernels(const Update<T>& update, bool streaming = false);

// Names the schedule in the candidate, if the caller chose one.
void add_schedule(planner::Candidate& candidate, const Layout& layout);

// One thread, and all threads that the problem may use: forking costs more than small grids take.
std::vector<std::size_t> thread_counts(const Layout& layout);

}  // namespace ridge::stencil
