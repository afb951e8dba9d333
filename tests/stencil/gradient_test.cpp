// Tests gradients of general updates: dot products with tangents derived independently, Taylor expansions, budgets.
#include <cmath>
#include <map>
#include <random>

#include <gtest/gtest.h>
#include <ridge/stencil.hpp>
#include <ridge/stencil/adjoint.hpp>
#include <ridge/stencil/from_expressions.hpp>
#include <ridge/stencil/problems.hpp>

#include "support/devices.hpp"
#include "support/worst.hpp"

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;
using Draw = std::mt19937;

double drawn(Draw& draw, double low = -1, double high = 1) {
  return std::uniform_real_distribution<double>(low, high)(draw);
}
Expression node(Kind kind, std::vector<Expression> operands) { return make_node(kind, std::move(operands)); }

// A random expression whose values and derivatives stay of order 1: divisors and radicands are at least 1.
Expression random_expression(Draw& draw, std::size_t dimensions, std::size_t fields, std::size_t coefficients,
                             int depth) {
  if (depth == 0) {
    Offset at{};
    for (std::size_t axis = 3 - dimensions; axis < 3; ++axis) at[axis] = static_cast<int>(draw() % 3) - 1;
    if (coefficients > 0 && draw() % 3 == 0) return make_read(Kind::coefficient, draw() % coefficients, at);
    return make_read(Kind::read, draw() % fields, at);
  }
  const auto deeper = [&] { return random_expression(draw, dimensions, fields, coefficients, depth - 1); };
  const auto above_one = [&] {
    const Expression part = deeper();
    return node(Kind::fma, {part, part, make_constant(1.5)});
  };
  switch (draw() % 10) {
    case 0:
      return node(Kind::multiply, {deeper(), deeper()});
    case 1:
      return node(Kind::divide, {deeper(), above_one()});
    case 2:
      return node(Kind::square_root, {above_one()});
    case 3:
      return node(Kind::minimum, {deeper(), deeper()});
    case 4:
      return node(Kind::maximum, {deeper(), deeper()});
    case 5:
      return node(Kind::absolute, {deeper()});
    case 6:
      return node(Kind::select, {node(Kind::less, {deeper(), deeper()}), deeper(), node(Kind::negate, {deeper()})});
    case 7:
      return node(Kind::fma, {deeper(), deeper(), deeper()});
    case 8:
      return node(Kind::add, {deeper(), deeper()});
    default:
      return node(Kind::subtract, {deeper(), deeper()});
  }
}

Update<double> nonlinear_update(Draw& draw, std::size_t dimensions, std::size_t fields, std::size_t coefficients) {
  std::vector<Expression> outputs;
  for (std::size_t i = 0; i < fields; ++i)
    outputs.push_back(node(Kind::fma, {make_constant(0.2), random_expression(draw, dimensions, fields, coefficients, 3),
                                       make_read(Kind::read, i, {})}));
  // Each coefficient is read.
  for (std::size_t m = 0; m < coefficients; ++m)
    outputs[0] = node(Kind::fma, {make_constant(0.1), make_read(Kind::coefficient, m, {}), outputs[0]});
  return from_expressions<double>(dimensions, outputs, "random");
}

// The tangent by forward differentiation: fields and coefficients are followed by their changes.
class Tangent {
 public:
  Tangent(std::size_t fields, std::size_t coefficients) : fields_(fields), coefficients_(coefficients) {}
  Expression of(const Expression& e) {
    Expression& known = known_[e.get()];
    if (!known) {
      const Expression made = derive(e);
      return known_[e.get()] = made;
    }
    return known;
  }

 private:
  Expression derive(const Expression& e) {
    const auto at = [&](std::size_t i) -> const Expression& { return e->operands[i]; };
    const auto times = [](const Expression& a, const Expression& b) { return node(Kind::multiply, {a, b}); };
    switch (e->kind) {
      case Kind::read:
        return make_read(Kind::read, e->field + fields_, e->offset);
      case Kind::coefficient:
        return make_read(Kind::coefficient, e->field + coefficients_, e->offset);
      case Kind::add:
      case Kind::subtract:
        return node(e->kind, {of(at(0)), of(at(1))});
      case Kind::multiply:
        return node(Kind::add, {times(of(at(0)), at(1)), times(at(0), of(at(1)))});
      case Kind::fma:
        return node(Kind::add, {node(Kind::add, {times(of(at(0)), at(1)), times(at(0), of(at(1)))}), of(at(2))});
      case Kind::divide:
        return node(Kind::divide, {node(Kind::subtract, {of(at(0)), times(e, of(at(1)))}), at(1)});
      case Kind::square_root:
        return node(Kind::divide, {of(at(0)), times(make_constant(2), e)});
      case Kind::negate:
        return node(Kind::negate, {of(at(0))});
      case Kind::absolute:
        return node(Kind::select,
                    {node(Kind::less, {at(0), make_constant(0)}), node(Kind::negate, {of(at(0))}), of(at(0))});
      case Kind::minimum:
        return node(Kind::select, {node(Kind::less, {at(1), at(0)}), of(at(1)), of(at(0))});
      case Kind::maximum:
        return node(Kind::select, {node(Kind::less, {at(0), at(1)}), of(at(1)), of(at(0))});
      case Kind::select:
        return node(Kind::select, {at(0), of(at(1)), of(at(2))});
      default:
        return make_constant(0);
    }
  }
  std::size_t fields_, coefficients_;
  std::map<const Node*, Expression> known_{};
};

Grid<double> drawn_grid(Draw& draw, const std::vector<std::size_t>& shape, std::size_t fields, double low = -1) {
  Grid<double> grid(shape, std::max<std::size_t>(1, fields));
  for (double& cell : grid.all()) cell = drawn(draw, low);
  return grid;
}
Grid<double> joined(const Grid<double>& a, const Grid<double>& b) {
  Grid<double> both(a.shape(), a.fields() + b.fields());
  std::copy(a.all().begin(), a.all().end(), both.all().begin());
  std::copy(b.all().begin(), b.all().end(), both.all().begin() + static_cast<std::ptrdiff_t>(a.all().size()));
  return both;
}
double product(std::span<const double> a, std::span<const double> b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Borders drawn_borders(Draw& draw) {
  Borders borders;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    borders.low[axis] = draw() % 2 == 0 ? Border::fixed : Border::mirror;
    borders.high[axis] = draw() % 2 == 0 ? Border::fixed : Border::mirror;
    if (draw() % 3 == 0) borders.low[axis] = borders.high[axis] = Border::periodic;
  }
  return borders;
}

struct Drawn {
  Update<double> update;
  Problem problem;
  Grid<double> start, media, along, media_along, seed;
  std::size_t steps = 1;
  const Grid<double>* given() const { return update.coefficients > 0 ? &media : nullptr; }
};
Drawn drawn_case(unsigned number) {
  Draw draw(number);
  const std::size_t dimensions = 1 + draw() % 3, fields = 1 + draw() % 2, coefficients = draw() % 3;
  std::vector<std::size_t> shape;
  for (std::size_t axis = 0; axis < dimensions; ++axis) shape.push_back(4 + draw() % 5);
  Update<double> update = nonlinear_update(draw, dimensions, fields, coefficients);
  Problem problem{.shape = shape, .borders = drawn_borders(draw), .threads = 1};
  return {std::move(update),
          problem,
          drawn_grid(draw, shape, fields),
          drawn_grid(draw, shape, coefficients, 0.2),
          drawn_grid(draw, shape, fields),
          drawn_grid(draw, shape, coefficients),
          drawn_grid(draw, shape, fields),
          1 + draw() % 5};
}

// A linear misfit of the last state and of one in the middle.
FoundGradient<double> found_gradient(const Device& device, const Drawn& one, std::size_t memory = 0,
                                     const RunCheckpoints& checkpoints = {}) {
  const Plan<double> forward(device, one.update, one.problem, {.effort = Effort::quick});
  return gradient(forward, {.effort = Effort::quick})
      .run(
          one.start, one.steps, one.given(),
          [&](std::size_t step, const Grid<double>&, Grid<double>& derivative) {
            if (step != one.steps && step != (one.steps + 1) / 2) return;
            for (std::size_t i = 0; i < one.seed.all().size(); ++i) derivative.all()[i] += one.seed.all()[i];
          },
          memory, {}, checkpoints);
}

TEST(GeneralGradient, AgreesWithTangentsOfRandomUpdates) {
  ridge::test::Worst worst;
  for (unsigned number = 0; number < 60; ++number) {
    const Drawn one = drawn_case(number);
    Tangent tangent(one.update.fields, one.update.coefficients);
    std::vector<Expression> outputs = one.update.outputs;
    for (const Expression& output : one.update.outputs) outputs.push_back(tangent.of(output));
    const Grid<double> media = joined(one.media, one.media_along);
    auto session =
        plan(host(), from_expressions<double>(one.update.dimensions, outputs), one.problem, {.effort = Effort::quick})
            .start(joined(one.start, one.along), one.update.coefficients > 0 ? &media : nullptr);
    Grid<double> state(one.problem.shape, 2 * one.update.fields);
    double forward = 0;
    for (std::size_t step = 1; step <= one.steps; ++step) {
      session.run(1);
      session.read(state);
      const auto change = std::span<const double>(state.all()).subspan(one.seed.all().size());
      if (step == one.steps || step == (one.steps + 1) / 2) forward += product(change, one.seed.all());
    }
    const FoundGradient<double> found = found_gradient(host(), one);
    double back = product(found.state.all(), one.along.all());
    if (found.coefficients) back += product(found.coefficients->all(), one.media_along.all());
    const double scale =
        std::sqrt(product(one.along.all(), one.along.all()) * product(found.state.all(), found.state.all()));
    EXPECT_LT(std::abs(forward - back), 1e-12 * scale) << "case " << number << ": " << forward << " and " << back;
    worst.add(std::abs(forward - back) / scale);
  }
  EXPECT_GT(worst.value(), 0) << "the products were compared with themselves";
}

// Half the sum of squares of the last state of a smooth nonlinear update, along a random direction.
void check_taylor(const Device& device, const Update<double>& update, const Problem& problem, unsigned number) {
  Draw draw(number);
  const std::size_t steps = 6;
  const Grid<double> start = drawn_grid(draw, problem.shape, update.fields, 0.5);
  const Grid<double> media = drawn_grid(draw, problem.shape, update.coefficients, 0.5);
  const Grid<double> by = drawn_grid(draw, problem.shape, update.fields);
  const Grid<double> media_by = drawn_grid(draw, problem.shape, update.coefficients);
  const bool reads = update.coefficients > 0;
  const Plan<double> forward(device, update, problem, {.effort = Effort::quick});
  const auto misfit = [&](double h) {
    Grid<double> state = start, coefficients = media;
    for (std::size_t i = 0; i < state.all().size(); ++i) state.all()[i] += h * by.all()[i];
    for (std::size_t i = 0; i < coefficients.all().size(); ++i) coefficients.all()[i] += h * media_by.all()[i];
    forward.run(state, steps, reads ? &coefficients : nullptr);
    return product(state.all(), state.all()) / 2;
  };
  const FoundGradient<double> found =
      gradient(forward, {.effort = Effort::quick})
          .run(start, steps, reads ? &media : nullptr,
               [&](std::size_t step, const Grid<double>& state, Grid<double>& derivative) {
                 if (step == steps) derivative = state;
               });
  double slope = product(found.state.all(), by.all());
  if (reads) slope += product(found.coefficients->all(), media_by.all());
  double before = 0;
  for (int i = 0; i < 5; ++i) {
    const double h = 0.01 / std::pow(2, i);
    const double remainder = std::abs(misfit(h) - misfit(0) - h * slope);
    if (i > 0) {
      EXPECT_NEAR(std::log2(before / remainder), 2.0, 0.05) << update.name << ", h " << h;
    }
    before = remainder;
  }
}

Update<double> reaction() {
  return update<double>(
      2,
      [](auto u) {
        const auto a = u.field(0, 0, 0), b = u.field(1, 0, 0);
        const auto spread = u.field(0, 1, 0) + u.field(0, -1, 0) + u.field(0, 0, 1) + u.field(0, 0, -1) - 4 * a;
        const auto rate = a * b * b / (1 + a * a) * u.coefficient(0, 0, 1);
        return std::array{a + 0.1 * u.coefficient(1, -1, 0) * spread - 0.1 * rate,
                          b + 0.1 * rate - 0.05 * sqrt(b * b + 1)};
      },
      "reaction");
}

TEST(GeneralGradient, HasATaylorRemainderOfSecondOrder) {
  const std::vector<Borders> kinds{Borders::all(Border::fixed), Borders::all(Border::mirror),
                                   Borders::all(Border::periodic)};
  for (const Borders& borders : kinds) {
    check_taylor(host(), reaction(), {.shape = {7, 5}, .borders = borders, .threads = 1}, 3);
    check_taylor(host(), maxwell<double>({.dt = 0.4}), {.shape = {7, 8}, .borders = borders, .threads = 1}, 4);
  }
  // Absorbing layers are part of this update.
  check_taylor(host(), elastic<double>({.dt = 0.3}), {.shape = {13, 11}, .threads = 1}, 5);
}

Drawn reaction_case() {
  Draw draw(8);
  return {reaction(),
          {.shape = {23, 19}, .threads = 1},
          drawn_grid(draw, {23, 19}, 2, 0.5),
          drawn_grid(draw, {23, 19}, 2, 0.5),
          drawn_grid(draw, {23, 19}, 2),
          drawn_grid(draw, {23, 19}, 2),
          drawn_grid(draw, {23, 19}, 2),
          40};
}

void expect_same(const FoundGradient<double>& found, const FoundGradient<double>& expected) {
  for (std::size_t i = 0; i < expected.state.all().size(); ++i)
    ASSERT_EQ(found.state.all()[i], expected.state.all()[i]) << found.explain;
  for (std::size_t i = 0; i < expected.coefficients->all().size(); ++i)
    ASSERT_EQ(found.coefficients->all()[i], expected.coefficients->all()[i]) << found.explain;
}

// A run that is stopped on its way back and continued from what it saved gives the same bits.
TEST(GeneralGradient, ContinuesStoppedRuns) {
  const Drawn one = reaction_case();
  const FoundGradient<double> all = found_gradient(host(), one);
  for (const std::size_t memory : {std::size_t{0}, 48 * 23 * 19 * 2 * sizeof(double)}) {
    for (const std::size_t stop : {1, 17, 39}) {
      RunCheckpoints first, second;
      first.due = [&](std::size_t steps) { return steps == stop; };
      first.save = [&](const std::vector<std::byte>& state) { second.resume = state; };
      expect_same(found_gradient(host(), one, memory, first), all);
      expect_same(found_gradient(host(), one, memory, second), all);
      second.resume.pop_back();
      EXPECT_THROW(found_gradient(host(), one, memory, second), Error);
    }
  }
}

TEST(GeneralGradient, IsTheSameWithinABudget) {
  const Drawn one = reaction_case();
  const FoundGradient<double> all = found_gradient(host(), one);
  EXPECT_EQ(all.recomputation, 1);
  const std::size_t state = 23 * 19 * 2 * sizeof(double);
  for (const std::size_t states : {48, 60}) {
    const FoundGradient<double> some = found_gradient(host(), one, states * state);
    EXPECT_GT(some.recomputation, 1) << some.explain;
    EXPECT_NE(some.explain.find("states from which"), std::string::npos) << some.explain;
    expect_same(some, all);
  }
  try {
    found_gradient(host(), one, 3 * state);
    FAIL() << "a budget of three states was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("too small for a gradient"), std::string::npos) << error.what();
  }
}

TEST(GeneralGradient, RefusesLayersOutsideTheExpressions) {
  const auto update = acoustic<double>({.dt = 0.4, .spacing = {1, 1}}, {.cells = 4, .fastest = 1, .frequency = 0.05});
  EXPECT_THROW(gradient(plan(host(), update, {.shape = {40, 40}}, {.effort = Effort::quick})), Error);
}

TEST(GeneralGradientOnDevices, AgreesWithTheHost) {
  for (const Device& device : ridge::test::accelerators()) {
    if (!device.limits().float64) continue;
    for (const unsigned number : {2u, 7u, 11u}) {
      const Drawn one = drawn_case(number);
      const FoundGradient<double> here = found_gradient(host(), one), there = found_gradient(device, one);
      ridge::test::Worst worst;
      for (std::size_t i = 0; i < here.state.all().size(); ++i)
        worst.add(std::abs(here.state.all()[i] - there.state.all()[i]));
      if (here.coefficients) {
        for (std::size_t i = 0; i < here.coefficients->all().size(); ++i)
          worst.add(std::abs(here.coefficients->all()[i] - there.coefficients->all()[i]));
      }
      EXPECT_LT(worst.value(), 1e-11) << device.id() << ", case " << number;
    }
  }
}

}  // namespace
}  // namespace ridge::stencil
