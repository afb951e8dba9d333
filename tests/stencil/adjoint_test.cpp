// Tests adjoints by dot products, and gradients by Taylor expansions.
#include <cctype>
#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/stencil.hpp>
#include <ridge/stencil/adjoint.hpp>
#include <ridge/stencil/from_expressions.hpp>
#include <ridge/stencil/problems.hpp>
#include <ridge/stencil/survey.hpp>

#include "stencil/adjoint/linear_map.hpp"
#include "stencil/shots/history.hpp"
#include "support/devices.hpp"
#include "support/error_of.hpp"
#include "support/worst.hpp"

namespace ridge::stencil {
namespace {

using Random = std::mt19937;

double uniform_number(Random& random, double low = -1, double high = 1) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

template <class T>
Grid<T> noise(Random& random, const std::vector<std::size_t>& shape, std::size_t fields, double low = -1,
              double high = 1) {
  Grid<T> grid(shape, fields);
  for (T& cell : grid.all()) cell = static_cast<T>(uniform_number(random, low, high));
  return grid;
}

double dot(const auto& a, const auto& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}
double norm(const auto& a) { return std::sqrt(dot(a, a)); }

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

// --- surveys ---------------------------------------------------------------------------------------------------------

SurveyMedium uneven(Random& random, const std::vector<std::size_t>& shape, bool surface) {
  SurveyMedium medium{.shape = shape, .spacing = 5, .frequency = 18, .free_surface = surface};
  std::size_t cells = 1;
  for (const std::size_t side : shape) cells *= side;
  for (std::size_t i = 0; i < cells; ++i)
    medium.velocity.push_back(1500 + 400.0 * static_cast<double>(i) / static_cast<double>(cells) +
                              uniform_number(random, 0, 60));
  return medium;
}

Shot scattered_shot(Random& random, const std::vector<std::size_t>& shape, std::size_t sources, std::size_t receivers) {
  Shot shot;
  const auto add = [&](std::vector<double>& to, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
      for (const std::size_t side : shape) to.push_back(uniform_number(random, 1, static_cast<double>(side - 2)));
    }
  };
  add(shot.sources, sources);
  add(shot.receivers, receivers);
  return shot;
}

template <class T>
void check_survey_dot(const Device& device, const std::vector<std::size_t>& shape, bool surface, double most) {
  Random random(11);
  const Survey<T> survey(device, uneven(random, shape, surface), {.effort = Effort::quick});
  Shot shot = scattered_shot(random, shape, 2, 5);
  const std::size_t steps = 60;
  for (std::size_t i = 0; i < 2 * steps; ++i) shot.wavelets.push_back(uniform_number(random));
  std::vector<T> data(steps * 5);
  for (T& value : data) value = static_cast<T>(uniform_number(random));
  const std::vector<T> traces = survey.record(shot, steps);
  const std::vector<double> pulses = survey.adjoint(shot, steps, data);
  const double forward = dot(traces, data), back = dot(shot.wavelets, pulses);
  EXPECT_LT(std::abs(forward - back), most * norm(traces) * norm(data)) << device.id() << " " << forward << " " << back;
  EXPECT_GT(norm(traces), 0);
}

TEST(Survey, RecordingAndItsAdjointPassTheDotProductTest) {
  check_survey_dot<double>(host(), {23, 29}, false, 1e-12);
  check_survey_dot<double>(host(), {23, 29}, true, 1e-12);
  check_survey_dot<double>(host(), {18, 17, 19}, true, 1e-12);
  check_survey_dot<float>(host(), {23, 29}, false, 1e-6);
}

struct Inverted {
  SurveyMedium medium{};
  Shot shot{};
  std::vector<double> observed{};
  std::size_t steps = 150;
};

Inverted inversion_case(bool surface = false) {
  Random random(3);
  Inverted made{.medium = uneven(random, {26, 31}, surface)};
  made.shot = scattered_shot(random, made.medium.shape, 1, 7);
  SurveyMedium other = made.medium;
  for (double& value : other.velocity) value *= 1 + 0.04 * uniform_number(random);
  other.dt = made.medium.dt = 1.1e-3;
  const Survey<double> survey(host(), other, {.effort = Effort::quick});
  made.shot.wavelets = survey.ricker(made.steps);
  made.observed = survey.record(made.shot, made.steps);
  return made;
}

TEST(Survey, GradientHasATaylorRemainderOfSecondOrder) {
  for (const bool surface : {false, true}) {
    const Inverted made = inversion_case(surface);
    const Survey<double> survey(host(), made.medium, {.effort = Effort::quick});
    const Gradient gradient = survey.gradient(made.shot, made.steps, made.observed, {.exact = true});
    Random random(9);
    std::vector<double> direction(made.medium.velocity.size());
    for (double& value : direction) value = 20 * uniform_number(random);
    const double slope = dot(gradient.velocity, direction);
    const auto misfit = [&](double h) {
      std::vector<double> velocity = made.medium.velocity;
      for (std::size_t i = 0; i < velocity.size(); ++i) velocity[i] += h * direction[i];
      const std::vector<double> traces = survey.with_velocity(velocity).record(made.shot, made.steps);
      double sum = 0;
      for (std::size_t i = 0; i < traces.size(); ++i) sum += 0.5 * std::pow(traces[i] - made.observed[i], 2);
      return sum;
    };
    EXPECT_NEAR(misfit(0), gradient.misfit, 1e-12 * gradient.misfit);
    double before = 0;
    for (int i = 0; i < 5; ++i) {
      const double h = 0.2 / std::pow(2, i);
      const double remainder = std::abs(misfit(h) - gradient.misfit - h * slope);
      if (i > 0) {
        EXPECT_NEAR(std::log2(before / remainder), 2.0, 0.05) << "h " << h;
      }
      before = remainder;
    }
    // The misfit is quadratic in the wavelet.
    Shot changed = made.shot;
    double along = 0, expected = 0;
    for (std::size_t n = 0; n < made.steps; ++n) {
      const double by = uniform_number(random);
      along += gradient.wavelets[n] * by;
      changed.wavelets[n] = by;
    }
    const std::vector<double> response = survey.record(changed, made.steps);
    for (std::size_t i = 0; i < response.size(); ++i) expected += response[i] * (gradient.traces[i] - made.observed[i]);
    EXPECT_NEAR(along, expected, 1e-10 * std::abs(expected));
  }
}

double apart(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference += std::pow(a[i] - b[i], 2);
  return std::sqrt(difference) / norm(b);
}

// Every way to keep the history, by its budget; the exact ones to the last bits.
TEST(Survey, GradientsWithinABudgetAgree) {
  const Inverted made = inversion_case();
  const Survey<double> survey(host(), made.medium, {.effort = Effort::quick});
  const Gradient exact = survey.gradient(made.shot, made.steps, made.observed, {.exact = true});
  EXPECT_NE(exact.explain.find("exact snapshots of every step"), std::string::npos) << exact.explain;
  EXPECT_EQ(exact.recomputation, 1);
  EXPECT_EQ(exact.error, 0);
  const double field = 8.0 * 60 * 80;  // about; rows are padded
  const auto with = [&](double fields, bool only_exact) {
    return survey.gradient(made.shot, made.steps, made.observed,
                           {.memory = static_cast<std::size_t>(fields * field), .exact = only_exact});
  };
  const Gradient small = survey.gradient(made.shot, made.steps, made.observed, {.error = 2e-4, .bits = 16});
  EXPECT_LE(apart(small.velocity, exact.velocity), small.error) << small.explain;
  const Gradient eight = survey.gradient(made.shot, made.steps, made.observed,
                                         {.memory = static_cast<std::size_t>(60 * field), .error = 1e-6, .bits = 8});
  EXPECT_NE(eight.explain.find("8-bit snapshots of every step"), std::string::npos) << eight.explain;
  EXPECT_LT(apart(eight.velocity, exact.velocity), eight.error) << eight.explain;
  EXPECT_GT(apart(eight.velocity, exact.velocity), eight.error / 12);
  for (const double fields : {40.0, 60.0, 90.0}) {
    const Gradient again = with(fields, true);
    EXPECT_NE(again.explain.find("states"), std::string::npos) << again.explain;
    EXPECT_GT(again.recomputation, 1);
    EXPECT_EQ(again.error, 0);
    EXPECT_LT(apart(again.velocity, exact.velocity), 1e-13) << again.explain;
    EXPECT_NEAR(again.misfit, exact.misfit, 1e-13 * exact.misfit);
  }
  // Without layers nothing but the last state is needed.
  for (const std::size_t layer : {0, 8}) {
    SurveyMedium medium = made.medium;
    medium.layer = layer;
    medium.free_surface = layer > 0;
    const Survey<double> open(host(), medium, {.effort = Effort::quick});
    const Gradient kept = open.gradient(made.shot, made.steps, made.observed, {.exact = true});
    const Gradient undone = open.gradient(made.shot, made.steps, made.observed, {.backwards = true});
    EXPECT_NE(undone.explain.find("computed backwards"), std::string::npos) << undone.explain;
    EXPECT_EQ(undone.recomputation, 2);
    EXPECT_LT(apart(undone.velocity, kept.velocity), 1e-11) << undone.explain;
    EXPECT_LT(apart(undone.wavelets, kept.wavelets), 1e-13) << undone.explain;
    EXPECT_EQ(undone.misfit, kept.misfit);
  }
  try {
    with(3, true);
    FAIL() << "a budget of three fields was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("too small"), std::string::npos) << error.what();
  }
}

// The reported error bounds the measured one: runs that end while waves are strong and runs after which they are gone,
// two and three axes, smooth and rough media, layers and mirrors, several sources, observed data of zeros.
TEST(Survey, ReportedErrorsBoundThoseMeasured) {
  struct Model {
    std::vector<std::size_t> shape;
    std::size_t steps;
    double frequency;
    bool rough, surface, layers, silent;
  };
  const std::vector<Model> models{
      {{40, 52}, 420, 16, true, false, true, false},      {{40, 52}, 130, 16, true, true, true, false},
      {{40, 52}, 420, 8, false, true, true, true},        {{34, 30}, 300, 24, true, false, false, false},
      {{20, 18, 22}, 160, 16, false, false, true, false}, {{20, 18, 22}, 60, 16, true, true, true, true}};
  std::size_t skipping = 0;
  for (const Model& model : models) {
    Random random(5);
    SurveyMedium medium = uneven(random, model.shape, model.surface);
    medium.frequency = model.frequency;
    medium.dt = 1e-3;
    medium.layer = model.layers ? 8 : 0;
    if (!model.layers) medium.borders = Borders::all(Border::mirror);
    if (!model.rough) std::fill(medium.velocity.begin(), medium.velocity.end(), 1700);
    SurveyMedium other = medium;
    for (double& value : other.velocity) value *= 1 + 0.05 * uniform_number(random, 0, 1);
    const Survey<double> survey(host(), medium, {.effort = Effort::quick});
    Shot shot = scattered_shot(random, model.shape, 2, 9);
    shot.wavelets = survey.ricker(model.steps);
    std::vector<double> observed = Survey<double>(host(), other, {.effort = Effort::quick}).record(shot, model.steps);
    if (model.silent) std::fill(observed.begin(), observed.end(), 0);
    const Gradient exact = survey.gradient(shot, model.steps, observed, {.exact = true});
    for (const double error : {1e-3, 0.03}) {
      const Gradient coarse = survey.gradient(shot, model.steps, observed, {.error = error});
      const double measured = apart(coarse.velocity, exact.velocity);
      EXPECT_LE(measured, coarse.error) << model.steps << " steps, asked " << error << ": " << coarse.explain;
      const std::size_t every = coarse.explain.find("snapshots of every ") + 19;  // a number, or "step"
      skipping += std::isdigit(coarse.explain[every]) != 0 ? 1 : 0;
    }
  }
  EXPECT_GE(skipping, 2u) << "no history skipped steps: nothing was tested";
}

// Snapshots of every step, so that roundings are the only error: the bound is 3 to 7 times the measured error of random
// models, for both kinds of integers. The budget is too small for exact snapshots.
TEST(Survey, BoundsOfRoundingErrorsAreCloseToThoseMeasured) {
  std::size_t tested = 0;
  for (unsigned seed = 0; seed < 10; ++seed) {
    Random random(seed);
    std::vector<std::size_t> shape{20 + random() % 20, 22 + random() % 30};
    if (seed % 5 == 4) shape = {20, 18, 22};
    SurveyMedium medium = uneven(random, shape, seed % 3 == 0);
    medium.dt = 1e-3;
    medium.frequency = uniform_number(random, 7, 26);
    if (seed % 4 == 2) {
      medium.layer = 0;
      medium.free_surface = false;
      medium.borders = Borders::all(Border::mirror);
    }
    SurveyMedium other = medium;
    for (double& value : other.velocity) value *= 1 + std::pow(10, -1.0 - seed % 3) * uniform_number(random, 0, 1);
    const std::size_t steps = 60 + random() % 60;
    const Survey<double> survey(host(), medium, {.effort = Effort::quick});
    Shot shot = scattered_shot(random, shape, 1 + random() % 2, 1 + random() % 9);
    shot.wavelets = survey.ricker(steps);
    std::vector<double> observed = Survey<double>(host(), other, {.effort = Effort::quick}).record(shot, steps);
    if (seed % 4 == 3) std::fill(observed.begin(), observed.end(), 0);
    const Gradient exact = survey.gradient(shot, steps, observed, {.exact = true});
    std::size_t field = sizeof(double);
    for (const std::size_t side : shape) field *= side + 24;
    for (const int bits : {8, 16}) {
      const Gradient rounded = survey.gradient(shot, steps, observed,
                                               {.memory = (20 + steps / 2) * field, .error = 1.5001e-4, .bits = bits});
      if (rounded.explain.find("bit snapshots of every step") == std::string::npos) continue;
      // Before waves reach a receiver, the gradient is smaller than roundings.
      if (rounded.error > 0.3) continue;
      const double measured = apart(rounded.velocity, exact.velocity);
      EXPECT_LE(measured, rounded.error) << "seed " << seed << ": " << rounded.explain;
      EXPECT_LE(rounded.error, 12 * measured) << "seed " << seed << ": " << rounded.explain;
      ++tested;
    }
  }
  EXPECT_GE(tested, 8u);
}

// Shots side by side in one grid, with different numbers of points, against one shot after another.
void check_batch(const Device& device, double most) {
  Random random(17);
  SurveyMedium medium = uneven(random, {22, 25}, true);
  std::vector<Shot> shots;
  for (const std::size_t receivers : {3, 1, 4}) {
    shots.push_back(scattered_shot(random, medium.shape, receivers % 2 + 1, receivers));
    const std::size_t values = 50 * shots.back().sources.size() / 2;
    for (std::size_t i = 0; i < values; ++i) shots.back().wavelets.push_back(uniform_number(random));
  }
  const Survey<double> one(host(), medium, {.effort = Effort::quick});
  medium.batch = 4;
  const Survey<double> many(device, medium, {.effort = Effort::quick});
  std::vector<double> traces, field, last, wavelets, velocity(medium.velocity.size()), observed;
  for (const Shot& shot : shots) {
    const std::vector<double> here = one.record(shot, 50, &last);
    traces.insert(traces.end(), here.begin(), here.end());
    std::vector<double> goal(here.size());
    for (double& value : goal) value = uniform_number(random);
    observed.insert(observed.end(), goal.begin(), goal.end());
    const Gradient gradient = one.gradient(shot, 50, goal, {.exact = true});
    wavelets.insert(wavelets.end(), gradient.wavelets.begin(), gradient.wavelets.end());
    for (std::size_t i = 0; i < velocity.size(); ++i) velocity[i] += gradient.velocity[i];
  }
  EXPECT_LT(apart(many.record(shots, 50, &field), traces), most) << device.id();
  EXPECT_LT(apart(field, last), most) << device.id();
  const Gradient gradient = many.gradient(shots, 50, observed, {.exact = true});
  EXPECT_LT(apart(gradient.velocity, velocity), most) << device.id();
  EXPECT_LT(apart(gradient.wavelets, wavelets), most) << device.id();
  EXPECT_LT(apart(gradient.traces, traces), most) << device.id();
  shots.resize(5, shots[0]);
  EXPECT_THROW(many.record(shots, 50), Error);
}

TEST(Survey, BatchesOfShotsAgreeWithSingleOnes) { check_batch(host(), 1e-12); }

TEST(Survey, RefusesWhatMakesNoSense) {
  Random random(1);
  const SurveyMedium good = uneven(random, {20, 24}, false);
  const auto refused = [](const SurveyMedium& medium, const Shot& shot, const std::string& text) {
    try {
      const Survey<float> survey(host(), medium, {.effort = Effort::quick});
      survey.record(shot, 3);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  const Shot shot{.sources = {4, 5}, .wavelets = {1, 2, 3}, .receivers = {4, 9.5}};
  SurveyMedium medium = good;
  medium.dt = 1;
  refused(medium, shot, "is unstable");
  medium = good;
  medium.velocity[25] = std::nan("");
  refused(medium, shot, "the velocity is nan in cell (1, 1)");
  medium = good;
  medium.frequency = 1000;
  refused(medium, shot, "shorter than two cells");
  refused(good, {.sources = {-1, 5}, .wavelets = {1, 2, 3}, .receivers = {4, 9}},
          "source 0 at (-1, 5) is outside the model");
  refused(good, {.sources = {1, 5}, .wavelets = {1, 2, 3}, .receivers = {4, 9, 3, 24}},
          "where the absorbing layers are");
  refused(good, {.sources = {1, 5}, .wavelets = {1, 2}, .receivers = {4, 9}}, "need 3 values");
}

// Waves that a bed below 26 cells reflects are sent back into a medium without it: the image has its largest values
// there.
std::vector<double> migrated_bed(const Device& device, std::size_t memory) {
  SurveyMedium medium{
      .shape = {44, 60}, .velocity = std::vector<double>(44 * 60, 2000), .spacing = 5, .dt = 5e-4, .frequency = 50};
  SurveyMedium bed = medium;
  std::fill(bed.velocity.begin() + 26 * 60, bed.velocity.end(), 2600);
  const Survey<float> survey(device, medium, {.effort = Effort::quick});
  const std::size_t steps = 330;
  Shot shot{.sources = {2, 30}, .wavelets = survey.ricker(steps)};
  for (double x = 2; x < 59; ++x) shot.receivers.insert(shot.receivers.end(), {2, x});
  std::vector<float> reflected = Survey<float>(device, bed, {.effort = Effort::quick}).record(shot, steps);
  const std::vector<float> direct = survey.record(shot, steps);
  for (std::size_t i = 0; i < direct.size(); ++i) reflected[i] -= direct[i];
  return survey.gradient(shot, steps, reflected, {.memory = memory, .image = true}).image;
}

TEST(Survey, MigrationShowsAReflectorAtItsDepth) {
  const std::vector<double> image = migrated_bed(host(), 0);
  ASSERT_EQ(image.size(), 44 * 60);
  double most = 0, depth = 0;
  for (std::size_t z = 12; z < 40; ++z) {
    double mean = 0;
    for (std::size_t x = 22; x < 39; ++x) mean += image[z * 60 + x] / 17;
    if (std::abs(mean) > most) most = std::abs(mean), depth = static_cast<double>(z);
  }
  EXPECT_GT(most, 0);
  EXPECT_NEAR(depth, 25.5, 2);
  // Snapshots of 16 bits of some steps show the same.
  EXPECT_LT(apart(migrated_bed(host(), 4 * 68 * 84 * 90), image), 0.02);
  EXPECT_THAT(ridge::test::error_of(
                  [&] {
                    const Inverted made = inversion_case();
                    Survey<double>(host(), made.medium)
                        .gradient(made.shot, made.steps, made.observed, {.backwards = true, .image = true});
                  },
                  ErrorKind::invalid_argument),
              testing::HasSubstr("leave out `backwards`"));
}

TEST(Survey, GivesStatesDuringARun) {
  const Inverted made = inversion_case();
  const Survey<double> survey(host(), made.medium, {.effort = Effort::quick});
  std::vector<double> last, middle;
  Shot shot = made.shot;
  shot.wavelets = survey.ricker(60);
  survey.record(shot, 60, &last);
  std::vector<std::size_t> steps;
  shot.wavelets = survey.ricker(75);
  survey.record(shot, 75, nullptr, {}, {30, [&](std::size_t step, const std::vector<double>& field) {
                                          steps.push_back(step);
                                          middle = field;
                                        }});
  EXPECT_EQ(steps, (std::vector<std::size_t>{30, 60}));
  EXPECT_EQ(middle, last);
}

// Receivers at cells and between cells: 64 and 8 of them per work-group, whose barriers PoCL 3.1 without optimization
// once ignored.
void check_receivers(const Survey<double>& here, const Survey<double>& there) {
  Random random(31);
  for (const std::size_t receivers : {1, 3, 8, 11, 70}) {
    for (const bool cells : {false, true}) {
      Shot shot = scattered_shot(random, here.medium().shape, 2, receivers);
      for (double& place : shot.receivers) place = cells ? std::floor(place) : place;
      const std::size_t steps = 9;
      for (std::size_t i = 0; i < 2 * steps; ++i) shot.wavelets.push_back(uniform_number(random));
      const std::vector<double> expected = here.record(shot, steps), found = there.record(shot, steps);
      EXPECT_LT(apart(found, expected), 1e-11) << receivers << " receivers, at cells " << cells;
    }
  }
}

TEST(SurveyOnDevices, GradientsAgreeWithTheHost) {
  const Inverted made = inversion_case(true);
  const Survey<double> here(host(), made.medium, {.effort = Effort::quick});
  const Gradient expected = here.gradient(made.shot, made.steps, made.observed, {.exact = true});
  for (const Device& device : ridge::test::accelerators()) {
    if (!device.limits().float64) continue;
    check_survey_dot<double>(device, {23, 29}, true, 1e-12);
    const Survey<double> there(device, made.medium, {.effort = Effort::quick});
    check_receivers(here, there);
    const Gradient exact = there.gradient(made.shot, made.steps, made.observed, {.exact = true});
    EXPECT_LT(apart(exact.velocity, expected.velocity), 1e-11) << device.id();
    EXPECT_LT(apart(exact.wavelets, expected.wavelets), 1e-11) << device.id();
    const std::size_t small = 8 * 60 * 80 * 90;
    const Gradient states = there.gradient(made.shot, made.steps, made.observed, {.memory = small, .exact = true});
    EXPECT_GT(states.recomputation, 1);
    EXPECT_LT(apart(states.velocity, expected.velocity), 1e-11) << states.explain;
    const Gradient undone = there.gradient(made.shot, made.steps, made.observed, {.backwards = true});
    EXPECT_NE(undone.explain.find("computed backwards"), std::string::npos) << undone.explain;
    EXPECT_LT(apart(undone.velocity, expected.velocity), 1e-11) << undone.explain;
    for (const int bits : {16, 8}) {
      const GradientOptions options{.memory = small, .error = 1e-3, .bits = bits},
          streams{.memory = 720 << 10, .error = 1e-3, .bits = bits};
      const Gradient outside = there.gradient(made.shot, made.steps, made.observed, streams);
      EXPECT_NE(outside.explain.find("host memory"), std::string::npos) << outside.explain;
      EXPECT_LT(apart(outside.velocity, expected.velocity), bits == 16 ? 1e-3 : 3e-2) << outside.explain;
      const Gradient coarse = there.gradient(made.shot, made.steps, made.observed, options);
      const Gradient same = here.gradient(made.shot, made.steps, made.observed, options);
      EXPECT_LT(apart(coarse.velocity, expected.velocity), bits == 16 ? 1e-3 : 3e-2) << coarse.explain;
      EXPECT_LT(apart(coarse.velocity, same.velocity), bits == 16 ? 1e-4 : 1e-2) << coarse.explain;
    }
    check_batch(device, 1e-11);
  }
}

}  // namespace
}  // namespace ridge::stencil
