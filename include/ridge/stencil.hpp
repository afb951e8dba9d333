// Stencils on structured grids: any shape, any border, many steps at a time.
//
//   using namespace ridge::stencil;
//   auto heat = update<float>(2, [](auto u) {
//     return u(0, 0) + 0.1f * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4.0f * u(0, 0));
//   });
//   Grid<float> grid({8192, 8192});
//   auto plan = ridge::stencil::plan(ridge::host(), heat, {.shape = grid.shape()});
//   plan.run(grid, 200);
//
// The same function runs inlined on the host and as generated source on a device. Cells are float, double, int32_t or
// uint8_t.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>
#include <ridge/stencil/grid.hpp>    // Border, Borders, Grid<T>, Box
#include <ridge/stencil/update.hpp>  // Update<T>, update<T>(), linear<T>(), the expression a device gets

namespace ridge::stencil {

// Many steps of a linear stencil with constant weights can be taken at once, for two transforms (docs/leap.md). The
// result differs from that of steps by rounding.
enum class LeapUse {
  automatic,  // where so many steps are asked for at once that it is expected to take half the time at most
  never,
  always,  // however few steps; Error where the problem has no leap
};

struct Problem {
  std::vector<std::size_t> shape;
  Borders borders = {};
  std::size_t threads = 0;  // host: 0 = all
  LeapUse leap = LeapUse::automatic;
};

// Of what a step changes, u(new) - u(old) over all cells and fields; l2 is the root of the mean square.
enum class Norm { max, l2 };

struct Stop {
  std::size_t steps = 0;
  double change = 0;  // the norm of the last step
  bool converged = false;
};

template <class T>
class Session;
template <class T>
struct PlanState;
template <class T>
struct SessionState;

// Immutable; any number of sessions may run from it, in any number of threads.
template <class T>
class Plan {
 public:
  Plan(const Device& device, const Update<T>& update, const Problem& problem, const planner::Options& options = {});
  // Advances the grid by `steps`. Coefficients of the update come in a grid of their own, a field each.
  void run(Grid<T>& grid, std::size_t steps, const Grid<T>* coefficients = nullptr) const;
  // Until a step changes the grid by no more than `tolerance`; a NaN, which no step can mend, ends it too.
  Stop run_until(Grid<T>& grid, double tolerance, Norm norm = Norm::max, std::size_t most_steps = 1'000'000,
                 std::size_t check_every = 0,  // 0: chosen so that checking costs little
                 const Grid<T>* coefficients = nullptr) const;
  // Cells in memory of the plan's device, all fields one after the other as a Grid has them; `in` and `out` may be the
  // same. Enqueued, not waited for. Calls one after the other, on the same queue or with the one before waited for:
  // they share their memory. Not for plans on the host.
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out, std::size_t steps,
               const Buffer& coefficients = {}) const;
  Session<T> start(const Grid<T>& grid, const Grid<T>* coefficients = nullptr) const;
  // What ever more steps would lead to, in one go on the host: a plate's temperatures between fixed borders. Error
  // where there is no leap, no limit, or a cell that is not a number.
  void steady(Grid<T>& grid) const;
  std::size_t leaps_from() const;  // steps at once from which on they are leapt over; 0: never
  std::string explain() const;
  const std::vector<planner::Decision>& decisions() const;  // one
  const std::vector<KernelSource>& kernels() const;         // what was compiled for it; none on the host
  const Update<T>& update() const;
  const Problem& problem() const;
  const Device& device() const;
  double flops() const;  // of a step, whatever the variant really does
  double bytes() const;  // of a step: every cell read once and written once

 private:
  std::shared_ptr<const PlanState<T>> state_;
};

// A grid that lives where the plan runs: steps without a round trip. A session belongs to one thread at a time.
template <class T>
class Session {
 public:
  void run(std::size_t steps);           // on a device: enqueued; read() waits
  void prepare(std::size_t steps);       // compiles what run(steps) would compile when it comes to it
  double change(Norm norm = Norm::max);  // of one further step, which is taken
  Stop run_until(double tolerance, Norm norm = Norm::max, std::size_t most_steps = 1'000'000,
                 std::size_t check_every = 0);
  void read(Grid<T>& grid);
  void wait();
  std::size_t steps() const;       // taken so far
  std::size_t leaps_from() const;  // as the plan's; 0 once a leap was refused because the grid grows
  // Part of the grid, all fields one after the other, rows packed: how halos come and go. What is put may lie on a
  // fixed border too. Error{invalid_argument} for a box that leaves the grid or a span of another size.
  void get(const Box& box, std::span<T> cells);
  void put(const Box& box, std::span<const T> cells);
  // A source and its receivers: a number added to a cell (z, y, x), and the cells of a box as they are now, kept until
  // kept() hands over all there are, in the order of the calls, each as get() has it. On a device enqueued: no step
  // waits for the host.
  void add(const std::array<std::size_t, 3>& cell, std::size_t field, T value);
  void keep(const Box& box);
  std::vector<T> kept();

 private:
  friend class Plan<T>;
  explicit Session(std::shared_ptr<SessionState<T>> state) : state_(std::move(state)) {}
  std::shared_ptr<SessionState<T>> state_;
};

template <class T>
Plan<T> plan(const Device& device, const Update<T>& update, const Problem& problem,
             const planner::Options& options = {}) {
  return Plan<T>(device, update, problem, options);
}

// Every variant that exists for a device, allowed or not.
template <class T>
std::vector<planner::Candidate> candidates(const Device& device, const Update<T>& update, const Problem& problem);

}  // namespace ridge::stencil
