// An update's expressions as a list of operations, each done once: what evaluates, counts and emits works from it.
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
  std::array<std::size_t, 3> from{};  // operands, as many as the kind takes
};

struct Tape {
  std::vector<Operation> operations{};  // equal ones are merged, unused ones absent
  std::vector<std::size_t> outputs{};   // which operation is the new value of each field
};

std::size_t operand_count(Node::Kind kind);
bool is_truth(Node::Kind kind);  // yields a truth value, not a number
const char* to_string(Node::Kind kind);

// Error{invalid_argument} for malformed trees: null nodes, wrong operand counts, truths where numbers belong.
Tape flatten(const std::vector<Expression>& outputs);

// A number that is a weighted sum of reads, (field, offset) each, plus a constant.
struct Affine {
  std::map<std::pair<std::size_t, Offset>, double> weights{};
  double constant = 0;
  bool is_constant() const { return weights.empty(); }
};
// Of every operation of the tape; none where it is no such sum. Folded in double.
std::vector<std::optional<Affine>> affine_sums(const Tape& tape);

// The weighted sum the tape is, in the order of memory, where it is one: constant weights, no constant added, no
// coefficients. Folded in double.
std::optional<std::vector<Term>> linear_form(const Tape& tape);

double count_flops(const Tape& tape);       // a cell; an FMA counts two
std::string describe(const Tape& tape);     // one line, the same for the same tape in every process
std::string fingerprint(const Tape& tape);  // of describe, short

}  // namespace ridge::stencil
