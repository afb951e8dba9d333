// An update's expressions as a list of operations without duplicates, for evaluation, counting and code generation.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ridge/stencil/update.hpp>

namespace ridge::stencil {

// An operation whose operands are earlier operations of the list.
struct Operation {
  Node::Kind kind{};
  double value = 0;                   // constant
  std::size_t field = 0;              // read, coefficient
  Offset offset{};                    // read, coefficient
  std::array<std::size_t, 3> from{};  // operands, as many as the kind needs
};

struct Tape {
  std::vector<Operation> operations{};  // equal ones are merged, unused ones absent
  std::vector<std::size_t> outputs{};   // index of the operation that gives the new value of each field
};

std::size_t operand_count(Node::Kind kind);
bool is_truth(Node::Kind kind);  // yields a truth value instead of a number
const char* to_string(Node::Kind kind);

// Error{invalid_argument} for malformed trees: null nodes, wrong operand counts, truth values instead of numbers.
Tape flatten(const std::vector<Expression>& outputs);

// A weighted sum of reads, each (field, offset), plus a constant.
struct Affine {
  std::map<std::pair<std::size_t, Offset>, double> weights{};
  double constant = 0;
  bool is_constant() const { return weights.empty(); }
};
// The linear form of every operation of the tape; empty if it has none. Folded in double.
std::vector<std::optional<Affine>> affine_sums(const Tape& tape);

// The tape as a weighted sum in memory order, if it is one: constant weights, no constant term, no coefficients. Folded
// in double.
std::optional<std::vector<Term>> linear_form(const Tape& tape);

double count_flops(const Tape& tape);       // per cell; an FMA counts as two
std::string describe(const Tape& tape);     // one line, the same for the same tape in every process
std::string fingerprint(const Tape& tape);  // short hash of describe()

}  // namespace ridge::stencil
