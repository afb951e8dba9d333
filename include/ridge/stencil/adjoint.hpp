// The adjoint of a linear stencil: the transpose of any number of steps, derived from the update itself.
//
//   auto plan = ridge::stencil::plan(device, update, {.shape = shape});
//   auto back = ridge::stencil::adjoint(plan);
//   back.run(grid, 100, &coefficients);  // dot(forward(x), y) == dot(x, back(y))
//
// The transpose is an update too, in gather form: it runs on every device by the variants of ordinary plans. Borders
// and absorbing layers are included. Cells of fixed borders are constants: their adjoint is 0. Memory variables of
// layers are 0 before the first step.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <ridge/stencil.hpp>
#include <ridge/stencil/checkpoints.hpp>

namespace ridge::stencil {

template <class T>
struct AdjointState;

template <class T>
class Adjoint {
 public:
  explicit Adjoint(const Plan<T>& forward, const planner::Options& options = {});
  // The grid holds derivatives with respect to the fields after `steps` steps; afterwards, before them.
  // Error{invalid_argument} for other shapes, and for a coefficient of 0 by which fields are divided.
  void run(Grid<T>& grid, std::size_t steps, const Grid<T>* coefficients = nullptr) const;
  const Plan<T>& plan() const;  // of the transposed update
  std::string explain() const;

 private:
  std::shared_ptr<const AdjointState<T>> state_;
};

// Error{invalid_argument} if the update is not linear in its fields.
template <class T>
Adjoint<T> adjoint(const Plan<T>& forward, const planner::Options& options = {}) {
  return Adjoint<T>(forward, options);
}

// The gradient of a number that depends on the states of a run, by a reverse run. For every update, also nonlinear
// ones: the derivative of each step is taken at its stored state. At a tie of min or max the first operand counts.
//
//   auto gradient = ridge::stencil::gradient(plan);
//   auto found = gradient.run(grid, 100, &coefficients, [](std::size_t step, const auto& state, auto& derivative) {
//     if (step == 100) ...  // add the derivative of the misfit with respect to the state after step 100
//   });
template <class T>
struct PlanGradientState;

template <class T>
struct FoundGradient {
  Grid<T> state;                          // with respect to the fields before the first step, fixed cells included
  std::optional<Grid<T>> coefficients{};  // with respect to the coefficients, if the update has any
  double recomputation = 1;               // forward steps taken per step of the run
  std::string explain{};                  // what was stored, and its size
};

template <class T>
class PlanGradient {
 public:
  // Adds to `derivative` the derivative of the misfit with respect to the state after step `step`. Called once for each
  // of the steps, from the last to the first.
  using Misfit = std::function<void(std::size_t step, const Grid<T>& state, Grid<T>& derivative)>;

  // Called after each forward step, also repeated ones, to add sources that do not depend on the state.
  using Sources = std::function<void(std::size_t step, Session<T>& session)>;

  explicit PlanGradient(const Plan<T>& forward, const planner::Options& options = {});
  // Takes `steps` steps from `start` and goes back. `memory`: bytes for fields and stored states in host memory; 0:
  // half of it. Error{invalid_argument} with the least sufficient number if it does not suffice. A continued run calls
  // `misfit` for the steps that are left only.
  FoundGradient<T> run(const Grid<T>& start, std::size_t steps, const Grid<T>* coefficients, const Misfit& misfit,
                       std::size_t memory = 0, const Sources& sources = {},
                       const RunCheckpoints& checkpoints = {}) const;
  const Plan<T>& plan() const;  // of the update's transposed derivative

 private:
  std::shared_ptr<const PlanGradientState<T>> state_;
};

template <class T>
PlanGradient<T> gradient(const Plan<T>& forward, const planner::Options& options = {}) {
  return PlanGradient<T>(forward, options);
}

}  // namespace ridge::stencil
