// A 3D update as sums over neighbours and operations on them at the cell itself: waves, diffusion and all linear
// systems, with coefficients per cell. Other accesses to neighbours are not supported.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "stencil/expression.hpp"

namespace ridge::stencil {

struct PlaneSums {
  struct Term {
    std::size_t field = 0;
    Offset offset{};
    double weight = 0;
  };
  using Sum = std::vector<Term>;  // of fields that are read at neighbours
  enum class From { sum, field, coefficient, constant, operation };
  struct Operand {
    From from = From::constant;
    std::size_t index = 0;
    double constant = 0;
  };
  struct PointOperation {
    Node::Kind kind{};
    std::array<Operand, 3> operands{};
  };
  std::vector<Sum> sums{};
  std::vector<PointOperation> operations{};     // at the cell itself, operands first
  std::vector<Operand> outputs{};               // one per field
  std::vector<std::size_t> neighbour_fields{};  // fields that sums read at neighbours
  bool centre = false;                          // such a field is also read at the cell itself
  std::array<int, 3> radius{};
  std::string refusal{};  // reason why the update does not have this form
};

PlaneSums plane_sums(const Tape& tape);

}  // namespace ridge::stencil
