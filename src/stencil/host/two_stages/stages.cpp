// Finds moved copies of outputs in other outputs.
#include "stencil/host/two_stages/stages.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;

constexpr double kMostNodes = 20000;  // of all outputs, where a shared node counts once per use

bool is_place(const Node& node) { return node.kind == Kind::read || node.kind == Kind::coefficient; }

double nodes_of(const Expression& node, std::map<const Node*, double>& known) {
  if (const auto found = known.find(node.get()); found != known.end()) return found->second;
  double count = 1;
  for (const Expression& operand : node->operands) count += nodes_of(operand, known);
  return known[node.get()] = count;
}

// True if `b` is `a` with all reads moved by the same offset, which is stored in `by`.
bool is_moved(const Node& a, const Node& b, std::optional<Offset>& by) {
  if (a.kind != b.kind || a.field != b.field || a.value != b.value || a.operands.size() != b.operands.size())
    return false;
  if (is_place(a)) {
    Offset offset{};
    for (std::size_t axis = 0; axis < 3; ++axis) offset[axis] = b.offset[axis] - a.offset[axis];
    if (by && *by != offset) return false;
    by = offset;
  }
  for (std::size_t k = 0; k < a.operands.size(); ++k) {
    if (!is_moved(*a.operands[k], *b.operands[k], by)) return false;
  }
  return true;
}

class StageSearch {
 public:
  explicit StageSearch(const std::vector<Expression>& outputs) : outputs_(outputs) {
    stages_.outputs = outputs;
    stages_.first.resize(outputs.size(), true);
  }

  Stages find() {
    std::map<const Node*, double> known;
    double nodes = 0;
    for (const Expression& output : outputs_) {
      nodes += nodes_of(output, known);
      if (output->operands.empty()) return refuse("a field is a copy of another, or constant");
    }
    if (nodes > kMostNodes) return refuse("its expressions are too long to be compared");
    for (std::size_t field = 0; field < outputs_.size(); ++field) {
      std::set<const Node*> seen;
      if (reads_moved_output(outputs_[field], field, seen)) stages_.first[field] = false;
    }
    if (std::all_of(stages_.first.begin(), stages_.first.end(), [](bool one) { return one; }))
      return refuse("no field depends on new values of other fields at neighbours");
    for (std::size_t field = 0; field < outputs_.size(); ++field) {
      if (!stages_.first[field]) stages_.outputs[field] = with_reads(outputs_[field]);
      check(stages_.outputs[field], stages_.first[field]);
    }
    return stages_;
  }

 private:
  Stages refuse(const std::string& why) {
    stages_.refusal = "needs fields computed in two stages, such as velocities and stresses: " + why;
    return stages_;
  }

  // True if a neighbour's new value of another field is in the expression.
  bool reads_moved_output(const Expression& node, std::size_t field, std::set<const Node*>& seen) const {
    if (node->operands.empty() || !seen.insert(node.get()).second) return false;
    for (std::size_t other = 0; other < outputs_.size(); ++other) {
      std::optional<Offset> by;
      if (other != field && is_moved(*outputs_[other], *node, by) && by && *by != Offset{}) return true;
    }
    return std::any_of(node->operands.begin(), node->operands.end(),
                       [&](const Expression& operand) { return reads_moved_output(operand, field, seen); });
  }

  // The expression with reads instead of new values of the first stage.
  Expression with_reads(const Expression& node) {
    if (node->operands.empty()) return node;
    if (const auto found = replaced_.find(node.get()); found != replaced_.end()) return found->second;
    for (std::size_t field = 0; field < outputs_.size(); ++field) {
      std::optional<Offset> by;
      if (!stages_.first[field] || !is_moved(*outputs_[field], *node, by) || !by) continue;
      for (std::size_t axis = 0; axis < 3; ++axis)
        stages_.reach[axis] = std::max(stages_.reach[axis], static_cast<std::size_t>(std::abs((*by)[axis])));
      Expression read = make_read(Kind::read, field, *by);
      fresh_.insert(read.get());
      return replaced_[node.get()] = read;
    }
    std::vector<Expression> operands;
    for (const Expression& operand : node->operands) operands.push_back(with_reads(operand));
    return replaced_[node.get()] = make_node(node->kind, operands);
  }

  // Values that are overwritten may be read at the cell itself only, and those of the first stage no more in the
  // second.
  void check(const Expression& node, bool first) {
    if (!stages_.refusal.empty() || fresh_.contains(node.get())) return;
    if (node->kind == Kind::read) {
      if (stages_.first[node->field] != first) {
        if (!first) refuse("the second stage also needs old values of the first");
      } else if (node->offset != Offset{}) {
        refuse("a stage reads its own fields at neighbours");
      }
    }
    for (const Expression& operand : node->operands) check(operand, first);
  }

  const std::vector<Expression>& outputs_;
  Stages stages_{};
  std::map<const Node*, Expression> replaced_{};
  std::set<const Node*> fresh_{};
};

}  // namespace

Stages find_stages(const std::vector<Expression>& outputs) { return StageSearch(outputs).find(); }

}  // namespace ridge::stencil
