// Shared by the tests of ready problems.
#pragma once
#include <ridge/stencil.hpp>

namespace ridge::stencil::test {

template <class T>
void advance(const Update<T>& update, const Problem& problem, Grid<T>& grid, std::size_t steps) {
  Plan<T>(host(), update, problem, {.effort = Effort::quick, .use_wisdom = false}).run(grid, steps);
}

}  // namespace ridge::stencil::test
