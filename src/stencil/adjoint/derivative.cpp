// Reverse differentiation of an update's expressions, in gather form.
#include "stencil/adjoint/adjoint_update.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <ridge/error.hpp>
#include <ridge/stencil/from_expressions.hpp>

#include "stencil/expression.hpp"

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;

Expression product(const Expression& a, const Expression& b) { return make_node(Kind::multiply, {a, b}); }
Expression chosen(const Expression& condition, const Expression& yes, const Expression& no) {
  return make_node(Kind::select, {condition, yes, no});
}
Expression compared(const Expression& a, const Expression& b) { return make_node(Kind::less, {a, b}); }
void accumulate(Expression& sum, const Expression& more) {
  if (more) sum = sum ? make_node(Kind::add, {sum, more}) : more;
}

// Moves all reads of expressions that share nodes; each node is moved once. It keeps the nodes that it has seen.
class Mover {
 public:
  explicit Mover(const Offset& by) : by_(by) {}
  Expression operator()(const Expression& expression) {
    const auto known = moved_.find(expression);
    if (known != moved_.end()) return known->second;
    return moved_[expression] = made(expression);
  }

 private:
  Expression made(const Expression& expression) {
    if (expression->kind == Kind::read || expression->kind == Kind::coefficient) {
      const Offset& at = expression->offset;
      return make_read(expression->kind, expression->field, {at[0] + by_[0], at[1] + by_[1], at[2] + by_[2]});
    }
    if (expression->operands.empty()) return expression;
    std::vector<Expression> operands;
    for (const Expression& operand : expression->operands) operands.push_back((*this)(operand));
    return make_node(expression->kind, std::move(operands));
  }

  Offset by_;
  std::unordered_map<Expression, Expression> moved_{};
};

class Differentiator {
 public:
  Differentiator(const Tape& tape, std::size_t fields, std::size_t coefficients)
      : tape_(tape), fields_(fields), coefficients_(coefficients), owed_(tape.operations.size()) {
    for (const Operation& operation : tape.operations) values_.push_back(value_of(operation));
    // Cells outside the changing ones may divide by 0: what they give is dropped, not multiplied by 0.
    guarded_ = std::any_of(tape.operations.begin(), tape.operations.end(), [](const Operation& operation) {
      return operation.kind == Kind::divide || operation.kind == Kind::square_root;
    });
  }

  std::vector<Expression> outputs() {
    const Expression mask = make_read(Kind::coefficient, coefficients_ + fields_, {});
    for (std::size_t i = 0; i < fields_; ++i) {
      const Expression given = make_read(Kind::read, i, {});
      accumulate(owed_[tape_.outputs[i]], guarded_ ? given : product(mask, given));
    }
    for (std::size_t i = tape_.operations.size(); i-- > 0;) {
      if (owed_[i]) pass_on(tape_.operations[i], owed_[i], values_[i]);
    }
    std::vector<Expression> result(fields_ + coefficients_);
    for (std::size_t m = 0; m < coefficients_; ++m) result[fields_ + m] = make_read(Kind::read, fields_ + m, {});
    std::map<Offset, Mover> movers;
    for (std::size_t i = 0; i < tape_.operations.size(); ++i) {
      const Operation& operation = tape_.operations[i];
      const bool read = operation.kind == Kind::read, coefficient = operation.kind == Kind::coefficient;
      if ((!read && !coefficient) || !owed_[i]) continue;
      const Expression here = guarded_ ? chosen(compared(zero_, mask), owed_[i], zero_) : owed_[i];
      const Offset back{-operation.offset[0], -operation.offset[1], -operation.offset[2]};
      accumulate(result[coefficient ? fields_ + operation.field : operation.field],
                 movers.try_emplace(back, back).first->second(here));
    }
    for (Expression& one : result) one = one ? one : zero_;
    return result;
  }

 private:
  // The value during the forward step; fields are read as coefficients.
  Expression value_of(const Operation& operation) const {
    switch (operation.kind) {
      case Kind::constant:
        return make_constant(operation.value);
      case Kind::read:
        return make_read(Kind::coefficient, coefficients_ + operation.field, operation.offset);
      case Kind::coefficient:
        return make_read(Kind::coefficient, operation.field, operation.offset);
      default:
        break;
    }
    std::vector<Expression> operands;
    for (std::size_t k = 0; k < operand_count(operation.kind); ++k) operands.push_back(values_[operation.from[k]]);
    return make_node(operation.kind, std::move(operands));
  }

  // Adds to each operand's derivative the share of an operation whose result `value` has the derivative `owed`.
  void pass_on(const Operation& operation, const Expression& owed, const Expression& value) {
    const auto of = [&](std::size_t k) -> const Expression& { return values_[operation.from[k]]; };
    const auto give = [&](std::size_t k, const Expression& share) { accumulate(owed_[operation.from[k]], share); };
    const auto negative = [](const Expression& a) { return make_node(Kind::negate, {a}); };
    const auto either = [&](const Expression& first) {  // operand 0 if the condition holds, else operand 1
      give(0, chosen(first, owed, zero_));
      give(1, chosen(first, zero_, owed));
    };
    switch (operation.kind) {
      case Kind::add:
      case Kind::subtract:
        give(0, owed);
        give(1, operation.kind == Kind::add ? owed : negative(owed));
        break;
      case Kind::negate:
        give(0, negative(owed));
        break;
      case Kind::multiply:
      case Kind::fma:
        give(0, product(owed, of(1)));
        give(1, product(owed, of(0)));
        if (operation.kind == Kind::fma) give(2, owed);
        break;
      case Kind::divide:
        give(0, make_node(Kind::divide, {owed, of(1)}));
        give(1, negative(product(make_node(Kind::divide, {owed, of(1)}), value)));
        break;
      case Kind::square_root:
        give(0, make_node(Kind::divide, {product(make_constant(0.5), owed), value}));
        break;
      case Kind::absolute:
        give(0, chosen(compared(of(0), zero_), negative(owed), owed));
        break;
      case Kind::minimum:
        either(make_node(Kind::opposite, {compared(of(1), of(0))}));
        break;
      case Kind::maximum:
        either(make_node(Kind::opposite, {compared(of(0), of(1))}));
        break;
      case Kind::select:
        give(1, chosen(of(0), owed, zero_));
        give(2, chosen(of(0), zero_, owed));
        break;
      default:  // constants, reads; the derivative of a comparison is 0
        break;
    }
  }

  const Tape& tape_;
  std::size_t fields_, coefficients_;
  bool guarded_ = false;
  std::vector<Expression> values_{}, owed_;
  Expression zero_ = make_constant(0);
};

}  // namespace

template <class T>
Update<T> derivative_update(const Update<T>& update) {
  if (!update.layers.empty() || update.free_surface)
    throw Error(ErrorKind::invalid_argument,
                "stencil: gradients of acoustic updates with layers or a free surface are those of Survey "
                "(ridge/stencil/survey.hpp)");
  const Tape tape = flatten(update.outputs);
  return from_expressions<T>(update.dimensions, Differentiator(tape, update.fields, update.coefficients).outputs(),
                             update.name.empty() ? "" : "derivative of " + update.name);
}

template Update<float> derivative_update(const Update<float>&);
template Update<double> derivative_update(const Update<double>&);

}  // namespace ridge::stencil
