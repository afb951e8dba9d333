#include <cmath>
#include <cstdio>
#include <vector>

#include <ridge/stencil/minimize.hpp>
#include <ridge/stencil/survey.hpp>

using namespace ridge::stencil;

std::vector<double> model(double bodies) {
  std::vector<double> velocity;
  for (int y = 0; y < 36; ++y) {
    for (int x = 0; x < 48; ++x) {
      const double fast = std::hypot(y - 16, x - 15) < 5, slow = std::hypot(y - 20, x - 33) < 5;
      velocity.push_back(1600 + 8 * y + bodies * (fast - slow));
    }
  }
  return velocity;
}

int main() {
  const std::vector<double> start = model(0), wanted = model(150);
  const Survey<float> survey(ridge::host(),
                             {.shape = {36, 48}, .velocity = wanted, .spacing = 10, .frequency = 9, .batch = 4});
  std::vector<double> receivers;
  for (const double depth : {2.0, 33.0})
    for (double column = 2.5; column < 45; column += 2) receivers.insert(receivers.end(), {depth, column});
  std::vector<Shot> shots;
  for (const double column : {6.0, 18.0, 30.0, 42.0})
    shots.push_back({.sources = {2.5, column}, .wavelets = survey.ricker(240), .receivers = receivers});
  const std::vector<float> observed = survey.record(shots, 240);  // the four shots at once

  const Objective misfit = [&](const std::vector<double>& velocity, std::vector<double>& slope) {
    const Gradient gradient = survey.with_velocity(velocity).gradient(shots, 240, observed);
    slope = gradient.velocity;
    return gradient.misfit;
  };
  const Minimum found = minimize(misfit, start, {.iterations = 8, .low = 1400, .high = 2030, .first_step = 20});
  std::printf("misfit after %zu iterations below a tenth: %s\n", found.values.size() - 1,
              found.values.back() < 0.1 * found.values.front() ? "yes" : "no");
}
