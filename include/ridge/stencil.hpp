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

// Many steps of a linear stencil with constant weights can be computed at once by two transforms (docs/leap.md). The
// result differs from single steps by rounding.
enum class LeapUse {
  automatic,  // if the number of steps is large enough that it is expected to halve the time
  never,
  always,  // for any number of steps; Error if the problem does not support it
};

// Division of a step's rows, tiles or blocks among host threads, as in OpenMP's schedule clause. Answers do not depend
// on it. Grids with fewer than two rows per thread are divided along x, always evenly.
enum class Schedule {
  automatic,  // the variant's own: rows evenly, tiles and blocks dynamically
  fixed,      // "static": equal parts, the same in every step
  dynamic,    // small parts; a thread that is free takes the next one
  guided,     // as dynamic, with parts that become smaller towards the end
};
std::string to_string(Schedule schedule);          // "automatic", "static", "dynamic", "guided"
Schedule parse_schedule(const std::string& name);  // Error{invalid_argument} for other names

struct Problem {
  std::vector<std::size_t> shape;
  Borders borders = {};
  std::size_t threads = 0;  // host: 0 = all
  LeapUse leap = LeapUse::automatic;
  Schedule schedule = Schedule::automatic;  // host
};

// Norm of the change in one step, u(new) - u(old) over all cells and fields; l2 is the root mean square.
enum class Norm { max, l2 };

struct Stop {
  std::size_t steps = 0;
  double change = 0;  // norm of the last step's change
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
  // Advances the grid by `steps`. The update's coefficients are in a separate grid, one field each.
  void run(Grid<T>& grid, std::size_t steps, const Grid<T>* coefficients = nullptr) const;
  // Steps until one changes the grid by no more than `tolerance`, or gives a NaN.
  Stop run_until(Grid<T>& grid, double tolerance, Norm norm = Norm::max, std::size_t most_steps = 1'000'000,
                 std::size_t check_every = 0,  // 0: chosen so that checking costs little
                 const Grid<T>* coefficients = nullptr) const;
  // Cells in memory of the plan's device, all fields consecutive as in a Grid; `in` and `out` may be the same.
  // Enqueued, not waited for. Calls share scratch memory, so they must be serialized: use the same queue, or wait for
  // the previous call. Not for plans on the host.
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out, std::size_t steps,
               const Buffer& coefficients = {}) const;
  Session<T> start(const Grid<T>& grid, const Grid<T>* coefficients = nullptr) const;
  // Computes the steady state directly, on the host: for example the temperatures of a plate between fixed borders.
  // Error if the problem does not support leaps, has no limit, or a cell is not a number.
  void steady(Grid<T>& grid) const;
  std::size_t leaps_from() const;  // number of steps from which run() leaps; 0: never
  std::string explain() const;
  const std::vector<planner::Decision>& decisions() const;  // one
  const std::vector<KernelSource>& kernels() const;         // compiled kernels; empty on the host
  const Update<T>& update() const;
  const Problem& problem() const;
  const Device& device() const;
  double flops() const;  // per step, independent of the variant
  double bytes() const;  // per step: every cell read once and written once

 private:
  planner::Exchangeable<PlanState<T>> state_;
};

// A grid on the plan's device, advanced without transfers. A session belongs to one thread at a time.
template <class T>
class Session {
 public:
  void run(std::size_t steps);           // on a device: enqueued; read() waits
  void prepare(std::size_t steps);       // compiles the kernels of run(steps) in advance
  double change(Norm norm = Norm::max);  // takes one more step and returns its change
  Stop run_until(double tolerance, Norm norm = Norm::max, std::size_t most_steps = 1'000'000,
                 std::size_t check_every = 0);
  void read(Grid<T>& grid);
  void wait();
  std::size_t steps() const;       // taken so far
  std::size_t leaps_from() const;  // as the plan's; 0 after a leap was refused because the grid grows
  // Reads and writes part of the grid, all fields consecutive, rows packed; used for halos. put() may also write fixed
  // borders. Error{invalid_argument} for a box outside the grid or a span of the wrong size.
  void get(const Box& box, std::span<T> cells);
  void put(const Box& box, std::span<const T> cells);
  // Sources and receivers. add() adds a value to a cell (z, y, x). keep() records the current cells of a box; kept()
  // returns all records in the order of the calls, each in the layout of get(). On a device these are enqueued: no step
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
