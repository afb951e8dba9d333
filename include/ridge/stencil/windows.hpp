// Grids larger than a device's memory. The grid stays in host memory; windows of rows are uploaded, advanced by several
// steps and downloaded, while the next window is transferred.
//
//   ridge::stencil::WindowPlan<float> plan(ridge::device("cuda:0"), heat, {.shape = grid.shape()});
//   plan.run(grid, 1000);
//
// A window also holds the rows that its steps need, radius x steps on each side; they are computed and discarded. More
// steps per transfer mean fewer transfers and more such rows: the number is chosen from the machine model.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <ridge/stencil.hpp>

namespace ridge::stencil {

struct WindowOptions {
  std::size_t memory = 0;  // bytes of the device to use; 0: three quarters of its memory
  std::size_t steps = 0;   // per transfer; 0: chosen
};

template <class T>
class WindowPlan {
 public:
  // Error{invalid_argument} for the host, for updates with coefficients or absorbing layers, and if the memory holds
  // too few rows for one step.
  WindowPlan(const Device& device, const Update<T>& update, const Problem& problem, const WindowOptions& options = {},
             const planner::Options& planning = {});
  // Needs packed cells, and memory for a second grid on the host.
  void run(Grid<T>& grid, std::size_t steps) const;
  std::size_t rows() const { return rows_; }    // of a window
  std::size_t steps() const { return steps_; }  // per transfer; 0 if the whole grid fits: all of them
  std::string explain() const;

 private:
  struct Window {
    std::size_t first = 0;           // row of the grid; rows past the end continue at its beginning (periodic)
    std::size_t begin = 0, end = 0;  // rows of the window that are kept
  };
  std::vector<Window> windows(std::size_t steps) const;
  void pass(const Grid<T>& from, Grid<T>& to, std::size_t steps) const;
  void choose_steps(const Device& device, std::size_t row_bytes);

  Problem problem_;
  std::size_t fields_ = 1, radius_ = 0, row_ = 0;  // cells of a row
  std::size_t rows_ = 0, steps_ = 0;
  std::optional<Plan<T>> plan_{};
};

}  // namespace ridge::stencil
