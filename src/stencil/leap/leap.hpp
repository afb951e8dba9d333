// Any number of steps of a linear stencil with constant weights for two transforms: every mode of its basis times a
// power of its symbol. Exact but for rounding; the error is that of the transforms, some units in the last place of the
// grid's largest value at the start, and steps times 2^-52 of it for the power.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "stencil/leap/modes.hpp"
#include "stencil/leap/power.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {

template <class T>
class Leap {
 public:
  virtual ~Leap() = default;
  // False, and nothing is changed, where a cell is not a number or the stencil lets a mode grow: steps show that
  // better.
  virtual bool run(Grid<T>& grid, const leap::Reach& reach) const = 0;
  // On a device: of a grid that lives there; the grid may hold infinities and NaN afterwards where it did before.
  virtual bool run(Running<T>& running, std::size_t steps) const = 0;
  // Compiles what run() will need; the grid stays as it is.
  virtual void prepare(Running<T>& /*running*/, std::size_t /*steps*/) const {}
};

// A plan's leap: whether there is one, from how many steps on it pays, and the thing itself once it is wanted.
struct LeapChoice {
  std::string refusal = {};
  double seconds = 0;           // expected of one
  std::size_t from = 0;         // steps; 0: never
  std::string transforms = {};  // in words
  std::string explain() const;
};

// `step_seconds`: of the stepping variant that was chosen.
template <class T>
LeapChoice choose_leap(const Device& device, const Update<T>& update, const Problem& problem, const Layout& layout,
                       double step_seconds);

template <class T>
std::unique_ptr<const Leap<T>> host_leap(const Update<T>& update, const Layout& layout);

// Where modes_of() has even weights and the device computes in double. `effort` goes to its transforms.
template <class T>
std::unique_ptr<const Leap<T>> device_leap(const Device& device, const Update<T>& update, const Layout& layout,
                                           Effort effort);

// How much a mode may grow before steps are preferred.
leap::Reach reach_of(const Layout& layout, std::size_t steps);

}  // namespace ridge::stencil
