// Draws random stencil updates.
#pragma once
#include <cstddef>

#include <ridge/stencil.hpp>

#include "check/random.hpp"

namespace ridge::check {

// An update and the growth of a difference per step: the sum of the absolute weights, at least 1.
template <class T>
struct Drawn {
  stencil::Update<T> update;
  double growth = 1;
  std::size_t roundings = 0;  // roundings per cell and step
};

// Sums of one field with constant weights.
template <class T>
Drawn<T> draw_linear(Random& random, std::size_t dimensions);
// All others: several fields, coefficients per cell, nonlinear functions.
template <class T>
Drawn<T> draw_system(Random& random);

}  // namespace ridge::check
