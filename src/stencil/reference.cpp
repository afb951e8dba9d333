// The reference stencil, cell by cell.
#include "stencil/reference.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "stencil/expression.hpp"
#include "stencil/layout.hpp"

namespace ridge::stencil {
namespace {

// Values of one cell's operations; truth values are 0 and 1.
template <class C>
C apply(const Operation& operation, const std::vector<C>& values) {
  using Kind = Node::Kind;
  const auto value = [&](std::size_t i) { return Value<C>(values[operation.from[i]]); };
  const auto truth = [&](std::size_t i) { return values[operation.from[i]] != C{0}; };
  switch (operation.kind) {
    case Kind::constant:
      return static_cast<C>(operation.value);
    case Kind::add:
      return (value(0) + value(1)).value;
    case Kind::subtract:
      return (value(0) - value(1)).value;
    case Kind::multiply:
      return (value(0) * value(1)).value;
    case Kind::divide:
      return (value(0) / value(1)).value;
    case Kind::fma:
      return fma(value(0), value(1), value(2)).value;
    case Kind::minimum:
      return min(value(0), value(1)).value;
    case Kind::maximum:
      return max(value(0), value(1)).value;
    case Kind::absolute:
      return abs(value(0)).value;
    case Kind::square_root:
      return static_cast<C>(std::sqrt(static_cast<double>(value(0).value)));  // exact for a float computed in double
    case Kind::negate:
      return (-value(0)).value;
    case Kind::less:
      return static_cast<C>((value(0) < value(1)).value);
    case Kind::less_equal:
      return static_cast<C>((value(0) <= value(1)).value);
    case Kind::equal:
      return static_cast<C>((value(0) == value(1)).value);
    case Kind::both:
      return static_cast<C>(truth(0) && truth(1));
    case Kind::either:
      return static_cast<C>(truth(0) || truth(1));
    case Kind::opposite:
      return static_cast<C>(!truth(0));
    case Kind::select:
      return truth(0) ? values[operation.from[1]] : values[operation.from[2]];
    case Kind::read:
    case Kind::coefficient:
      break;
  }
  return C{0};
}

template <class S, class C>
class Walker {
 public:
  Walker(const Tape& tape, const Layout& layout) : tape_(tape), layout_(layout), values_(tape.operations.size()) {}

  void step(const Grid<S>& from, Grid<S>& to, const Grid<S>* coefficients) {
    for (std::size_t z = layout_.begin[0]; z < layout_.end[0]; ++z) {
      for (std::size_t y = layout_.begin[1]; y < layout_.end[1]; ++y) {
        for (std::size_t x = layout_.begin[2]; x < layout_.end[2]; ++x) cell({z, y, x}, from, to, coefficients);
      }
    }
  }

 private:
  void cell(const std::array<std::size_t, 3>& at, const Grid<S>& from, Grid<S>& to, const Grid<S>* coefficients) {
    for (std::size_t i = 0; i < tape_.operations.size(); ++i) {
      const Operation& operation = tape_.operations[i];
      if (operation.kind == Node::Kind::read) {
        values_[i] = static_cast<C>(from.field(operation.field)[index(at, operation.offset)]);
      } else if (operation.kind == Node::Kind::coefficient) {
        values_[i] = static_cast<C>(coefficients->field(operation.field)[index(at, operation.offset)]);
      } else {
        values_[i] = apply<C>(operation, values_);
      }
    }
    for (std::size_t f = 0; f < tape_.outputs.size(); ++f)
      to.field(f)[index(at, {})] = static_cast<S>(values_[tape_.outputs[f]]);
  }

  std::size_t index(const std::array<std::size_t, 3>& at, const Offset& offset) const {
    std::array<std::size_t, 3> read{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      read[axis] = layout_.source(axis, static_cast<std::ptrdiff_t>(at[axis]) + offset[axis]);
    return (read[0] * layout_.shape[1] + read[1]) * layout_.shape[2] + read[2];
  }

  const Tape& tape_;
  const Layout& layout_;
  std::vector<C> values_;
};

template <class S, class C>
void walk(const Tape& tape, const Layout& layout, Grid<S>& grid, std::size_t steps, const Grid<S>* coefficients) {
  Grid<S> next = grid;
  Walker<S, C> walker(tape, layout);
  for (std::size_t step = 0; step < steps; ++step) {
    walker.step(grid, next, coefficients);
    std::swap(grid, next);
  }
}

}  // namespace

template <class T>
void reference(const Update<T>& update, const Problem& problem, Grid<T>& grid, std::size_t steps,
               const Grid<T>* coefficients) {
  walk<T, Compute<T>>(flatten(update.outputs), resolve(update, problem), grid, steps, coefficients);
}

template <class T>
void reference_in_double(const Update<T>& update, const Problem& problem, Grid<double>& grid, std::size_t steps,
                         const Grid<double>* coefficients) {
  walk<double, double>(flatten(update.outputs), resolve(update, problem), grid, steps, coefficients);
}

template void reference(const Update<float>&, const Problem&, Grid<float>&, std::size_t, const Grid<float>*);
template void reference(const Update<double>&, const Problem&, Grid<double>&, std::size_t, const Grid<double>*);
template void reference(const Update<std::int32_t>&, const Problem&, Grid<std::int32_t>&, std::size_t,
                        const Grid<std::int32_t>*);
template void reference(const Update<std::uint8_t>&, const Problem&, Grid<std::uint8_t>&, std::size_t,
                        const Grid<std::uint8_t>*);
template void reference_in_double(const Update<float>&, const Problem&, Grid<double>&, std::size_t,
                                  const Grid<double>*);
template void reference_in_double(const Update<double>&, const Problem&, Grid<double>&, std::size_t,
                                  const Grid<double>*);

}  // namespace ridge::stencil
