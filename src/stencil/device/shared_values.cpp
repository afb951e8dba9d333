// Finds values that several cells of an update compute.
#include "stencil/device/shared_values.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;
using Use = SharedValue::Use;

Offset plus(const Offset& a, const Offset& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Offset minus(const Offset& a, const Offset& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

bool is_input(Kind kind) { return kind == Kind::read || kind == Kind::coefficient; }

class Sharing {
 public:
  Sharing(const Tape& tape, std::size_t depth) : tape_(tape) {
    std::vector<Use> inputs;  // of the step: what its fields are
    for (std::size_t field = 0; field < tape.outputs.size(); ++field) inputs.push_back({input(Kind::read, field), {}});
    for (std::size_t step = 0; step < depth; ++step) inputs = one_step(inputs);
    result.outputs = inputs;
  }

  SharedValues result;

 private:
  // Values with equal keys are the same. Shifts of the operands count from the base.
  using Key = std::tuple<int, std::uint64_t, std::size_t, std::array<std::size_t, 3>, std::array<Offset, 3>>;

  std::size_t add(const SharedValue& value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value.constant, sizeof bits);
    Key key{static_cast<int>(value.kind), bits, value.field, {}, {}};
    for (std::size_t k = 0; k < operand_count(value.kind); ++k) {
      std::get<3>(key)[k] = value.operands[k].value;
      std::get<4>(key)[k] = value.operands[k].shift;
    }
    const auto [found, fresh] = known_.try_emplace(key, result.values.size());
    if (fresh) {
      result.values.push_back(value);
      bool everywhere = value.kind == Kind::constant;  // the same at every cell
      if (!everywhere && !is_input(value.kind)) {
        everywhere = true;
        for (std::size_t k = 0; k < operand_count(value.kind); ++k)
          everywhere = everywhere && everywhere_[value.operands[k].value];
      }
      everywhere_.push_back(everywhere);
      int deep = 0;
      for (std::size_t k = 0; k < operand_count(value.kind); ++k)
        deep = std::max(deep, deep_[value.operands[k].value] + 1);
      deep_.push_back(deep);
    }
    return found->second;
  }

  std::size_t input(Kind kind, std::size_t field) {
    SharedValue value;
    value.kind = kind;
    value.field = field;
    return add(value);
  }

  // The operation with its operands as used at the cell of the output.
  std::vector<Use> absolute_operands(const Operation& operation, const std::vector<Use>& made) const {
    std::vector<Use> operands;
    for (std::size_t k = 0; k < operand_count(operation.kind); ++k) operands.push_back(made[operation.from[k]]);
    return operands;
  }

  // The home cell of a value: that of the operand with the deepest expression, the first of equals, so that a value of
  // two cells stays with one of them.
  Offset base_of(const std::vector<Use>& operands) const {
    const Use* base = nullptr;
    for (const Use& use : operands) {
      if (!everywhere_[use.value] && (base == nullptr || deep_[use.value] > deep_[base->value])) base = &use;
    }
    return base == nullptr ? Offset{} : base->shift;
  }

  Use place(const Operation& operation, const std::vector<Use>& inputs, const std::vector<Use>& made, bool at_output) {
    SharedValue value;
    value.kind = operation.kind;
    if (operation.kind == Kind::constant) {
      value.constant = operation.value;
      return {add(value), {}};
    }
    if (operation.kind == Kind::read)
      return {inputs[operation.field].value, plus(inputs[operation.field].shift, operation.offset)};
    if (operation.kind == Kind::coefficient) return {input(operation.kind, operation.field), operation.offset};
    const std::vector<Use> operands = absolute_operands(operation, made);
    if (operation.kind == Kind::multiply) {  // a level that is only copied, as linear<T>() writes it
      for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
        const SharedValue& factor = result.values[operands[k].value];
        if (factor.kind == Kind::constant && factor.constant == 1) return operands[1 - k];
      }
    }
    const Offset base = at_output ? Offset{} : base_of(operands);
    for (std::size_t k = 0; k < operands.size(); ++k) {
      value.operands[k] = operands[k];
      value.operands[k].shift = everywhere_[operands[k].value] ? Offset{} : minus(operands[k].shift, base);
    }
    const std::size_t index = add(value);
    return {index, everywhere_[index] ? Offset{} : base};
  }

  // Builds one step in two passes. The first assumes that every value may be shared and finds those that are. The
  // second computes values that are needed at one cell only at the output's own cell, so that sums do not move between
  // lanes.
  std::vector<Use> one_step(const std::vector<Use>& inputs) {
    const SharedValues before = result;
    const auto known = known_;
    const auto everywhere = everywhere_;
    const auto deep = deep_;
    std::vector<Use> made = run(inputs, std::vector<bool>(tape_.operations.size(), false));
    std::map<std::size_t, std::set<Offset>> places;
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (tape_.operations[i].kind != Kind::read) places[made[i].value].insert(made[i].shift);
    }
    std::vector<bool> at_output(tape_.operations.size());
    for (std::size_t i = 0; i < made.size(); ++i) {
      const Kind kind = tape_.operations[i].kind;
      at_output[i] = !is_input(kind) && kind != Kind::constant && places[made[i].value].size() == 1;
    }
    result = before;
    known_ = known;
    everywhere_ = everywhere;
    deep_ = deep;
    made = run(inputs, at_output);
    std::vector<Use> outputs;
    for (const std::size_t output : tape_.outputs) outputs.push_back(made[output]);
    return outputs;
  }

  std::vector<Use> run(const std::vector<Use>& inputs, const std::vector<bool>& at_output) {
    std::vector<Use> made;
    for (std::size_t i = 0; i < tape_.operations.size(); ++i)
      made.push_back(place(tape_.operations[i], inputs, made, at_output[i]));
    return made;
  }

  const Tape& tape_;
  std::map<Key, std::size_t> known_{};
  std::vector<bool> everywhere_{};
  std::vector<int> deep_{};  // longest chain of operations from the inputs
};

// Range of inputs read around each value.
void find_reach(SharedValues& all, std::size_t axis) {
  for (SharedValue& value : all.values) {
    for (std::size_t k = 0; k < operand_count(value.kind); ++k) {
      const Use& use = value.operands[k];
      const SharedValue& from = all.values[use.value];
      if (from.kind == Kind::constant) continue;
      value.left = std::max(value.left, from.left - use.shift[2]);
      value.right = std::max(value.right, from.right + use.shift[2]);
      value.low = std::max(value.low, from.low - use.shift[axis]);
      value.high = std::max(value.high, from.high + use.shift[axis]);
    }
  }
  for (const Use& output : all.outputs) {
    const SharedValue& value = all.values[output.value];
    all.margin = std::max({all.margin, value.left - output.shift[2], value.right + output.shift[2]});
    all.low = std::max(all.low, value.low - output.shift[axis]);
    all.lag = std::max(all.lag, value.high + output.shift[axis]);
  }
}

// Schedules every value as late as its users allow, then determines its lifetime.
void find_lags(SharedValues& all, std::size_t axis) {
  constexpr int kUnused = std::numeric_limits<int>::max();
  for (SharedValue& value : all.values) value.lag = kUnused;
  const auto need = [&](const Use& use, int lag) {
    SharedValue& value = all.values[use.value];
    value.lag = std::min(value.lag, lag - use.shift[axis]);
  };
  for (const Use& output : all.outputs) need(output, all.lag);
  for (std::size_t i = all.values.size(); i-- > 0;) {
    SharedValue& value = all.values[i];
    if (value.lag == kUnused) continue;
    for (std::size_t k = 0; k < operand_count(value.kind); ++k) need(value.operands[k], value.lag);
  }
  const auto keep = [&](const Use& use, int lag) {
    SharedValue& value = all.values[use.value];
    if (value.kind != Kind::constant) value.keep = std::max(value.keep, lag - use.shift[axis] - value.lag);
  };
  for (const Use& output : all.outputs) keep(output, all.lag);
  for (const SharedValue& value : all.values) {
    if (value.lag == kUnused) continue;
    for (std::size_t k = 0; k < operand_count(value.kind); ++k) keep(value.operands[k], value.lag);
  }
}

// Removes unused values, which the first pass may leave.
void drop_unused(SharedValues& all) {
  std::vector<bool> used(all.values.size());
  for (const Use& output : all.outputs) used[output.value] = true;
  for (std::size_t i = all.values.size(); i-- > 0;) {
    if (!used[i]) continue;
    for (std::size_t k = 0; k < operand_count(all.values[i].kind); ++k) used[all.values[i].operands[k].value] = true;
  }
  std::vector<std::size_t> place(all.values.size());
  std::vector<SharedValue> kept;
  for (std::size_t i = 0; i < all.values.size(); ++i) {
    if (!used[i]) continue;
    place[i] = kept.size();
    kept.push_back(all.values[i]);
    for (Use& use : kept.back().operands) use.value = place[use.value];
  }
  all.values = std::move(kept);
  for (Use& output : all.outputs) output.value = place[output.value];
}

}  // namespace

std::size_t SharedValues::kept() const {
  std::size_t sum = 0;
  for (const SharedValue& value : values) sum += static_cast<std::size_t>(value.keep);
  return sum;
}

std::size_t SharedValues::operations() const {
  return static_cast<std::size_t>(std::count_if(values.begin(), values.end(), [](const SharedValue& value) {
    return !is_input(value.kind) && value.kind != Kind::constant;
  }));
}

SharedValues shared_values(const Tape& tape, std::size_t depth, std::size_t axis) {
  SharedValues all = Sharing(tape, depth).result;
  drop_unused(all);
  find_reach(all, axis);
  find_lags(all, axis);
  return all;
}

}  // namespace ridge::stencil
