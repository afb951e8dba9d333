// Evaluates an update's expressions cell by cell with plain loops, in wider precision.
#include "check/stencil/case.hpp"

#include <array>
#include <cmath>
#include <map>

namespace ridge::check {
namespace {

using stencil::Border;
using stencil::Node;

// An update's nodes in topological order: operands first.
struct OrderedNodes {
  std::vector<const Node*> nodes{};
  std::vector<std::array<std::size_t, 3>> operands{};  // indices of nodes
  std::vector<std::size_t> outputs{};
  std::map<const Node*, std::size_t> number{};

  std::size_t add(const stencil::Expression& expression) {
    const Node* const node = expression.get();
    if (const auto known = number.find(node); known != number.end()) return known->second;
    std::array<std::size_t, 3> from{};
    for (std::size_t i = 0; i < node->operands.size(); ++i) from[i] = add(node->operands[i]);
    nodes.push_back(node);
    operands.push_back(from);
    return number[node] = nodes.size() - 1;
  }
};

template <class C>
C added(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) return a + b;
  return static_cast<C>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
template <class C>
C multiplied(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) return a * b;
  return static_cast<C>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
}
template <class C>
C negated(C a) {
  if constexpr (std::is_floating_point_v<C>) return -a;
  return static_cast<C>(0U - static_cast<std::uint32_t>(a));
}

// Truth values are 0 and 1.
template <class C>
C computed(Node::Kind kind, C a, C b, C c) {
  switch (kind) {
    case Node::Kind::add:
      return added(a, b);
    case Node::Kind::subtract:
      return added(a, negated(b));
    case Node::Kind::multiply:
      return multiplied(a, b);
    case Node::Kind::divide:
      return a / b;
    case Node::Kind::fma:
      return added(multiplied(a, b), c);
    case Node::Kind::minimum:
      return b < a ? b : a;
    case Node::Kind::maximum:
      return a < b ? b : a;
    case Node::Kind::absolute:
      if constexpr (std::is_floating_point_v<C>) return std::abs(a);
      return a < 0 ? negated(a) : a;
    case Node::Kind::square_root:
      if constexpr (std::is_floating_point_v<C>) return std::sqrt(a);
      return 0;
    case Node::Kind::negate:
      return negated(a);
    case Node::Kind::less:
      return a < b ? 1 : 0;
    case Node::Kind::less_equal:
      return a <= b ? 1 : 0;
    case Node::Kind::equal:
      return a == b ? 1 : 0;
    case Node::Kind::both:
      return a != 0 && b != 0 ? 1 : 0;
    case Node::Kind::either:
      return a != 0 || b != 0 ? 1 : 0;
    case Node::Kind::opposite:
      return a == 0 ? 1 : 0;
    case Node::Kind::select:
      return a != 0 ? b : c;
    case Node::Kind::constant:
    case Node::Kind::read:
    case Node::Kind::coefficient:
      break;
  }
  return 0;
}

struct PlainAxis {
  std::ptrdiff_t cells = 1;
  Border low = Border::fixed, high = Border::fixed;
  std::ptrdiff_t begin = 0, end = 1;  // cells that change

  // u(-k) = u(k - 1) at a mirror; a periodic axis wraps.
  std::ptrdiff_t inside(std::ptrdiff_t i) const {
    while (i < 0 || i >= cells) {
      if (low == Border::periodic) {
        i += i < 0 ? cells : -cells;
      } else {
        i = i < 0 ? -i - 1 : cells - 1 - (i - cells);
      }
    }
    return i;
  }
};

template <class T>
std::array<PlainAxis, 3> axes_of(const stencil::Update<T>& update, const stencil::Problem& problem) {
  std::array<PlainAxis, 3> axes;
  const std::size_t missing = 3 - problem.shape.size();
  for (std::size_t i = 0; i < problem.shape.size(); ++i) {
    PlainAxis& axis = axes[missing + i];
    axis.cells = static_cast<std::ptrdiff_t>(problem.shape[i]);
    axis.low = problem.borders.low[i];
    axis.high = problem.borders.high[i];
    // At fixed borders, as many layers keep their values as the update's radius.
    const std::ptrdiff_t reach = update.radius[missing + i];
    axis.begin = axis.low == Border::fixed ? reach : 0;
    axis.end = axis.cells - (axis.high == Border::fixed ? reach : 0);
  }
  return axes;
}

}  // namespace

template <class T>
std::vector<WideCell<T>> stepped(const stencil::Update<T>& update, const stencil::Problem& problem,
                                 const stencil::Grid<T>& grid, std::size_t steps,
                                 const stencil::Grid<T>* coefficients) {
  using C = WideCell<T>;
  OrderedNodes code;
  for (const stencil::Expression& output : update.outputs) code.outputs.push_back(code.add(output));
  const std::array<PlainAxis, 3> axes = axes_of(update, problem);
  const auto cells = static_cast<std::size_t>(axes[0].cells * axes[1].cells * axes[2].cells);
  std::vector<C> now(grid.all().begin(), grid.all().end()), next = now, values(code.nodes.size());
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::ptrdiff_t z = axes[0].begin; z < axes[0].end; ++z) {
      for (std::ptrdiff_t y = axes[1].begin; y < axes[1].end; ++y) {
        for (std::ptrdiff_t x = axes[2].begin; x < axes[2].end; ++x) {
          const auto place = [&](const stencil::Offset& offset) {
            const std::ptrdiff_t plane = axes[0].inside(z + offset[0]), row = axes[1].inside(y + offset[1]);
            return static_cast<std::size_t>((plane * axes[1].cells + row) * axes[2].cells +
                                            axes[2].inside(x + offset[2]));
          };
          for (std::size_t i = 0; i < code.nodes.size(); ++i) {
            const Node& node = *code.nodes[i];
            const auto& from = code.operands[i];
            if (node.kind == Node::Kind::constant) {
              values[i] = static_cast<C>(static_cast<stencil::Compute<T>>(node.value));
            } else if (node.kind == Node::Kind::read) {
              values[i] = now[node.field * cells + place(node.offset)];
            } else if (node.kind == Node::Kind::coefficient) {
              values[i] = static_cast<C>(coefficients->all()[node.field * cells + place(node.offset)]);
            } else {
              values[i] = computed<C>(node.kind, values[from[0]], values[from[1]], values[from[2]]);
            }
          }
          for (std::size_t field = 0; field < code.outputs.size(); ++field) {
            C result = values[code.outputs[field]];
            if constexpr (std::is_integral_v<T>) result = static_cast<T>(result);  // truncated when it is stored
            next[field * cells + place({})] = result;
          }
        }
      }
    }
    std::swap(now, next);
  }
  return now;
}

template std::vector<double> stepped(const stencil::Update<float>&, const stencil::Problem&,
                                     const stencil::Grid<float>&, std::size_t, const stencil::Grid<float>*);
template std::vector<long double> stepped(const stencil::Update<double>&, const stencil::Problem&,
                                          const stencil::Grid<double>&, std::size_t, const stencil::Grid<double>*);
template std::vector<std::int32_t> stepped(const stencil::Update<std::int32_t>&, const stencil::Problem&,
                                           const stencil::Grid<std::int32_t>&, std::size_t,
                                           const stencil::Grid<std::int32_t>*);
template std::vector<std::int32_t> stepped(const stencil::Update<std::uint8_t>&, const stencil::Problem&,
                                           const stencil::Grid<std::uint8_t>&, std::size_t,
                                           const stencil::Grid<std::uint8_t>*);

}  // namespace ridge::check
