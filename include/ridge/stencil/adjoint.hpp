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
#include <memory>
#include <string>

#include <ridge/stencil.hpp>

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

}  // namespace ridge::stencil
