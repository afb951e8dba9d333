// Timing and comparison of stencil variants during planning.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "stencil/variant.hpp"

namespace ridge::stencil {

// Steps after which answers are compared: the kernel of each depth has run at least twice, and so have those of the
// remainder, of four steps and of one.
std::size_t compared_steps(const std::vector<std::size_t>& depths);

// Boxes in which results of a grid are compared: all of it, or 4 to 64 boxes of whole planes (rows in 2D, cells in 1D)
// at nearly equal distances, the first and the last plane included. They have at most `most` values, or four planes.
std::vector<Box> compared_boxes(const std::vector<std::size_t>& shape, std::size_t fields,
                                std::size_t most = std::size_t{1} << 28);
std::size_t first_cell(const std::vector<std::size_t>& shape, const Box& box);  // of a box, in a packed field

template <class T>
class Trials final : public planner::Trials<Variant<T>> {
 public:
  Trials(const Device& device, const Update<T>& update, const Problem& problem, const Layout& layout,
         const std::vector<Entry<T>>& entries);
  double seconds(const Variant<T>& variant) override;  // per step
  // A large grid takes seconds per sweep: a part of it that exceeds the caches too is timed instead.
  double seconds_of(std::size_t entry, const typename planner::Trials<Variant<T>>::Build& build) override;
  planner::Comparison compare(const Variant<T>& variant) override;

 private:
  struct Grids {
    std::unique_ptr<Grid<T>> cells{}, coefficients{};
  };
  void fill(Grids& grids, const std::vector<std::size_t>& shape) const;
  double timed(const Variant<T>& variant, const Grids& grids, double scale);
  void make_expected();

  Device device_;
  const Update<T>& update_;
  const Problem& problem_;
  const Layout& layout_;
  const std::vector<Entry<T>>& entries_;
  std::optional<Problem> part_;
  Grids whole_, of_part_;
  double best_ = 0;  // seconds of a step so far
  // Coefficients for comparisons, as small as in stable updates: with larger ones some cells, and their rounding
  // errors, grow by orders of magnitude above the mean.
  std::unique_ptr<Grid<T>> mild_;
  std::unique_ptr<Grid<T>> expected_, answer_;
  std::size_t steps_ = 0;  // number of steps of expected_
};

}  // namespace ridge::stencil
