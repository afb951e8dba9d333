// An update as values that cells share. What is computed for a cell is often what a neighbour computes too, at its own
// place: a primitive variable, a slope, the flux through a common face, and, where several steps are taken at once, a
// whole earlier step. Here every such value is there once; who needs it at a neighbour says at which.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "stencil/expression.hpp"

namespace ridge::stencil {

struct SharedValue {
  struct Use {
    std::size_t value = 0;
    Offset shift{};  // from the cell this value belongs to
  };
  Node::Kind kind{};
  double constant = 0;
  std::size_t field = 0;  // read, coefficient: always at the cell itself
  std::array<Use, 3> operands{};
  int left = 0, right = 0;  // along x: so many cells at the ends of a strip of inputs are not known of it
  int low = 0, high = 0;    // along the slowest axis in use: rows before and after its own that inputs are read at
  int lag = 0;              // rows it waits for: made when the inputs' row so much farther on has come
  int keep = 0;             // rows back at which it is still used
};

struct SharedValues {
  std::vector<SharedValue> values{};  // operands come first
  // The new value of each field after all steps, and what it is made from; `copies` where it is the input itself.
  std::vector<SharedValue::Use> outputs{};
  int lag = 0, low = 0, margin = 0;  // of the outputs; the margin of both ends

  std::size_t kept() const;        // values of earlier rows that are kept, a cell
  std::size_t operations() const;  // a cell
};

// `depth` steps of the tape; rows are counted along `axis` (1 in two dimensions, 0 in three).
SharedValues shared_values(const Tape& tape, std::size_t depth, std::size_t axis);

}  // namespace ridge::stencil
