// The problems `ridge bench stencil` times: what a step does, from which grid, and what it must move at least.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ridge/stencil.hpp>

#include "cli/bench/stencil.hpp"

namespace ridge::cli {

template <class T>
struct StencilProblem {
  PlainStencil plain{};  // with weights; none where a system is asked for
  stencil::Update<T> update;
  stencil::Problem problem{};
  stencil::Grid<T> grid;
  std::unique_ptr<stencil::Grid<T>> coefficients{};
  double least_values = 2;  // read and written for a cell and step: whatever changes once each, levels that are only
                            // remembered and coefficients read
};

// Another grid every time: nobody's figures may rest on one set of numbers.
template <class T>
StencilProblem<T> stencil_problem(const StencilBench& wanted);

std::vector<stencil::Offset> offsets_of(const PlainStencil& stencil);

// "wave2d", "acoustic3d:4", "euler2d", "maxwell2d": its name, axes and the differences' order; none for star2d and
// such.
struct StencilSystem {
  std::string name{};
  std::size_t dimensions = 2;
  int accuracy = 2;
};
std::optional<StencilSystem> stencil_system(const std::string& text);

}  // namespace ridge::cli
