// An update as values shared between cells. A neighbour often computes the same value for its own cell: a primitive
// variable, a slope, the flux through a common face, or, with several steps at once, a whole earlier step. Each such
// value is computed once; its users refer to it by cell offset.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "stencil/expression.hpp"

namespace ridge::stencil {

struct SharedValue {
  struct Use {
    std::size_t value = 0;
    Offset shift{};  // from the cell that owns the value
  };
  Node::Kind kind{};
  double constant = 0;
  std::size_t field = 0;  // read, coefficient: always at the cell itself
  std::array<Use, 3> operands{};
  int left = 0, right = 0;  // along x: number of invalid cells at the ends of a strip of inputs
  int low = 0, high = 0;    // along the slowest axis in use: rows before and after its own that inputs are read at
  int lag = 0;              // delay in rows: computed when the input row this far ahead has arrived
  int keep = 0;             // number of earlier rows at which it is still used
};

struct SharedValues {
  std::vector<SharedValue> values{};  // operands come first
  // The new value of each field after all steps; `copies` if it is the input itself.
  std::vector<SharedValue::Use> outputs{};
  int lag = 0, low = 0, margin = 0;  // of the outputs; the margin of both ends

  std::size_t kept() const;        // values of earlier rows that are kept, per cell
  std::size_t operations() const;  // per cell
};

// `depth` steps of the tape; rows are counted along `axis` (1 in two dimensions, 0 in three).
SharedValues shared_values(const Tape& tape, std::size_t depth, std::size_t axis);

}  // namespace ridge::stencil
