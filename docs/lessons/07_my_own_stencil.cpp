// A nonlinear diffusion: written once, run on every device.
#include <cmath>
#include <cstdio>

#include <ridge/stencil.hpp>

using namespace ridge::stencil;

int main() {
  // Perona and Malik's diffusion: smooths, but stops at edges. Values must not be branched on: use select, min, max.
  auto diffuse = update<float>(2, [](auto u) {
    auto flow = [&](auto neighbour) {
      auto difference = neighbour - u(0, 0);
      return difference / (1.0f + 100.0f * difference * difference);
    };
    return u(0, 0) + 0.2f * (flow(u(-1, 0)) + flow(u(1, 0)) + flow(u(0, -1)) + flow(u(0, 1)));
  });

  Grid<float> picture({64, 64});
  for (std::size_t y = 0; y < 64; ++y)
    for (std::size_t x = 0; x < 64; ++x)
      picture(y, x) = (x < 32 ? 0.0f : 1.0f) + 0.02f * static_cast<float>((7 * x + 3 * y) % 5);

  for (const ridge::Device& device : ridge::devices().devices) {
    Grid<float> grid = picture;
    auto plan = ridge::stencil::plan(device, diffuse, {.shape = {64, 64}, .borders = Borders::all(Border::mirror)},
                                     {.effort = ridge::Effort::quick});
    plan.run(grid, 100);
    std::printf("%s: noise beside the edge %.3f, the step across it %.2f, kernels: %zu\n", device.id().c_str(),
                static_cast<double>(std::fabs(grid(10, 10) - grid(10, 12))),
                static_cast<double>(grid(20, 40) - grid(20, 20)), plan.kernels().size());
  }
}
