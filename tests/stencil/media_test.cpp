// Tests waves in media: measured orders of accuracy against known solutions.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>
#include <ridge/stencil.hpp>
#include <ridge/stencil/problems.hpp>

#include "support/worst.hpp"

namespace ridge::stencil {
namespace {

using std::numbers::pi;

// A standing wave of one period. The time discretization of leapfrog is followed exactly, so that only the spatial
// error remains: a mode whose second derivative is -w^2 advances by the angle with 2 sin(angle / 2) = w dt per step.
double acoustic_error(int accuracy, std::size_t cells) {
  const double dx = 1.0 / static_cast<double>(cells), speed = 1.5, dt = 0.25 * dx / speed;
  const double omega = 2 * pi * speed, angle = 2 * std::asin(omega * dt / 2);
  const auto update = acoustic<double>({.dt = dt, .spacing = {dx}, .accuracy = accuracy});
  Grid<double> grid({cells}, 2), squared({cells});
  for (std::size_t x = 0; x < cells; ++x) {
    const double wave = std::sin(2 * pi * (static_cast<double>(x) + 0.5) * dx);
    grid.field(0)[x] = wave;
    grid.field(1)[x] = wave * std::cos(angle);
    squared.all()[x] = speed * dt * speed * dt;
  }
  const std::size_t steps = 3 * cells;  // three quarters of a period, where the amplitude determines the angle
  plan(host(), update, {.shape = {cells}, .borders = Borders::all(Border::periodic), .threads = 1},
       {.effort = Effort::quick})
      .run(grid, steps, &squared);
  ridge::test::Worst worst;
  for (std::size_t x = 0; x < cells; ++x) {
    const double wave = std::sin(2 * pi * (static_cast<double>(x) + 0.5) * dx);
    worst.add(std::abs(grid.field(0)[x] - wave * std::cos(angle * static_cast<double>(steps))));
  }
  return worst.value();
}

TEST(Acoustic, OrdersOfAccuracy) {
  for (const int accuracy : {2, 4, 6, 8}) {
    const double coarse = acoustic_error(accuracy, 16), fine = acoustic_error(accuracy, 32);
    const double order = std::log2(coarse / fine);
    EXPECT_GT(order, accuracy - 0.3) << coarse << " " << fine;
    EXPECT_LT(order, accuracy + 0.5) << coarse << " " << fine;
  }
}

// Error of a standing wave after a quarter of a period, with exact starting values; the space error is below 1e-9.
double error_after_steps(std::size_t steps) {
  constexpr std::size_t cells = 64;
  const double dx = 1.0 / cells, speed = 1.5, omega = 2 * pi * speed, dt = 0.25 / speed / static_cast<double>(steps);
  Grid<double> grid({cells}, 2), squared({cells});
  for (std::size_t x = 0; x < cells; ++x) {
    const double wave = std::sin(2 * pi * static_cast<double>(x) * dx);
    grid.field(0)[x] = wave * std::cos(0.3);
    grid.field(1)[x] = wave * std::cos(0.3 - omega * dt);
    squared.all()[x] = speed * dt * speed * dt;
  }
  plan(host(), acoustic<double>({.dt = dt, .spacing = {dx}, .accuracy = 8}),
       {.shape = {cells}, .borders = Borders::all(Border::periodic), .threads = 1}, {.effort = Effort::quick})
      .run(grid, steps, &squared);
  ridge::test::Worst worst;
  for (std::size_t x = 0; x < cells; ++x)
    worst.add(std::abs(grid.field(0)[x] - std::sin(2 * pi * static_cast<double>(x) * dx) * std::cos(0.3 + pi / 2)));
  return worst.value();
}

TEST(Acoustic, IsOfSecondOrderInTime) {
  EXPECT_NEAR(std::log2(error_after_steps(40) / error_after_steps(80)), 2, 0.05);
}

// (u+ - u)^2 / 2V - u+ L u / 2, summed over the cells, stays the same without layers, in an uneven medium.
TEST(Acoustic, ConservesItsEnergy) {
  constexpr std::size_t side = 24;
  constexpr double weights[] = {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
  Grid<double> grid({side, side}, 2), squared({side, side});
  for (std::size_t i = 0; i < side * side; ++i) {
    squared.all()[i] = 0.1 + 0.1 * std::sin(static_cast<double>(i * i));
    grid.all()[i] = grid.all()[side * side + i] = std::cos(static_cast<double>(i * i + i));
  }
  const auto energy = [&] {
    double sum = 0;
    for (std::size_t y = 0; y < side; ++y) {
      for (std::size_t x = 0; x < side; ++x) {
        const auto old = [&](std::size_t v, std::size_t w) { return grid.field(1)[v % side * side + w % side]; };
        double laplacian = 2 * weights[0] * old(y, x);
        for (std::size_t k = 1; k <= 4; ++k)
          laplacian += weights[k] * (old(y + k, x) + old(y + side - k, x) + old(y, x + k) + old(y, x + side - k));
        const double now = grid.field(0)[y * side + x];
        sum += std::pow(now - old(y, x), 2) / (2 * squared.all()[y * side + x]) - 0.5 * now * laplacian;
      }
    }
    return sum;
  };
  const auto wave =
      plan(host(), acoustic<double>({.dt = 1, .spacing = {1, 1}, .accuracy = 8}),
           {.shape = {side, side}, .borders = Borders::all(Border::periodic), .threads = 1}, {.effort = Effort::quick});
  const double before = energy();
  for (int part = 0; part < 10; ++part) {
    wave.run(grid, 1000, &squared);
    EXPECT_NEAR(energy(), before, 1e-11 * before) << part;
  }
}

TEST(Acoustic, LimitsAreThoseOfTheAlternatingMode) {
  EXPECT_NEAR(acoustic_limit(2), 1, 1e-12);
  EXPECT_NEAR(acoustic_limit(8), 0.784, 1e-3);
  EXPECT_THROW(acoustic<float>({.dt = 0, .spacing = {1}}), Error);
  EXPECT_THROW(acoustic<float>({.dt = 1, .spacing = {1}, .accuracy = 3}), Error);
}

// With damping nothing grows, and a wave decays as exp(-damping t).
TEST(Acoustic, DampingReducesTheAmplitudeByTheory) {
  const std::size_t cells = 64;
  const double dx = 1.0 / cells, dt = 0.25 * dx, damping = 2;
  const auto update = acoustic<double>({.dt = dt, .spacing = {dx}, .absorbing = true});
  Grid<double> grid({cells}, 2), coefficients({cells}, 2);
  for (std::size_t x = 0; x < cells; ++x) {
    grid.field(0)[x] = grid.field(1)[x] = std::sin(2 * pi * (static_cast<double>(x) + 0.5) * dx);
    coefficients.field(0)[x] = dt * dt;
    coefficients.field(1)[x] = 1 / (1 + dt * damping);
  }
  const std::size_t steps = 8 * cells;  // t = 2: at most exp(-4) of the amplitude
  plan(host(), update, {.shape = {cells}, .borders = Borders::all(Border::periodic), .threads = 1},
       {.effort = Effort::quick})
      .run(grid, steps, &coefficients);
  ridge::test::Worst worst;
  for (const double value : grid.field(0)) worst.add(std::abs(value));
  EXPECT_LT(worst.value(), 1.2 * std::exp(-4));
  EXPECT_GT(worst.value(), 0.1 * std::exp(-4));
}

// A plane wave across a periodic square, along a diagonal that is not aligned with an axis.
double maxwell_error(std::size_t cells) {
  const double dx = 1.0 / static_cast<double>(cells), dt = 0.5 * dx / std::sqrt(2.0);
  const double kx = 2 * pi, ky = 4 * pi, omega = std::sqrt(kx * kx + ky * ky);
  const auto update = maxwell<double>({.dt = dt, .dy = dx, .dx = dx});
  const auto ez = [&](double y, double x, double t) { return std::cos(kx * x + ky * y - omega * t); };
  Grid<double> grid({cells, cells}, 3), coefficients({cells, cells}, 2);
  for (std::size_t y = 0; y < cells; ++y) {
    for (std::size_t x = 0; x < cells; ++x) {
      const std::size_t i = y * cells + x;
      const double at_y = static_cast<double>(y) * dx, at_x = static_cast<double>(x) * dx;
      grid.field(0)[i] = ez(at_y, at_x, 0);
      grid.field(1)[i] = ky / omega * ez(at_y + dx / 2, at_x, -dt / 2);
      grid.field(2)[i] = -kx / omega * ez(at_y, at_x + dx / 2, -dt / 2);
      coefficients.field(0)[i] = 1;
      coefficients.field(1)[i] = dt;
    }
  }
  const std::size_t steps = cells;
  plan(host(), update, {.shape = {cells, cells}, .borders = Borders::all(Border::periodic), .threads = 1},
       {.effort = Effort::quick})
      .run(grid, steps, &coefficients);
  ridge::test::Worst worst;
  for (std::size_t y = 0; y < cells; ++y) {
    for (std::size_t x = 0; x < cells; ++x)
      worst.add(std::abs(
          grid(y, x) - ez(static_cast<double>(y) * dx, static_cast<double>(x) * dx, static_cast<double>(steps) * dt)));
  }
  return worst.value();
}

TEST(Maxwell, IsOfSecondOrder) {
  const double coarse = maxwell_error(32), fine = maxwell_error(64);
  EXPECT_LT(coarse, 0.2);
  const double order = std::log2(coarse / fine);
  EXPECT_GT(order, 1.8) << coarse << " " << fine;
  EXPECT_LT(order, 2.3) << coarse << " " << fine;
}

TEST(Maxwell, RefusesWhatMakesNoSense) {
  EXPECT_NEAR(courant_number(Maxwell{.dt = 0.5, .dy = 1, .dx = 1}), 0.5 * std::sqrt(2.0), 1e-12);
  EXPECT_THROW(maxwell<float>({.dt = -1}), Error);
  EXPECT_THROW(maxwell<float>({.dt = 1, .dy = 0}), Error);
}

}  // namespace
}  // namespace ridge::stencil
