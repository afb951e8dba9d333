// Stencils on structured grids: any shape, any border, many steps at a time.
//
//   using namespace ridge::stencil;
//   auto heat = update<float>(2, [](auto u) { return u(0, 0) + 0.1f * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4.0f * u(0, 0)); });
//   Grid<float> grid({8192, 8192});
//   auto plan = ridge::stencil::plan(ridge::host(), heat, {.shape = grid.shape()});
//   plan.run(grid, 200);
//
// The same function runs inlined on the host and as generated source on a device.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>
#include <ridge/stencil_update.hpp>  // Update<T>, update<T>(), linear<T>(), the expression a device gets

namespace ridge::stencil {

// What lies beyond a side of the grid.
enum class Border {
  fixed,     // Dirichlet: the outermost cells, as many layers as the stencil's radius, keep their values
  mirror,    // Neumann: the cell k beyond the side is the k-th cell inside it, so nothing flows through
  periodic,  // the grid closes on itself; an axis is periodic on both sides or on neither
};

// Axes are ordered slowest first: {y, x} in 2D, {z, y, x} in 3D.
struct Borders {
  std::array<Border, 3> low{Border::fixed, Border::fixed, Border::fixed};
  std::array<Border, 3> high{Border::fixed, Border::fixed, Border::fixed};
  static Borders all(Border border) { return {{border, border, border}, {border, border, border}}; }
};

// Cells of `fields` fields, a field after the other, rows packed.
template <class T>
class Grid {
 public:
  explicit Grid(std::vector<std::size_t> shape, std::size_t fields = 1);  // zeros
  const std::vector<std::size_t>& shape() const { return shape_; }
  std::size_t fields() const { return fields_; }
  std::size_t cells() const { return cells_; }
  std::span<T> field(std::size_t index = 0) { return {data_.get() + index * cells_, cells_}; }
  std::span<const T> field(std::size_t index = 0) const { return {data_.get() + index * cells_, cells_}; }
  T& operator()(std::size_t x) { return data_.get()[x]; }
  T& operator()(std::size_t y, std::size_t x) { return data_.get()[y * shape_[1] + x]; }
  T& operator()(std::size_t z, std::size_t y, std::size_t x) { return data_.get()[(z * shape_[1] + y) * shape_[2] + x]; }

 private:
  std::vector<std::size_t> shape_;
  std::size_t fields_, cells_;
  std::shared_ptr<T> data_;
};

struct Problem {
  std::vector<std::size_t> shape;
  Borders borders = {};
  std::size_t threads = 0;  // host: 0 = all
};

enum class Norm { max, l2 };  // of the update, u(new) - u(old); l2 is the root of the mean square

struct Stop {
  std::size_t steps = 0;
  double change = 0;  // the norm at the last check
  bool converged = false;
};

template <class T>
class Session;

// Immutable; any number of sessions may run from it.
template <class T>
class Plan {
 public:
  Plan(const Device& device, const Update<T>& update, const Problem& problem, const planner::Options& options = {});
  // Advances the grid by `steps`. Coefficient fields of the update come in their own grid.
  void run(Grid<T>& grid, std::size_t steps) const;
  Stop run_until(Grid<T>& grid, double tolerance, Norm norm = Norm::max, std::size_t most_steps = 1'000'000,
                 std::size_t check_every = 0) const;  // 0: chosen so that checking costs little
  Session<T> start(const Grid<T>& grid, const Grid<T>* coefficients = nullptr) const;
  std::string explain() const;
  const planner::Decision& decision() const;
  const Update<T>& update() const;
  const Problem& problem() const;
  const Device& device() const;

 private:
  std::shared_ptr<const struct PlanState> state_;
  friend class Session<T>;
};

// A grid that lives where the plan runs: steps without a round trip.
template <class T>
class Session {
 public:
  void run(std::size_t steps);  // on a device: enqueued; read() waits
  double change(Norm norm = Norm::max);  // of one further step, which is taken
  void read(Grid<T>& grid);
  void wait();
  std::size_t steps() const;  // taken so far

 private:
  friend class Plan<T>;
  std::shared_ptr<struct SessionState> state_;
};

template <class T>
Plan<T> plan(const Device& device, const Update<T>& update, const Problem& problem, const planner::Options& options = {}) {
  return Plan<T>(device, update, problem, options);
}

// Every variant that exists for a device, allowed or not.
template <class T>
std::vector<planner::Candidate> candidates(const Device& device, const Update<T>& update, const Problem& problem);

}  // namespace ridge::stencil
