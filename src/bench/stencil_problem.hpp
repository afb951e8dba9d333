// Problems of `ridge bench stencil`: the update, the initial grid and the minimum memory traffic.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ridge/stencil.hpp>

#include "bench/stencil.hpp"

namespace ridge::cli {

template <class T>
struct StencilProblem {
  PlainStencil plain{};  // with weights; unused for systems
  stencil::Update<T> update;
  stencil::Problem problem{};
  stencil::Grid<T> grid;
  std::unique_ptr<stencil::Grid<T>> coefficients{};
  // Minimum values read and written per cell and step: changing fields are read and written once each; previous levels
  // and coefficients are read once.
  double least_values = 2;
};

// A new random grid every time, so that results do not depend on one set of values.
template <class T>
StencilProblem<T> stencil_problem(const StencilBench& wanted);

std::vector<stencil::Offset> offsets_of(const PlainStencil& stencil);

// Name, dimensions and order of "wave2d", "acoustic3d:4", "euler2d", "maxwell2d"; empty for star2d and the like.
struct StencilSystem {
  std::string name{};
  std::size_t dimensions = 2;
  int accuracy = 2;
};
std::optional<StencilSystem> stencil_system(const std::string& text);

}  // namespace ridge::cli
