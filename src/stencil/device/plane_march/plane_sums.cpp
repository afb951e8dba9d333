// Decomposition of a 3D update into sums over neighbours.
#include "stencil/device/plane_march/plane_sums.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;
using From = PlaneSums::From;
using Operand = PlaneSums::Operand;

class PlaneSumsBuilder {
 public:
  explicit PlaneSumsBuilder(const Tape& tape) : tape_(tape), affine_(affine_sums(tape)) {
    for (const Operation& operation : tape.operations) {
      if (operation.offset == Offset{}) continue;
      if (operation.kind == Kind::read) neighbour_fields_.insert(operation.field);
      if (operation.kind == Kind::coefficient)
        result.refusal = "needs coefficients that are read at the cell itself; this update reads one at a neighbour";
    }
    result.neighbour_fields.assign(neighbour_fields_.begin(), neighbour_fields_.end());
    for (const std::size_t output : tape.outputs) result.outputs.push_back(operand(output));
    for (const PlaneSums::Sum& sum : result.sums) {
      for (const PlaneSums::Term& term : sum) {
        for (std::size_t axis = 0; axis < 3; ++axis)
          result.radius[axis] = std::max(result.radius[axis], std::abs(term.offset[axis]));
      }
    }
    const auto reads_centre = [&](const Operand& from) {
      result.centre = result.centre || (from.from == From::field && neighbour_fields_.contains(from.index));
    };
    for (const Operand& output : result.outputs) reads_centre(output);
    for (const auto& operation : result.operations) {
      for (const Operand& from : operation.operands) reads_centre(from);
    }
  }

  PlaneSums result;

 private:
  bool reaches(const Affine& sum) const {
    return std::any_of(sum.weights.begin(), sum.weights.end(),
                       [](const auto& term) { return term.first.second != Offset{}; });
  }

  Operand number(double value) { return {From::constant, 0, value}; }

  Operand add(Kind kind, const std::array<Operand, 3>& operands) {
    result.operations.push_back({kind, operands});
    return {From::operation, result.operations.size() - 1, 0};
  }

  // The sum over neighbours, then the terms at the cell itself of fields that are read nowhere else.
  Operand sum_operand(const Affine& affine) {
    PlaneSums::Sum sum;
    for (const auto& [read, weight] : affine.weights) {
      if (neighbour_fields_.contains(read.first)) sum.push_back({read.first, read.second, weight});
    }
    result.sums.push_back(sum);
    Operand made{From::sum, result.sums.size() - 1, 0};
    for (const auto& [read, weight] : affine.weights) {
      if (!neighbour_fields_.contains(read.first))
        made = add(Kind::fma, {number(weight), Operand{From::field, read.first, 0}, made});
    }
    if (affine.constant != 0) made = add(Kind::add, {made, number(affine.constant), {}});
    return made;
  }

  // The field whose value is used unchanged; linear<T>() writes it times one.
  std::optional<std::size_t> read_alone(std::size_t index) const {
    const auto& sum = affine_[index];
    if (!sum || sum->constant != 0 || sum->weights.size() != 1 || sum->weights.begin()->second != 1)
      return std::nullopt;
    return sum->weights.begin()->first.first;
  }

  Operand operand(std::size_t index) {
    if (const auto found = known_.find(index); found != known_.end()) return found->second;
    const Operation& operation = tape_.operations[index];
    Operand made;
    if (operation.kind == Kind::constant) {
      made = number(operation.value);
    } else if (operation.kind == Kind::coefficient) {
      made = {From::coefficient, operation.field, 0};
    } else if (affine_[index] && reaches(*affine_[index])) {
      made = sum_operand(*affine_[index]);
    } else if (const auto field = read_alone(index)) {
      made = {From::field, *field, 0};
    } else {
      std::array<Operand, 3> operands{};
      for (std::size_t k = 0; k < operand_count(operation.kind); ++k) operands[k] = operand(operation.from[k]);
      made = add(operation.kind, operands);
    }
    known_[index] = made;
    return made;
  }

  const Tape& tape_;
  std::vector<std::optional<Affine>> affine_;
  std::set<std::size_t> neighbour_fields_{};
  std::map<std::size_t, Operand> known_{};
};

}  // namespace

PlaneSums plane_sums(const Tape& tape) { return PlaneSumsBuilder(tape).result; }

}  // namespace ridge::stencil
