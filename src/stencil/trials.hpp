// Timing and comparison of stencil variants during planning.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "stencil/repeated_grid.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {

// Steps after which answers are compared: the kernel of each depth has run at least twice, and so have those of the
// remainder, of four steps and of one.
std::size_t compared_steps(const std::vector<std::size_t>& depths);

template <class T>
class Trials final : public planner::Trials<Variant<T>> {
 public:
  Trials(const Device& device, const Update<T>& update, const Problem& problem, const Layout& layout,
         const std::vector<Entry<T>>& entries, std::size_t large_grid = kLargeGrid);
  double seconds(const Variant<T>& variant) override;  // per step
  // A large grid takes seconds per sweep: a part of it that exceeds the caches too is timed instead.
  double seconds_of(std::size_t entry, const typename planner::Trials<Variant<T>>::Build& build) override;
  planner::Comparison compare(const Variant<T>& variant) override;

 private:
  struct Grids {
    std::unique_ptr<Grid<T>> cells{}, coefficients{};
  };
  void fill(Grids& grids, const std::vector<std::size_t>& shape) const;
  void fill_whole();
  std::unique_ptr<Running<T>> start(const Variant<T>& variant, const Grid<T>* coefficients);
  std::size_t steps_of_all() const;  // compared_steps() of the entries
  double timed(const Variant<T>& variant, Running<T>& running, double scale);
  void make_expected();
  planner::Comparison compared_on_device(Running<T>& running, double allowed) const;

  Device device_;
  const Update<T>& update_;
  const Problem& problem_;
  const Layout& layout_;
  const std::vector<Entry<T>>& entries_;
  std::optional<Problem> part_;
  std::optional<RepeatedGrid<T>> repeated_;  // large grids on devices: the grids below are small
  Problem compared_;                         // the problem of the grids that the host has
  Grids whole_, of_part_;
  double best_ = 0;  // seconds of a step so far
  // Coefficients for comparisons, as small as in stable updates: with larger ones some cells, and their rounding
  // errors, grow by orders of magnitude above the mean.
  std::unique_ptr<Grid<T>> mild_;
  std::unique_ptr<Grid<T>> expected_, answer_;  // expected_: of compared_
  std::size_t steps_ = 0;                       // number of steps of expected_
};

}  // namespace ridge::stencil
