#pragma once
#include <ridge/stencil.hpp>

namespace ridge::test {

template <class T>
void advance(const stencil::Update<T>& update, const stencil::Problem& problem, stencil::Grid<T>& grid,
             std::size_t steps) {
  stencil::Plan<T>(host(), update, problem, {.effort = Effort::quick, .use_wisdom = false}).run(grid, steps);
}

}  // namespace ridge::test
