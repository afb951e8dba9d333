// Interpreter for updates that are known only as expressions.
#include "stencil/host/kernels/linear_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "stencil/expression.hpp"

namespace ridge::stencil {
namespace {

constexpr std::size_t kStretch = 256;  // cells per block; the values in use fit the first-level cache

// Scratch slot that each operation writes. A slot is reused after its last read; constants keep theirs.
struct Slots {
  std::vector<std::size_t> of;  // per operation
  std::size_t count = 0;
};

Slots assign_slots(const Tape& tape) {
  const std::size_t operations = tape.operations.size();
  std::vector<std::size_t> last(operations);
  for (std::size_t i = 0; i < operations; ++i) {
    const Operation& operation = tape.operations[i];
    for (std::size_t k = 0; k < operand_count(operation.kind); ++k) last[operation.from[k]] = i;
  }
  for (const std::size_t output : tape.outputs) last[output] = operations;
  Slots slots{.of = std::vector<std::size_t>(operations)};
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < operations; ++i) {
    const Operation& operation = tape.operations[i];
    if (free.empty() || operation.kind == Node::Kind::constant) {
      slots.of[i] = slots.count++;
    } else {
      slots.of[i] = free.back();
      free.pop_back();
    }
    // Freed only now, so that no operation overwrites its own operands.
    for (std::size_t k = 0; k < operand_count(operation.kind); ++k) {
      const std::size_t from = operation.from[k];
      const bool again = k > 0 && (operation.from[0] == from || (k > 1 && operation.from[1] == from));
      if (last[from] == i && !again && tape.operations[from].kind != Node::Kind::constant)
        free.push_back(slots.of[from]);
    }
  }
  return slots;
}

template <class C, class F>
void each(C* __restrict out, std::size_t count, const C* a, const C* b, const C* c, F f) {
  for (std::size_t i = 0; i < count; ++i) out[i] = f(a[i], b[i], c[i]);
}

template <class C>
void apply(Node::Kind kind, C* out, std::size_t count, const C* a, const C* b, const C* c) {
  using Kind = Node::Kind;
  using V = Value<C>;
  const auto with = [&](auto f) { each(out, count, a, b, c, f); };
  switch (kind) {
    case Kind::add:
      return with([](C p, C q, C) { return (V(p) + V(q)).value; });
    case Kind::subtract:
      return with([](C p, C q, C) { return (V(p) - V(q)).value; });
    case Kind::multiply:
      return with([](C p, C q, C) { return (V(p) * V(q)).value; });
    case Kind::divide:
      return with([](C p, C q, C) { return (V(p) / V(q)).value; });
    case Kind::fma:
      return with([](C p, C q, C r) { return fma(V(p), V(q), V(r)).value; });
    case Kind::minimum:
      return with([](C p, C q, C) { return min(V(p), V(q)).value; });
    case Kind::maximum:
      return with([](C p, C q, C) { return max(V(p), V(q)).value; });
    case Kind::absolute:
      return with([](C p, C, C) { return abs(V(p)).value; });
    case Kind::square_root:
      if constexpr (std::is_floating_point_v<C>) with([](C p, C, C) { return sqrt(V(p)).value; });
      return;
    case Kind::negate:
      return with([](C p, C, C) { return (-V(p)).value; });
    case Kind::less:
      return with([](C p, C q, C) { return p < q ? C{1} : C{0}; });
    case Kind::less_equal:
      return with([](C p, C q, C) { return p <= q ? C{1} : C{0}; });
    case Kind::equal:
      return with([](C p, C q, C) { return p == q ? C{1} : C{0}; });
    case Kind::both:
      return with([](C p, C q, C) { return p * q; });
    case Kind::either:
      return with([](C p, C q, C) { return p < q ? q : p; });
    case Kind::opposite:
      return with([](C p, C, C) { return C{1} - p; });
    case Kind::select:
      return with([](C p, C q, C r) { return p != C{0} ? q : r; });
    case Kind::constant:
    case Kind::read:
    case Kind::coefficient:
      return;
  }
}

template <class T>
class TapeRows {
 public:
  using C = Compute<T>;
  TapeRows(const std::vector<Expression>& outputs, const Offset& radius)
      : tape_(flatten(outputs)), slots_(assign_slots(tape_)), radius_(radius) {}

  void operator()(const Rows<T>& rows) const {
    // One per thread, as large as the largest update so far: a run does not allocate.
    thread_local std::vector<C> scratch;
    thread_local std::vector<const C*> values;
    const std::size_t needed = slots_.count * kStretch;
    if (scratch.size() < needed) scratch.resize(needed);
    if (values.size() < tape_.operations.size()) values.resize(tape_.operations.size());
    for (std::size_t i = 0; i < tape_.operations.size(); ++i) {
      if (tape_.operations[i].kind != Node::Kind::constant) continue;
      C* const slot = scratch.data() + slots_.of[i] * kStretch;
      std::fill_n(slot, kStretch, static_cast<C>(tape_.operations[i].value));
      values[i] = slot;
    }
    for (std::size_t row = 0; row < rows.count; ++row) {
      for (std::size_t begin = rows.begin; begin < rows.end; begin += kStretch) {
        stretch(rows, row, begin, std::min(kStretch, rows.end - begin), scratch.data(), values.data());
      }
    }
  }

 private:
  void stretch(const Rows<T>& rows, std::size_t row, std::size_t begin, std::size_t count, C* scratch,
               const C** values) const {
    for (std::size_t i = 0; i < tape_.operations.size(); ++i) {
      const Operation& operation = tape_.operations[i];
      C* const slot = scratch + slots_.of[i] * kStretch;
      if (operation.kind == Node::Kind::constant) continue;
      if (operation.kind == Node::Kind::read || operation.kind == Node::Kind::coefficient) {
        const T* const cells = read(rows, operation, row) + static_cast<std::ptrdiff_t>(begin) + operation.offset[2];
        if constexpr (std::is_same_v<T, C>) {
          values[i] = cells;
        } else {
          std::copy_n(cells, count, slot);
          values[i] = slot;
        }
        continue;
      }
      const std::size_t operands = operand_count(operation.kind);
      const auto operand = [&](std::size_t k) { return values[operation.from[k < operands ? k : 0]]; };
      apply<C>(operation.kind, slot, count, operand(0), operand(1), operand(2));
      values[i] = slot;
    }
    for (std::size_t field = 0; field < tape_.outputs.size(); ++field) {
      T* const out = rows.out[field * rows.count + row] + begin;
      const C* const value = values[tape_.outputs[field]];
      for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<T>(value[i]);
    }
  }

  const T* read(const Rows<T>& rows, const Operation& operation, std::size_t row) const {
    const T* const* const table = operation.kind == Node::Kind::read ? rows.in : rows.coefficients;
    const auto rz = static_cast<std::size_t>(radius_[0]), ry = static_cast<std::size_t>(radius_[1]);
    const std::size_t plane =
        operation.field * (2 * rz + 1) + static_cast<std::size_t>(operation.offset[0] + radius_[0]);
    return table[plane * (2 * ry + rows.count) + static_cast<std::size_t>(operation.offset[1] + radius_[1]) + row];
  }

  Tape tape_;
  Slots slots_;
  Offset radius_;
};

}  // namespace

template <class T>
std::function<void(const Rows<T>&)> tape_rows(const std::vector<Expression>& outputs, const Offset& radius) {
  return [rows = std::make_shared<const TapeRows<T>>(outputs, radius)](const Rows<T>& given) { (*rows)(given); };
}

template std::function<void(const Rows<float>&)> tape_rows(const std::vector<Expression>&, const Offset&);
template std::function<void(const Rows<double>&)> tape_rows(const std::vector<Expression>&, const Offset&);
template std::function<void(const Rows<std::int32_t>&)> tape_rows(const std::vector<Expression>&, const Offset&);
template std::function<void(const Rows<std::uint8_t>&)> tape_rows(const std::vector<Expression>&, const Offset&);

}  // namespace ridge::stencil
