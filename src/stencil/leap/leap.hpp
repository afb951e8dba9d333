// Any number of steps of a linear stencil with constant weights for the cost of two transforms: every mode of its basis
// is multiplied by a power of its symbol. Exact up to rounding: the error is that of the transforms, a few units in the
// last place of the grid's largest initial value, plus steps times 2^-52 of it for the power.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "stencil/leap/modes.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {

template <class T>
class Leap {
 public:
  virtual ~Leap() = default;
  // Returns false and changes nothing if a cell is NaN or a mode grows: the caller then computes step by step.
  virtual bool run(Grid<T>& grid, const leap::Reach& reach) const = 0;
  // For a grid in device memory. If it holds infinities or NaN, it may hold more of them afterwards.
  virtual bool run(Running<T>& running, std::size_t steps) const = 0;
  // Compiles what run() will need; leaves the grid unchanged.
  virtual void prepare(Running<T>& /*running*/, std::size_t /*steps*/) const {}
};

// A plan's leap: if it is possible, from how many steps on it pays, and the object once it is needed.
struct LeapChoice {
  std::string refusal = {};
  double seconds = 0;           // expected time of one leap
  std::size_t from = 0;         // steps; 0: never
  std::string transforms = {};  // description
  std::string explain() const;
};

// `step_seconds`: time per step of the chosen stepping variant.
template <class T>
LeapChoice choose_leap(const Device& device, const Update<T>& update, const Problem& problem, const Layout& layout,
                       double step_seconds);

template <class T>
std::unique_ptr<const Leap<T>> host_leap(const Update<T>& update, const Layout& layout);

// Requires even weights (modes_of()) and a device with double precision. `effort` is passed to the transforms.
template <class T>
std::unique_ptr<const Leap<T>> device_leap(const Device& device, const Update<T>& update, const Layout& layout,
                                           Effort effort);

// Largest growth of a mode for which a leap is used.
leap::Reach reach_of(const Layout& layout, std::size_t steps);

}  // namespace ridge::stencil
