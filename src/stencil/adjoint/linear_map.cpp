// Expansion of updates into linear terms, and operations on them.
#include "stencil/adjoint/linear_map.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/number.hpp"
#include "stencil/expression.hpp"

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;

std::string factor_text(const Expression& value) {
  switch (value->kind) {
    case Kind::constant:
      return base::hexadecimal_text(value->value);
    case Kind::coefficient:
      return fmt::format("c{}({},{},{})", value->field, value->offset[0], value->offset[1], value->offset[2]);
    default:
      break;
  }
  std::string text = to_string(value->kind);
  for (const Expression& operand : value->operands) text += fmt::format("[{}]", factor_text(operand));
  return text;
}

Factor make_factor(const Expression& value) { return {value, factor_text(value)}; }

Factor coefficient_factor(std::size_t coefficient, const Offset& offset) {
  return make_factor(make_read(Kind::coefficient, coefficient, offset));
}

void sort_factors(std::vector<Factor>& factors) {
  std::sort(factors.begin(), factors.end(), [](const Factor& a, const Factor& b) { return a.text < b.text; });
}

std::string texts_of(const std::vector<Factor>& factors) {
  std::string text;
  for (const Factor& factor : factors) text += factor.text + "*";
  return text;
}

// A term that may be without a field: a product of coefficients alone.
struct Part {
  LinearTerm term{};
  bool reads = false;
};
using Parts = std::vector<Part>;

Parts merged(const Parts& parts) {
  std::map<std::tuple<bool, std::string, std::size_t, Offset>, Part> sums;
  for (const Part& part : parts) {
    const auto [at, fresh] =
        sums.try_emplace({part.reads, texts_of(part.term.factors), part.term.input, part.term.offset}, part);
    if (!fresh) at->second.term.weight += part.term.weight;
  }
  Parts result;
  for (auto& [key, part] : sums) {
    if (part.term.weight != 0) result.push_back(std::move(part));
  }
  return result;
}

// One operation: its terms, and its expression if it reads no field.
struct Known {
  Parts parts{};
  Expression pure{};
  bool linear = true;
};

class Expander {
 public:
  explicit Expander(const Tape& tape) {
    for (const Operation& operation : tape.operations) known_.push_back(expand(operation));
  }
  const Known& at(std::size_t i) const { return known_[i]; }

 private:
  const Known& operand(const Operation& operation, std::size_t i) const { return known_[operation.from[i]]; }

  static Known leaf(double weight, std::vector<Factor> factors, Expression pure) {
    return {{{{weight, std::move(factors), 0, {}}, false}}, std::move(pure), true};
  }
  static Known sum(const Known& a, const Known& b, double sign) {
    Known result{a.parts, nullptr, a.linear && b.linear};
    for (Part part : b.parts) {
      part.term.weight *= sign;
      result.parts.push_back(std::move(part));
    }
    result.parts = merged(result.parts);
    return result;
  }
  static Known product(const Known& a, const Known& b) {
    Known result{{}, nullptr, a.linear && b.linear && (a.pure || b.pure)};
    for (const Part& one : a.parts) {
      for (const Part& two : b.parts) {
        Part part = one.reads ? one : two;
        const LinearTerm& other = (one.reads ? two : one).term;
        part.term.weight *= other.weight;
        part.term.factors.insert(part.term.factors.end(), other.factors.begin(), other.factors.end());
        sort_factors(part.term.factors);
        result.parts.push_back(std::move(part));
      }
    }
    result.parts = merged(result.parts);
    return result;
  }
  static bool is_number(const Known& known) { return known.pure && known.pure->kind == Kind::constant; }

  Known expand(const Operation& operation) const {
    if (operation.kind == Kind::read) return {{{{1, {}, operation.field, operation.offset}, true}}, nullptr, true};
    if (operation.kind == Kind::constant) {
      const Expression value = make_constant(operation.value);
      Known known = leaf(operation.value, {}, value);
      if (operation.value == 0) known.parts.clear();
      return known;
    }
    if (operation.kind == Kind::coefficient) {
      const Expression value = make_read(Kind::coefficient, operation.field, operation.offset);
      return leaf(1, {make_factor(value)}, value);
    }
    std::vector<Expression> operands;
    bool pure = true;
    for (std::size_t i = 0; i < operand_count(operation.kind); ++i) {
      pure = pure && operand(operation, i).pure;
      operands.push_back(operand(operation, i).pure);
    }
    Known known = combine(operation, pure, operands);
    if (pure) known.pure = make_node(operation.kind, std::move(operands));
    return known;
  }

  Known combine(const Operation& operation, bool pure, const std::vector<Expression>& operands) const {
    const auto of = [&](std::size_t i) -> const Known& { return operand(operation, i); };
    switch (operation.kind) {
      case Kind::add:
        return sum(of(0), of(1), 1);
      case Kind::subtract:
        return sum(of(0), of(1), -1);
      case Kind::negate:
        return sum({}, of(0), -1);
      case Kind::multiply:
        return product(of(0), of(1));
      case Kind::fma:
        return sum(product(of(0), of(1)), of(2), 1);
      case Kind::divide:
        if (!of(1).pure) break;
        if (is_number(of(1))) return product(of(0), leaf(1 / of(1).pure->value, {}, make_constant(1)));
        return product(of(0), atom(make_node(Kind::divide, {make_constant(1), of(1).pure})));
      case Kind::select:
        if (pure || !of(0).pure) break;
        return sum(product(atom(choice(of(0).pure, 1, 0)), of(1)), product(atom(choice(of(0).pure, 0, 1)), of(2)), 1);
      default:
        break;
    }
    if (pure) return is_truth(operation.kind) ? Known{} : atom(make_node(operation.kind, operands));
    return {{}, nullptr, false};
  }
  static Known atom(const Expression& value) { return leaf(1, {make_factor(value)}, value); }
  static Expression choice(const Expression& condition, double yes, double no) {
    return make_node(Kind::select, {condition, make_constant(yes), make_constant(no)});
  }

  std::vector<Known> known_;
};

void sort_terms(std::vector<LinearTerm>& terms) {
  Parts parts;
  for (LinearTerm& term : terms) parts.push_back({std::move(term), true});
  terms.clear();
  for (Part& part : merged(parts)) terms.push_back(std::move(part.term));
}

Offset negative(const Offset& offset) { return {-offset[0], -offset[1], -offset[2]}; }

bool alike(double a, double b) { return std::fabs(a - b) <= 1e-14 * std::max(std::fabs(a), std::fabs(b)); }

bool same_terms(const std::vector<LinearTerm>& a, const std::vector<LinearTerm>& b, const std::vector<int>& signs,
                std::size_t output) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].input != b[i].input || a[i].offset != b[i].offset || texts_of(a[i].factors) != texts_of(b[i].factors) ||
        !alike(a[i].weight * signs[output] * signs[a[i].input], b[i].weight))
      return false;
  }
  return true;
}

Expression product_of(const std::vector<Factor>& factors) {
  Expression product = factors.front().value;
  for (std::size_t i = 1; i < factors.size(); ++i) product = make_node(Kind::multiply, {product, factors[i].value});
  return product;
}

Expression add_weighted(const Expression& sum, double weight, const Expression& value) {
  if (!sum) return weight == 1 ? value : make_node(Kind::multiply, {make_constant(weight), value});
  if (weight == 1) return make_node(Kind::add, {sum, value});
  if (weight == -1) return make_node(Kind::subtract, {sum, value});
  return make_node(Kind::fma, {make_constant(weight), value, sum});
}

}  // namespace

Expression moved(const Expression& expression, const Offset& by) {
  if (by == Offset{} || expression->kind == Kind::constant) return expression;
  if (expression->kind == Kind::read || expression->kind == Kind::coefficient) {
    const Offset& at = expression->offset;
    return make_read(expression->kind, expression->field, {at[0] + by[0], at[1] + by[1], at[2] + by[2]});
  }
  std::vector<Expression> operands;
  for (const Expression& operand : expression->operands) operands.push_back(moved(operand, by));
  return make_node(expression->kind, std::move(operands));
}

LinearMap linear_map(const std::vector<Expression>& outputs, std::size_t inputs) {
  const Tape tape = flatten(outputs);
  const Expander expander(tape);
  LinearMap map{.inputs = inputs};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Known& known = expander.at(tape.outputs[i]);
    if (!known.linear)
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("stencil: the new value of field {} is not linear in the fields: only linear updates "
                              "have an adjoint here",
                              i));
    std::vector<LinearTerm> terms;
    for (const Part& part : known.parts) {
      if (part.reads) terms.push_back(part.term);
    }
    sort_terms(terms);
    map.outputs.push_back(std::move(terms));
  }
  return map;
}

LinearMap transposed(const LinearMap& map) {
  LinearMap result{.inputs = map.outputs.size(), .outputs = std::vector<std::vector<LinearTerm>>(map.inputs)};
  for (std::size_t i = 0; i < map.outputs.size(); ++i) {
    for (const LinearTerm& term : map.outputs[i]) {
      const Offset back = negative(term.offset);
      LinearTerm turned{.weight = term.weight, .input = i, .offset = back};
      for (const Factor& factor : term.factors) turned.factors.push_back(make_factor(moved(factor.value, back)));
      sort_factors(turned.factors);
      result.outputs[term.input].push_back(std::move(turned));
    }
  }
  for (auto& terms : result.outputs) sort_terms(terms);
  return result;
}

std::optional<LinearMap> scaled_by(const LinearMap& map, std::size_t coefficient) {
  LinearMap result = map;
  const Factor here = coefficient_factor(coefficient, {});
  for (auto& terms : result.outputs) {
    for (LinearTerm& term : terms) {
      if (term.offset == Offset{}) continue;  // the coefficient cancels
      const std::string there = coefficient_factor(coefficient, term.offset).text;
      const auto found = std::find_if(term.factors.begin(), term.factors.end(),
                                      [&](const Factor& factor) { return factor.text == there; });
      if (found == term.factors.end()) return std::nullopt;
      *found = here;
      sort_factors(term.factors);
    }
    sort_terms(terms);
  }
  return result;
}

std::optional<std::vector<int>> signs_between(const LinearMap& map, const LinearMap& other) {
  const std::size_t fields = map.inputs;
  if (fields > 10 || map.outputs.size() != fields || other.outputs.size() != fields) return std::nullopt;
  for (unsigned pattern = 0; pattern < 1u << (fields - 1); ++pattern) {
    std::vector<int> signs(fields, 1);
    for (std::size_t i = 1; i < fields; ++i) signs[i] = (pattern >> (i - 1) & 1u) != 0 ? -1 : 1;
    bool same = true;
    for (std::size_t i = 0; same && i < fields; ++i) same = same_terms(map.outputs[i], other.outputs[i], signs, i);
    if (same) return signs;
  }
  return std::nullopt;
}

bool is_symmetric(const LinearMap& map, std::size_t axis) {
  const auto reversed = [axis](const auto& self, const Expression& expression) -> Expression {
    if (expression->kind == Kind::coefficient) {
      Offset offset = expression->offset;
      offset[axis] = -offset[axis];
      return make_read(Kind::coefficient, expression->field, offset);
    }
    std::vector<Expression> operands;
    for (const Expression& operand : expression->operands) operands.push_back(self(self, operand));
    return operands.empty() ? expression : make_node(expression->kind, std::move(operands));
  };
  LinearMap other = map;
  for (auto& terms : other.outputs) {
    for (LinearTerm& term : terms) {
      term.offset[axis] = -term.offset[axis];
      for (Factor& factor : term.factors) factor = make_factor(reversed(reversed, factor.value));
      sort_factors(term.factors);
    }
    sort_terms(terms);
  }
  const std::vector<int> plus(map.inputs, 1);
  for (std::size_t i = 0; i < map.outputs.size(); ++i) {
    if (!same_terms(map.outputs[i], other.outputs[i], plus, i)) return false;
  }
  return true;
}

namespace {

// Terms that have the same factors and input but differ in their offset and weight.
struct Gathered {
  LinearTerm local{};  // the term at offset 0 with weight 1
  std::map<Offset, double> weights{};
};

bool proportional(const std::map<Offset, double>& a, const std::map<Offset, double>& b, double& ratio) {
  if (a.size() != b.size()) return false;
  ratio = b.begin()->second / a.begin()->second;
  return std::equal(a.begin(), a.end(), b.begin(), [&](const auto& one, const auto& two) {
    return one.first == two.first && alike(one.second * ratio, two.second);
  });
}

}  // namespace

SharedTerms share_terms(const LinearMap& map) {
  SharedTerms shared{.values = {.inputs = map.inputs}, .map = {.inputs = map.inputs}};
  for (const auto& terms : map.outputs) {
    std::map<std::pair<std::size_t, std::string>, Gathered> gathered;
    std::vector<LinearTerm> direct;
    for (const LinearTerm& term : terms) {
      LinearTerm local{.weight = 1, .input = term.input};
      for (const Factor& factor : term.factors)
        local.factors.push_back(make_factor(moved(factor.value, negative(term.offset))));
      const bool all_there = std::all_of(local.factors.begin(), local.factors.end(), [](const Factor& factor) {
        return factor.value->kind == Kind::coefficient && factor.value->offset == Offset{};
      });
      if (!all_there || local.factors.empty()) {
        direct.push_back(term);
        continue;
      }
      sort_factors(local.factors);
      Gathered& group = gathered[{term.input, texts_of(local.factors)}];
      group.local = local;
      group.weights[term.offset] += term.weight;
    }
    std::vector<std::pair<std::map<Offset, double>, std::vector<LinearTerm>>> values;
    for (auto& [key, group] : gathered) {
      if (group.weights.size() == 1) {
        const auto& [offset, weight] = *group.weights.begin();
        LinearTerm term{.weight = weight, .input = group.local.input, .offset = offset};
        for (const Factor& factor : group.local.factors)
          term.factors.push_back(make_factor(moved(factor.value, offset)));
        direct.push_back(std::move(term));
        continue;
      }
      double ratio = 1;
      const auto same = std::find_if(values.begin(), values.end(), [&, &weights = group.weights](const auto& value) {
        return proportional(value.first, weights, ratio);
      });
      if (same == values.end()) {
        values.push_back({group.weights, {group.local}});
      } else {
        group.local.weight = ratio;
        same->second.push_back(group.local);
      }
    }
    for (auto& [weights, locals] : values) {
      const std::size_t input = map.inputs + shared.values.outputs.size();
      for (const auto& [offset, weight] : weights)
        direct.push_back({.weight = weight, .input = input, .offset = offset});
      shared.values.outputs.push_back(std::move(locals));
    }
    shared.map.outputs.push_back(std::move(direct));
  }
  shared.map.inputs = map.inputs + shared.values.outputs.size();
  return shared;
}

std::vector<Expression> to_expressions(const LinearMap& map) {
  std::vector<Expression> expressions;
  for (const auto& terms : map.outputs) {
    std::map<std::string, std::pair<const std::vector<Factor>*, Expression>> groups;
    for (const LinearTerm& term : terms) {
      auto& [factors, sum] = groups[texts_of(term.factors)];
      factors = &term.factors;
      sum = add_weighted(sum, term.weight, make_read(Kind::read, term.input, term.offset));
    }
    Expression total;
    for (const auto& [text, group] : groups) {
      const auto& [factors, sum] = group;
      if (factors->empty()) {
        total = sum;  // sorts first
      } else if (total) {
        total = make_node(Kind::fma, {product_of(*factors), sum, total});
      } else {
        total = make_node(Kind::multiply, {product_of(*factors), sum});
      }
    }
    expressions.push_back(total ? total : make_constant(0));
  }
  return expressions;
}

}  // namespace ridge::stencil
