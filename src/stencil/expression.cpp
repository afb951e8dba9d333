// Flattening, evaluation and printing of update expressions.
#include "stencil/expression.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/number.hpp"

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;

[[noreturn]] void refuse_expression(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, "stencil update: " + what);
}

// Operations with equal keys yield the same number. Constants are compared by their bits: 0 and -0 differ, NaN equals
// itself.
using Key = std::tuple<int, std::uint64_t, std::size_t, Offset, std::array<std::size_t, 3>>;

Key key_of(const Operation& operation) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &operation.value, sizeof bits);
  return {static_cast<int>(operation.kind), bits, operation.field, operation.offset, operation.from};
}

class Flattener {
 public:
  std::size_t add(const Expression& root) {
    // Depth first with an explicit stack: a long sum is a deep tree.
    std::vector<std::pair<const Node*, std::size_t>> stack;
    enter(root.get(), stack);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next < node->operands.size()) {
        const Node* operand = node->operands[next++].get();
        enter(operand, stack);
      } else {
        const Node* done = node;
        stack.pop_back();
        known_[done] = place(*done);
      }
    }
    return known_.at(root.get());
  }

  std::vector<Operation> operations;

 private:
  void enter(const Node* node, std::vector<std::pair<const Node*, std::size_t>>& stack) {
    if (node == nullptr) refuse_expression("an expression has an empty operand");
    if (node->operands.size() != operand_count(node->kind))
      refuse_expression(fmt::format("{} needs {} operands, got {}", to_string(node->kind), operand_count(node->kind),
                                    node->operands.size()));
    if (!known_.contains(node)) stack.emplace_back(node, 0);
  }

  std::size_t place(const Node& node) {
    Operation operation{.kind = node.kind};
    if (node.kind == Kind::constant) operation.value = node.value;
    if (node.kind == Kind::read || node.kind == Kind::coefficient) {
      operation.field = node.field;
      operation.offset = node.offset;
    }
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      operation.from[i] = known_.at(node.operands[i].get());
      const bool wants_truth = node.kind == Kind::both || node.kind == Kind::either || node.kind == Kind::opposite ||
                               (node.kind == Kind::select && i == 0);
      if (is_truth(operations[operation.from[i]].kind) != wants_truth)
        refuse_expression(fmt::format("{} has a {} operand where a {} is needed", to_string(node.kind),
                                      wants_truth ? "number" : "condition", wants_truth ? "condition" : "number"));
    }
    const auto [found, is_new] = numbers_.try_emplace(key_of(operation), operations.size());
    if (is_new) operations.push_back(operation);
    return found->second;
  }

  std::unordered_map<const Node*, std::size_t> known_;
  std::map<Key, std::size_t> numbers_;
};

Affine scaled(const Affine& sum, double factor) {
  Affine result = sum;
  for (auto& [read, weight] : result.weights) weight *= factor;
  result.constant *= factor;
  return result;
}

Affine added(const Affine& a, const Affine& b, double sign) {
  Affine result = a;
  for (const auto& [read, weight] : b.weights) result.weights[read] += sign * weight;
  result.constant += sign * b.constant;
  return result;
}

std::optional<Affine> multiplied(const Affine& a, const Affine& b) {
  if (a.is_constant()) return scaled(b, a.constant);
  if (b.is_constant()) return scaled(a, b.constant);
  return std::nullopt;
}

std::optional<Affine> affine(const Operation& operation, const std::vector<std::optional<Affine>>& before) {
  for (std::size_t i = 0; i < operand_count(operation.kind); ++i) {
    if (!before[operation.from[i]]) return std::nullopt;
  }
  const auto operand = [&](std::size_t i) -> const Affine& { return *before[operation.from[i]]; };
  switch (operation.kind) {
    case Kind::constant:
      return Affine{{}, operation.value};
    case Kind::read:
      return Affine{{{{operation.field, operation.offset}, 1.0}}, 0};
    case Kind::add:
      return added(operand(0), operand(1), 1);
    case Kind::subtract:
      return added(operand(0), operand(1), -1);
    case Kind::negate:
      return scaled(operand(0), -1);
    case Kind::multiply:
      return multiplied(operand(0), operand(1));
    case Kind::divide:
      if (!operand(1).is_constant() || operand(1).constant == 0) return std::nullopt;
      return scaled(operand(0), 1 / operand(1).constant);
    case Kind::fma: {
      const auto product = multiplied(operand(0), operand(1));
      if (!product) return std::nullopt;
      return added(*product, operand(2), 1);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::size_t operand_count(Kind kind) {
  switch (kind) {
    case Kind::constant:
    case Kind::read:
    case Kind::coefficient:
      return 0;
    case Kind::absolute:
    case Kind::square_root:
    case Kind::negate:
    case Kind::opposite:
      return 1;
    case Kind::fma:
    case Kind::select:
      return 3;
    default:
      return 2;
  }
}

bool is_truth(Kind kind) {
  return kind == Kind::less || kind == Kind::less_equal || kind == Kind::equal || kind == Kind::both ||
         kind == Kind::either || kind == Kind::opposite;
}

const char* to_string(Kind kind) {
  switch (kind) {
    case Kind::constant:
      return "constant";
    case Kind::read:
      return "read";
    case Kind::coefficient:
      return "coefficient";
    case Kind::add:
      return "add";
    case Kind::subtract:
      return "subtract";
    case Kind::multiply:
      return "multiply";
    case Kind::divide:
      return "divide";
    case Kind::fma:
      return "fma";
    case Kind::minimum:
      return "minimum";
    case Kind::maximum:
      return "maximum";
    case Kind::absolute:
      return "absolute";
    case Kind::square_root:
      return "square_root";
    case Kind::negate:
      return "negate";
    case Kind::less:
      return "less";
    case Kind::less_equal:
      return "less_equal";
    case Kind::equal:
      return "equal";
    case Kind::both:
      return "both";
    case Kind::either:
      return "either";
    case Kind::opposite:
      return "opposite";
    case Kind::select:
      return "select";
  }
  return "unknown";
}

Tape flatten(const std::vector<Expression>& outputs) {
  Flattener flattener;
  Tape tape;
  for (const Expression& output : outputs) {
    if (!output) refuse_expression("an output has no expression");
    tape.outputs.push_back(flattener.add(output));
  }
  tape.operations = std::move(flattener.operations);
  for (const std::size_t output : tape.outputs) {
    if (is_truth(tape.operations[output].kind))
      refuse_expression("an output is a condition: use select to make a number of it");
  }
  return tape;
}

std::vector<std::optional<Affine>> affine_sums(const Tape& tape) {
  std::vector<std::optional<Affine>> sums;
  sums.reserve(tape.operations.size());
  for (const Operation& operation : tape.operations) sums.push_back(affine(operation, sums));
  return sums;
}

std::optional<std::vector<Term>> linear_form(const Tape& tape) {
  const std::vector<std::optional<Affine>> sums = affine_sums(tape);
  std::vector<Term> terms;
  for (std::size_t to = 0; to < tape.outputs.size(); ++to) {
    const auto& sum = sums[tape.outputs[to]];
    if (!sum || sum->constant != 0 || sum->weights.empty()) return std::nullopt;
    // Sorted by field, then in memory order: the order of the map's keys.
    for (const auto& [read, weight] : sum->weights) terms.push_back({read.second, weight, read.first, to});
  }
  return terms;
}

double count_flops(const Tape& tape) {
  double flops = 0;
  for (const Operation& operation : tape.operations) {
    switch (operation.kind) {
      case Kind::constant:
      case Kind::read:
      case Kind::coefficient:
      case Kind::both:
      case Kind::either:
      case Kind::opposite:
      case Kind::select:
        break;
      case Kind::fma:
        flops += 2;
        break;
      default:
        flops += 1;
    }
  }
  return flops;
}

std::string describe(const Tape& tape) {
  std::string text;
  for (std::size_t i = 0; i < tape.operations.size(); ++i) {
    const Operation& operation = tape.operations[i];
    text += fmt::format("{}{}", i == 0 ? "" : "; ", to_string(operation.kind));
    if (operation.kind == Kind::constant) text += " " + base::hexadecimal_text(operation.value);
    if (operation.kind == Kind::read || operation.kind == Kind::coefficient)
      text +=
          fmt::format(" {} {} {} {}", operation.field, operation.offset[0], operation.offset[1], operation.offset[2]);
    for (std::size_t k = 0; k < operand_count(operation.kind); ++k) text += fmt::format(" {}", operation.from[k]);
  }
  return text + fmt::format("; new {}", fmt::join(tape.outputs, " "));
}

std::string fingerprint(const Tape& tape) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : describe(tape)) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return fmt::format("{:016x}", hash);
}

}  // namespace ridge::stencil
