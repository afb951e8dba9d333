// Tests elastic waves: order of accuracy, returned energy, stability, the free surface; and light against Yee's grid.
#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/stencil.hpp>
#include <ridge/stencil/adjoint.hpp>
#include <ridge/stencil/problems.hpp>
#include <ridge/stencil/survey.hpp>

#include "support/devices.hpp"
#include "support/error_of.hpp"
#include "support/worst.hpp"

namespace ridge::stencil {
namespace {

using std::numbers::pi;

// A standing plane wave along one axis of a periodic grid. The time discretization is followed exactly, so that only
// the spatial error remains.
double elastic_error(int accuracy, std::size_t cells, bool along_x, bool shear) {
  const double dx = 1.0 / static_cast<double>(cells), dt = 0.3 * dx, rho = 1.25, mu = 0.3, lambda = 0.7;
  const double modulus = shear ? mu : lambda + 2 * mu, k = 2 * pi;
  const double angle = 2 * std::asin(k * std::sqrt(modulus / rho) * dt / 2);
  const double speed = dt * k / (2 * rho * std::sin(angle / 2));
  const std::size_t side = 8, height = along_x ? side : cells, width = along_x ? cells : side;
  Grid<double> grid({height, width}, 5), media({height, width}, 5);
  // Stress sin(k s) cos(angle n), velocity cos(k s) sin(angle (n - 1/2)).
  const std::size_t velocity = along_x != shear ? 1 : 0, stress = shear ? 4 : along_x ? 3 : 2;
  const auto expected = [&](std::size_t field, std::size_t i, double n) {
    const double at = static_cast<double>(along_x ? i % width : i / width);
    if (field == velocity) return speed * std::cos(k * (at + (shear ? 0 : 0.5)) * dx) * std::sin(angle * (n - 0.5));
    const double wave = std::sin(k * (at + (shear ? 0.5 : 0)) * dx) * std::cos(angle * n);
    if (field == stress) return wave;
    return field > 1 && field < 4 && !shear ? lambda / modulus * wave : 0;
  };
  for (std::size_t i = 0; i < grid.cells(); ++i) {
    for (std::size_t field = 0; field < 5; ++field) grid.field(field)[i] = expected(field, i, 0);
    const double values[] = {1 / rho, 1 / rho, lambda + 2 * mu, lambda, mu};
    for (std::size_t m = 0; m < 5; ++m) media.field(m)[i] = dt * values[m];
  }
  const std::size_t steps = 2 * cells;
  plan(host(), elastic<double>({.dt = dt, .spacing = dx, .accuracy = accuracy, .layers = false}),
       {.shape = {height, width}, .borders = Borders::all(Border::periodic), .threads = 1}, {.effort = Effort::quick})
      .run(grid, steps, &media);
  ridge::test::Worst worst;
  for (std::size_t i = 0; i < grid.cells(); ++i) {
    for (std::size_t field = 0; field < 5; ++field)
      worst.add(std::abs(grid.field(field)[i] - expected(field, i, static_cast<double>(steps))));
  }
  return worst.value();
}

TEST(Elastic, OrdersOfAccuracyOfBothWavesAlongBothAxes) {
  for (const int accuracy : {2, 4}) {
    for (const bool along_x : {false, true}) {
      for (const bool shear : {false, true}) {
        const double coarse = elastic_error(accuracy, 16, along_x, shear);
        const double order = std::log2(coarse / elastic_error(accuracy, 32, along_x, shear));
        EXPECT_NEAR(order, accuracy, 0.3) << "along x " << along_x << ", shear " << shear << ", error " << coarse;
      }
    }
  }
}

// Largest P velocity 1, cells of 1.
template <class Medium>
ElasticModel ground(std::size_t height, std::size_t width, const Medium& medium, double from_z = 0, double from_x = 0) {
  ElasticModel model{.shape = {height, width}, .dt = 0.5, .frequency = 0.577 / 12};
  for (std::size_t z = 0; z < height; ++z) {
    for (std::size_t x = 0; x < width; ++x) {
      const auto [p, s, rho] = medium(static_cast<double>(z) - from_z, static_cast<double>(x) - from_x);
      model.p_velocity.push_back(p);
      model.s_velocity.push_back(s);
      model.density.push_back(rho);
    }
  }
  return model;
}
struct Rock {
  double p = 1, s = 0.577, density = 1;
};
Rock solid(double, double) { return {}; }

// All fields of a box after each step; an explosion, or a force along z, in a cell of the model.
template <class T>
std::vector<T> heard(const Device& device, const ElasticModel& model, std::array<std::size_t, 2> source, bool force,
                     const std::vector<Box>& boxes, std::size_t steps) {
  const ElasticProblem<T> made = elastic_problem<T>(model);
  const std::vector<std::size_t>& shape = made.coefficients.shape();
  auto session = plan(device, made.update, {.shape = shape, .threads = 2}, {.effort = Effort::quick})
                     .start(Grid<T>(shape, made.update.fields), &made.coefficients);
  const std::array<std::size_t, 3> cell{0, made.begin[0] + source[0], made.begin[1] + source[1]};
  for (std::size_t step = 0; step < steps; ++step) {
    session.run(1);
    const double a = pi * made.frequency * (static_cast<double>(step) * made.dt - 1.5 / made.frequency);
    const T pulse = static_cast<T>((1 - 2 * a * a) * std::exp(-a * a));
    if (force) {
      session.add(cell, 0, pulse);
    } else {
      for (const std::size_t field : {2, 3}) session.add(cell, field, pulse);
    }
    for (Box box : boxes) {
      for (std::size_t axis = 0; axis < 2; ++axis) box.begin[1 + axis] += made.begin[axis];
      session.keep(box);
    }
  }
  return session.kept();
}

// Energy of both velocities that a small model returns, of that which passes the receivers: the difference from a model
// that is `more` cells larger on all sides.
template <class Medium>
double returned_energy(const Medium& medium, bool force) {
  const std::size_t height = 44, width = 48, more = 48, steps = 220;
  const std::vector<Box> boxes{{.begin = {0, 4, 4}, .extent = {1, 1, width - 8}},
                               {.begin = {0, height - 5, 4}, .extent = {1, 1, width - 8}},
                               {.begin = {0, 4, 4}, .extent = {1, height - 8, 1}}};
  std::vector<Box> there = boxes;
  for (Box& box : there) box.begin = {0, box.begin[1] + more, box.begin[2] + more};
  const auto near = heard<float>(host(), ground(height, width, medium), {9, width / 2}, force, boxes, steps);
  const auto wide = ground(height + 2 * more, width + 2 * more, medium, more, more);
  const auto far = heard<float>(host(), wide, {9 + more, width / 2 + more}, force, there, steps);
  double difference = 0, energy = 0;
  std::size_t i = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    for (const Box& box : boxes) {
      const std::size_t cells = box.extent[1] * box.extent[2];
      for (std::size_t k = 0; k < 2 * cells; ++k) {
        difference += std::pow(static_cast<double>(near[i + k]) - static_cast<double>(far[i + k]), 2);
        energy += std::pow(static_cast<double>(far[i + k]), 2);
      }
      i += 13 * cells;
    }
  }
  EXPECT_EQ(i, near.size());
  return energy > 0 ? difference / energy : 1;
}

TEST(Elastic, LayersReturnLessThanAMillionthOfTheEnergy) {
  const double explosion = returned_energy(solid, false), force = returned_energy(solid, true);
  EXPECT_LT(explosion, 1e-6);
  EXPECT_LT(force, 1e-6);
  const auto beds = [](double z, double x) {
    if (x > 32 && std::abs(z - 26) < 6) return Rock{0.9, 0.5, 1.4};
    return z < 20 ? Rock{0.7, 0.4, 0.8} : Rock{1, 0.577, 1.2};
  };
  const double uneven = returned_energy(beds, true);
  EXPECT_LT(uneven, 1e-6);
  RecordProperty("explosion", std::to_string(explosion * 1e6));
  RecordProperty("force", std::to_string(force * 1e6));
  RecordProperty("uneven", std::to_string(uneven * 1e6));
}

// RIDGE_SLOW takes 12,000 steps.
TEST(Elastic, NothingGrowsOverManySteps) {
  ElasticModel model = ground(30, 36, [](double z, double x) {
    return z + x > 30 ? Rock{1, 0.577, 1} : Rock{0.8, 0.46, 0.7};
  });
  for (const bool surface : {false, true}) {
    model.free_surface = surface;
    const ElasticProblem<float> made = elastic_problem<float>(model);
    Grid<float> grid(made.coefficients.shape(), made.update.fields);
    auto session = plan(host(), made.update, {.shape = grid.shape(), .threads = 1}, {.effort = Effort::quick})
                       .start(grid, &made.coefficients);
    const auto largest = [&] {
      session.read(grid);
      ridge::test::Worst worst;
      for (const float value : grid.all()) worst.add(std::abs(static_cast<double>(value)));
      return worst.value();
    };
    double most = 0;
    for (std::size_t step = 0; step < 280; ++step) {
      session.run(1);
      const double a = pi * 0.025 * (static_cast<double>(step) * made.dt - 60);  // waves of 18 cells and more
      session.add({0, made.begin[0] + 8, made.begin[1] + 9}, 0, static_cast<float>((1 - 2 * a * a) * std::exp(-a * a)));
      most = std::max(most, largest());
    }
    session.run(1000);
    const double then = largest();
    session.run(std::getenv("RIDGE_SLOW") != nullptr ? 11000 : 1000);
    EXPECT_LT(then, 1e-3 * most) << "free surface " << surface;
    EXPECT_LT(largest(), 1.05 * then) << "free surface " << surface << ", " << most;
  }
}

// P waves along x are faster by sqrt(1 + 2 epsilon) than those along z, in a solid and in a fluid.
TEST(Elastic, WavesInAnisotropicMediaHaveThomsensSpeeds) {
  for (const double shear : {0.5, 0.0}) {
    ElasticModel model = ground(90, 90, [&](double, double) { return Rock{0.8, shear * 0.8, 1.3}; });
    model.epsilon.assign(90 * 90, 0.2);
    model.delta.assign(90 * 90, shear > 0 ? -0.1 : 0.1);
    const std::size_t steps = 300, source = 20;
    const std::vector<Box> boxes{{.begin = {0, source + 25, source}, .extent = {1, 1, 1}},
                                 {.begin = {0, source + 55, source}, .extent = {1, 1, 1}},
                                 {.begin = {0, source, source + 25}, .extent = {1, 1, 1}},
                                 {.begin = {0, source, source + 55}, .extent = {1, 1, 1}}};
    const auto values = heard<double>(host(), model, {source, source}, false, boxes, steps);
    const std::size_t fields = values.size() / (steps * boxes.size());
    // The delay of the normal stress with the largest correlation, over 30 cells; P waves come first.
    const auto delay = [&](std::size_t pair, std::size_t field) {
      const auto at = [&](std::size_t box, std::size_t step) {
        return values[(step * 4 + pair * 2 + box) * fields + field];
      };
      double most = 0;
      std::size_t best = 0;
      for (std::size_t lag = 40; lag < 100; ++lag) {
        double sum = 0;
        for (std::size_t step = 0; step + lag < steps; ++step) sum += at(0, step) * at(1, step + lag);
        if (sum > most) most = sum, best = lag;
      }
      return static_cast<double>(best) * 0.5;
    };
    EXPECT_NEAR(30 / delay(0, 2), 0.8, 0.025) << shear;
    EXPECT_NEAR(30 / delay(1, 3), 0.8 * std::sqrt(1.4), 0.03) << shear;
  }
}

// With the same quality everywhere all fields decay by the same factor in each step.
TEST(Elastic, AttenuationDecaysWithTime) {
  ElasticModel model = ground(40, 40, solid);
  model.layer = 0;
  const auto state = [&] {
    const ElasticProblem<double> made = elastic_problem<double>(model);
    Grid<double> grid(made.coefficients.shape(), made.update.fields);
    grid.field(2)[20 * grid.shape()[1] + 20] = grid.field(3)[20 * grid.shape()[1] + 20] = 1;
    plan(host(), made.update, {.shape = grid.shape(), .threads = 1}, {.effort = Effort::quick})
        .run(grid, 30, &made.coefficients);
    return std::vector<double>(grid.all().begin(), grid.all().end());
  };
  const auto plain = state();
  model.quality.assign(40 * 40, 20);
  const auto damped = state();
  const double factor = std::exp(-pi * model.frequency * model.dt / 20 * 30);
  ridge::test::Worst worst;
  double most = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    worst.add(std::abs(damped[i] - plain[i] * factor));
    most = std::max(most, std::abs(damped[i]));
  }
  EXPECT_LT(factor, 0.9);
  EXPECT_LT(worst.value(), 1e-14);
  EXPECT_GT(most, 1e-3);
}

// The derivative with respect to the velocity of P waves against differences, in an uneven medium with attenuation.
TEST(Elastic, GradientByVelocityIncludesAnisotropy) {
  ElasticModel model = ground(12, 14, [](double z, double x) { return Rock{0.8 + 0.01 * z, 0.4, 1 + 0.02 * x}; });
  model.layer = 4;
  for (std::size_t i = 0; i < 12 * 14; ++i) {
    model.epsilon.push_back(0.1 + 0.001 * static_cast<double>(i % 7));
    model.delta.push_back(0.05);
    model.quality.push_back(40);
  }
  const std::size_t steps = 24;
  const auto problem = elastic_problem<double>(model);
  Grid<double> start(problem.coefficients.shape(), problem.update.fields);
  const std::size_t width = start.shape()[1], middle = (problem.begin[0] + 6) * width + problem.begin[1] + 7;
  start.field(2)[middle] = start.field(3)[middle] = 1;
  const Plan<double> planned =
      plan(host(), problem.update, {.shape = start.shape(), .threads = 1}, {.effort = Effort::quick});
  // Half the sum of squares of the last state's velocities.
  const auto misfit = [&](const ElasticModel& other) {
    Grid<double> grid = start;
    const auto made = elastic_problem<double>(other);
    planned.run(grid, steps, &made.coefficients);
    double sum = 0;
    for (std::size_t field = 0; field < 2; ++field) {
      for (const double value : grid.field(field)) sum += value * value / 2;
    }
    return sum;
  };
  const auto found = gradient(planned, {.effort = Effort::quick})
                         .run(start, steps, &problem.coefficients,
                              [&](std::size_t step, const Grid<double>& state, Grid<double>& derivative) {
                                for (std::size_t field = 0; field < 2 && step == steps; ++field) {
                                  for (std::size_t i = 0; i < state.cells(); ++i)
                                    derivative.field(field)[i] += state.field(field)[i];
                                }
                              });
  const std::vector<double> slopes = p_velocity_gradient(model, problem, *found.coefficients);
  for (const std::size_t cell : {0 * 14 + 3, 5 * 14 + 7, 10 * 14 + 13}) {
    ElasticModel more = model, less = model;
    more.p_velocity[cell] += 1e-5;
    less.p_velocity[cell] -= 1e-5;
    const double expected = (misfit(more) - misfit(less)) / 2e-5;
    EXPECT_NEAR(slopes[cell], expected, 1e-6 * std::abs(expected) + 1e-9) << cell;
    EXPECT_NE(slopes[cell], 0);
  }
}

TEST(Elastic, RefusesMediaThatAreNotStable) {
  ElasticModel model = ground(12, 14, solid);
  const auto refusal = [&] {
    return ridge::test::error_of([&] { elastic_problem<float>(model); }, ErrorKind::invalid_argument);
  };
  model.delta.assign(12 * 14, 1.5);
  EXPECT_THAT(refusal(), testing::HasSubstr("describe no stable medium"));
  model.delta.assign(12 * 14, NAN);
  EXPECT_THAT(refusal(), testing::HasSubstr("delta nan in cell (0, 0)"));
  model.delta.resize(5);
  EXPECT_THAT(refusal(), testing::HasSubstr("needs 168 values of delta, got 5"));
  model.delta.clear();
  model.quality.assign(12 * 14, 0);
  EXPECT_THAT(refusal(), testing::HasSubstr("quality is 0 in cell (0, 0)"));
}

// Waves along a free surface have 0.9194 of the speed of S waves in a medium whose Lame parameters are equal.
TEST(Elastic, SurfaceWavesHaveRayleighsSpeed) {
  ElasticModel model = ground(40, 150, [](double, double) { return Rock{1, 1 / std::sqrt(3.0), 1}; });
  model.frequency = 0.577 / 20;
  model.free_surface = true;
  const std::size_t near = 70, far = 120, steps = 560;
  const auto values =
      heard<double>(host(), model, {0, 15}, true,
                    {{.begin = {0, 0, near}, .extent = {1, 1, 1}}, {.begin = {0, 0, far}, .extent = {1, 1, 1}}}, steps);
  const auto trace = [&](std::size_t receiver, std::size_t step) { return values[(step * 2 + receiver) * 13]; };
  // The delay with the largest correlation, refined by a parabola.
  const auto correlation = [&](std::size_t delay) {
    double sum = 0;
    for (std::size_t step = 0; step + delay < steps; ++step) sum += trace(0, step) * trace(1, step + delay);
    return sum;
  };
  std::size_t best = 100;
  for (std::size_t delay = 100; delay < 260; ++delay) best = correlation(delay) > correlation(best) ? delay : best;
  const double before = correlation(best - 1), at = correlation(best), after = correlation(best + 1);
  const double delay = static_cast<double>(best) + 0.5 * (before - after) / (before - 2 * at + after);
  EXPECT_NEAR(static_cast<double>(far - near) / (delay * 0.5) * std::sqrt(3.0), 0.9194, 0.012);
}

TEST(ElasticOnDevices, AgreesWithTheHost) {
  for (const Device& device : ridge::test::accelerators()) {
    const ElasticModel model = ground(13, 17, solid);
    const std::vector<Box> all{{.begin = {0, 0, 0}, .extent = {1, 13, 17}}};
    const auto there = heard<float>(device, model, {6, 7}, true, all, 20),
               here = heard<float>(host(), model, {6, 7}, true, all, 20);
    ASSERT_EQ(there.size(), here.size());
    ridge::test::Worst worst;
    double most = 0;
    for (std::size_t i = 0; i < here.size(); ++i) {
      worst.add(std::abs(static_cast<double>(there[i]) - static_cast<double>(here[i])));
      most = std::max(most, std::abs(static_cast<double>(here[i])));
    }
    EXPECT_LT(worst.value(), 1e-5 * most) << device.id();
    EXPECT_GT(most, 1e-4);
  }
}

TEST(Elastic, RefusesWhatMakesNoSense) {
  const auto refused = [](const ElasticModel& model, const std::string& text) {
    try {
      elastic_problem<float>(model);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  const ElasticModel good = ground(5, 7, solid);
  EXPECT_NO_THROW(elastic_problem<float>(good));
  ElasticModel model = good;
  model.dt = 1;
  refused(model, "c dt sqrt(2) / dx is 1.414 and must not exceed 0.8571; use a dt up to 0.6061");
  model = good;
  model.frequency = 1;
  refused(model, "shorter than two cells at the lowest velocity 0.577; at most 0.2885");
  model = good;
  model.density[9] = std::nan("");
  refused(model, "density is nan in cell (1, 2)");
  model = good;
  model.s_velocity[0] = 0.9;
  refused(model, "at most 0.866 of it");
  model = good;
  model.p_velocity.pop_back();
  refused(model, "needs 35 values of p_velocity, got 34");
  model = good;
  model.accuracy = 8;
  refused(model, "2 and 4 are possible");
}

// Ez of Yee's grid obeys the wave equation of order 2, with the current's rate as its source.
TEST(Maxwell, SurveyOfOrderTwoHasTheValuesOfYeesGrid) {
  const std::size_t height = 61, width = 67, steps = 28;  // nothing reaches the sides
  const double dt = 0.6;
  SurveyMedium medium{.shape = {height, width}, .dt = dt, .frequency = 0.12, .accuracy = 2, .layer = 0};
  Grid<double> grid({height, width}, 3), coefficients({height, width}, 2);
  for (std::size_t i = 0; i < height * width; ++i) {
    const double permittivity = 1 + 0.05 * static_cast<double>(i % 17);
    medium.velocity.push_back(1 / std::sqrt(permittivity));
    coefficients.field(0)[i] = 1;
    coefficients.field(1)[i] = dt / permittivity;
  }
  const Survey<double> survey(host(), medium, {.effort = Effort::quick});
  const std::vector<double> current = survey.ricker(steps, 0.5);
  Shot shot{.sources = {30, 33}, .receivers = {24, 29, 33, 39, 30, 33}};
  for (std::size_t n = 0; n < steps; ++n) shot.wavelets.push_back((current[n] - (n > 0 ? current[n - 1] : 0)) / dt);
  const std::vector<double> traces = survey.record(shot, steps);
  auto session = plan(host(), maxwell<double>({.dt = dt}), {.shape = {height, width}}, {.effort = Effort::quick})
                     .start(grid, &coefficients);
  ridge::test::Worst worst;
  double most = 0;
  for (std::size_t n = 0; n < steps; ++n) {
    session.run(1);
    session.add({0, 30, 33}, 0, coefficients.field(1)[30 * width + 33] * current[n]);
    session.read(grid);
    for (std::size_t k = 0; k < 3; ++k) {
      const double expected =
          grid(static_cast<std::size_t>(shot.receivers[2 * k]), static_cast<std::size_t>(shot.receivers[2 * k + 1]));
      worst.add(std::abs(traces[n * 3 + k] - expected));
      most = std::max(most, std::abs(expected));
    }
  }
  EXPECT_LT(worst.value(), 1e-12 * most);
  EXPECT_GT(most, 0.1);
}

}  // namespace
}  // namespace ridge::stencil
