// Heat in a plate with a cold and a hot spot, until it is steady: a stencil, its borders, a plan, a run.
//   heat_plate [DEVICE]
#include <cmath>
#include <cstdio>
#include <exception>

#include <ridge/stencil.hpp>
#include <ridge/stencil/problems.hpp>

int main(int count, char** values) try {
  namespace stencil = ridge::stencil;
  const std::size_t n = 96;
  const double dx = 1.0 / n;
  // The plate is insulated on its left and right; its lower edge is held at 0 degrees and its upper one at 100.
  stencil::Borders borders;
  borders.low = {stencil::Border::fixed, stencil::Border::mirror};
  borders.high = {stencil::Border::fixed, stencil::Border::mirror};
  stencil::Grid<float> plate({n, n});
  for (std::size_t x = 0; x < n; ++x) plate(n - 1, x) = 100;
  plate(n / 4, n / 4) = -3000;
  plate(3 * n / 4, 3 * n / 4) = 3000;

  const auto update = stencil::heat<float>({.alpha = 1, .dt = 0.24 * dx * dx, .spacing = {dx, dx}});
  const auto device = ridge::device(count > 1 ? values[1] : "host");
  const auto plan = stencil::plan(device, update, {.shape = plate.shape(), .borders = borders});
  const stencil::Stop stop = plan.run_until(plate, 2e-5, stencil::Norm::max, 200'000, 500);
  std::printf("%s", plan.explain().c_str());
  std::printf("%s after %zu steps\n", stop.converged ? "at rest" : "still moving", stop.steps);

  // In the steady state the temperature is linear between the edges, whatever the initial state was.
  float worst = 0;
  for (std::size_t y = 0; y < n; ++y) {
    for (std::size_t x = 0; x < n; ++x) {
      worst = std::fmax(worst, std::fabs(plate(y, x) - 100.0f * static_cast<float>(y) / static_cast<float>(n - 1)));
    }
  }
  std::printf("off the straight line by %.2f degrees at most\n", static_cast<double>(worst));
  return worst < 1 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "heat_plate: %s\n", error.what());
  return 1;
}
