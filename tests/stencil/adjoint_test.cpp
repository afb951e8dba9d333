// Tests adjoints of updates by dot products.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/stencil/adjoint.hpp>
#include <ridge/stencil/from_expressions.hpp>
#include <ridge/stencil/problems.hpp>

#include "stencil/adjoint/linear_map.hpp"
#include "support/worst.hpp"
#include "survey_support.hpp"

namespace ridge::stencil {
namespace {

// A linear update with random offsets and weights; terms have up to two coefficients at random offsets.
Update<double> random_update(Random& random, std::size_t dimensions, std::size_t fields, std::size_t coefficients) {
  const auto offset = [&] {
    Offset at{};
    for (std::size_t axis = 3 - dimensions; axis < 3; ++axis) at[axis] = static_cast<int>(random() % 3) - 1;
    return at;
  };
  std::vector<Expression> outputs;
  for (std::size_t to = 0; to < fields; ++to) {
    Expression sum = make_read(Node::Kind::read, to, {});
    for (int term = 0; term < 5; ++term) {
      Expression product = make_node(Node::Kind::multiply, {make_constant(uniform_number(random, -0.2, 0.2)),
                                                            make_read(Node::Kind::read, random() % fields, offset())});
      for (std::size_t k = random() % 3; coefficients > 0 && k-- > 0;)
        product = make_node(Node::Kind::multiply,
                            {make_read(Node::Kind::coefficient, random() % coefficients, offset()), product});
      if (random() % 4 == 0 && coefficients > 0)
        product = make_node(
            Node::Kind::divide,
            {product, make_node(Node::Kind::add, {make_constant(3), make_read(Node::Kind::coefficient, 0, offset())})});
      sum = make_node(term % 2 == 0 ? Node::Kind::add : Node::Kind::subtract, {sum, product});
    }
    outputs.push_back(sum);
  }
  return from_expressions<double>(dimensions, outputs, "random");
}

Borders random_borders(Random& random) {
  Borders borders;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (random() % 3 == 0) {
      borders.low[axis] = borders.high[axis] = Border::periodic;
    } else {
      borders.low[axis] = random() % 2 == 0 ? Border::fixed : Border::mirror;
      borders.high[axis] = random() % 2 == 0 ? Border::fixed : Border::mirror;
    }
  }
  return borders;
}

void clear_fixed(const Update<double>& update, const Problem& problem, Grid<double>& grid) {
  const std::size_t missing = 3 - problem.shape.size();
  for (std::size_t i = 0; i < grid.cells(); ++i) {
    std::size_t index = i;
    bool fixed = false;
    for (std::size_t axis = problem.shape.size(); axis-- > 0;) {
      const std::size_t at = index % problem.shape[axis];
      index /= problem.shape[axis];
      const auto radius = static_cast<std::size_t>(update.radius[missing + axis]);
      fixed = fixed || (problem.borders.low[axis] == Border::fixed && at < radius) ||
              (problem.borders.high[axis] == Border::fixed && at + radius >= problem.shape[axis]);
    }
    for (std::size_t field = 0; field < grid.fields() && fixed; ++field) grid.field(field)[i] = 0;
  }
}

// Relative to the norms of both sides.
double dot_error(const Device& device, const Update<double>& update, const Problem& problem, std::size_t steps,
                 Random& random) {
  const Plan<double> forward(device, update, problem, {.effort = Effort::quick});
  const Adjoint<double> back = adjoint(forward, {.effort = Effort::quick});
  Grid<double> x = noise<double>(random, problem.shape, update.fields),
               y = noise<double>(random, problem.shape, update.fields);
  clear_fixed(update, problem, x);
  clear_fixed(update, problem, y);
  const Grid<double> media =
      noise<double>(random, problem.shape, std::max<std::size_t>(1, update.coefficients), 0.1, 0.25);
  const Grid<double>* given = update.coefficients > 0 ? &media : nullptr;
  Grid<double> ahead = x, behind = y;
  forward.run(ahead, steps, given);
  back.run(behind, steps, given);
  const double error =
      std::abs(dot(ahead.all(), y.all()) - dot(x.all(), behind.all())) / (norm(ahead.all()) * norm(y.all()));
  EXPECT_GT(norm(behind.all()), 0);
  return error;
}

TEST(Adjoint, RandomUpdatesPassTheDotProductTest) {
  ridge::test::Worst worst;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const std::size_t dimensions = 1 + random() % 3;
    const Update<double> update = random_update(random, dimensions, 1 + random() % 3, random() % 3);
    std::vector<std::size_t> shape;
    for (std::size_t axis = 0; axis < dimensions; ++axis) shape.push_back(5 + random() % 7);
    const double error = dot_error(host(), update, {.shape = shape, .borders = random_borders(random), .threads = 1},
                                   1 + random() % 6, random);
    EXPECT_LT(error, 1e-12) << "seed " << seed;
    worst.add(error);
  }
  EXPECT_GT(worst.value(), 0) << "the products were compared with themselves";
}

TEST(Adjoint, ReadyProblemsPassTheDotProductTest) {
  Random random(5);
  const std::vector<Borders> kinds{Borders::all(Border::fixed), Borders::all(Border::mirror),
                                   Borders::all(Border::periodic)};
  for (const Borders& borders : kinds) {
    EXPECT_LT(dot_error(host(), heat<double>({.alpha = 1, .dt = 0.1, .spacing = {1, 1.5}}),
                        {.shape = {9, 11}, .borders = borders}, 7, random),
              1e-12);
    EXPECT_LT(dot_error(host(), wave<double>({.speed = 1, .dt = 0.4, .spacing = {1, 1}}),
                        {.shape = {13, 9}, .borders = borders}, 7, random),
              1e-12);
    EXPECT_LT(dot_error(host(), maxwell<double>({.dt = 0.4}), {.shape = {12, 9}, .borders = borders}, 7, random),
              1e-12);
    EXPECT_LT(dot_error(host(), acoustic<double>({.dt = 1, .spacing = {1, 1}}), {.shape = {17, 13}, .borders = borders},
                        7, random),
              1e-12);
  }
}

// Layers on any sides, a free surface, two and three axes.
TEST(Adjoint, LayersPassTheDotProductTest) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    Random random(seed);
    AbsorbingLayers layers{.cells = 3 + random() % 4, .fastest = 0.5, .frequency = 0.03, .free_surface = seed % 3 == 0};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      layers.low[axis] = random() % 4 != 0;
      layers.high[axis] = random() % 4 != 0;
    }
    const int accuracy = seed % 2 == 0 ? 8 : 4;
    std::vector<std::size_t> shape{31 + random() % 5, 33};
    if (seed % 4 == 1) shape.push_back(34);
    const auto update =
        acoustic<double>({.dt = 1, .spacing = std::vector<double>(shape.size(), 1.0), .accuracy = accuracy}, layers);
    EXPECT_LT(dot_error(host(), update, {.shape = shape}, 23, random), 1e-12) << "seed " << seed;
  }
}

TEST(Adjoint, OfTheAdjointIsTheUpdate) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const Update<double> update = random_update(random, 2, 2, 2);
    const LinearMap map = linear_map(update.outputs, 2), twice = transposed(transposed(map));
    ASSERT_EQ(map.outputs.size(), twice.outputs.size());
    for (std::size_t i = 0; i < map.outputs.size(); ++i) {
      ASSERT_EQ(map.outputs[i].size(), twice.outputs[i].size());
      for (std::size_t k = 0; k < map.outputs[i].size(); ++k) {
        EXPECT_EQ(map.outputs[i][k].weight, twice.outputs[i][k].weight);
        EXPECT_EQ(map.outputs[i][k].offset, twice.outputs[i][k].offset);
        EXPECT_EQ(map.outputs[i][k].input, twice.outputs[i][k].input);
      }
    }
  }
}

TEST(Adjoint, RefusesUpdatesThatAreNotLinear) {
  const auto squared = update<double>(1, [](auto u) { return u(0) * u(1); });
  const Plan<double> plan(host(), squared, {.shape = {9}}, {.effort = Effort::quick});
  EXPECT_THROW(adjoint(plan), Error);
}

}  // namespace
}  // namespace ridge::stencil
