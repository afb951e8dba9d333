#include <cmath>
#include <cstdio>
#include <numbers>

#include <ridge/stencil.hpp>

using namespace ridge::stencil;

int main() {
  const auto step = update<double>(
      2, [](auto u) { return u(0, 0) + 0.2 * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4.0 * u(0, 0)); });

  const std::size_t n = 64, steps = 100;
  const double step_angle = 2 * std::numbers::pi / n;
  const auto wave = [&](std::size_t y, std::size_t x) {  // decays without changing shape
    return std::cos(step_angle * static_cast<double>(x)) * std::cos(step_angle * static_cast<double>(y));
  };
  Grid<double> u({n, n});
  for (std::size_t y = 0; y < n; ++y)
    for (std::size_t x = 0; x < n; ++x) u(y, x) = wave(y, x);

  const auto plan =
      ridge::stencil::plan(ridge::host(), step, {.shape = {n, n}, .borders = Borders::all(Border::periodic)},
                           {.effort = ridge::Effort::quick});
  plan.run(u, steps);

  const double decay = std::pow(1 + 0.2 * (4 * std::cos(step_angle) - 4), steps);  // exact
  double worst = 0;
  for (std::size_t y = 0; y < n; ++y)
    for (std::size_t x = 0; x < n; ++x) worst = std::fmax(worst, std::fabs(u(y, x) - decay * wave(y, x)));
  std::printf("a sum of weighted neighbours: %s\n", step.linear ? "True" : "False");
  std::printf("decayed to %.6f - expected %.6f\n", u(0, 0), decay);
  std::printf("worst error of %zu cells below 1e-13: %s\n", n * n, worst < 1e-13 ? "True" : "False");
}
