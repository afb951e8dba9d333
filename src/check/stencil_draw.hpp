// Updates by chance.
#pragma once
#include <cstddef>

#include <ridge/stencil.hpp>

#include "check/random.hpp"

namespace ridge::check {

// An update and how fast a difference may grow in it: the sum of the weights' sizes, at least 1.
template <class T>
struct Drawn {
  stencil::Update<T> update;
  double growth = 1;
  std::size_t roundings = 0;  // of a cell, in a step
};

// Sums of one field with constant weights.
template <class T>
Drawn<T> draw_linear(Random& random, std::size_t dimensions);
// All others: several fields, coefficients a cell, functions that are no sums.
template <class T>
Drawn<T> draw_system(Random& random);

}  // namespace ridge::check
