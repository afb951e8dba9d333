#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include <ridge/sar.hpp>

using namespace ridge::sar;

int main() {
  const Problem problem;  // L band on an aircraft, 1024 pulses of 1024 samples
  const std::vector<Target> targets = {{.along_m = 400, .range_m = 4600},
                                       {.along_m = 500, .range_m = 4800, .amplitude = 0.5}};
  const std::vector<Complex> echoes = simulate(problem, targets);
  std::vector<Complex> image(echoes.size());
  plan(ridge::host(), problem).run(echoes, image);

  const auto brightest = [](const std::vector<Complex>& values) {
    float most = 0;
    for (const Complex& value : values) most = std::max(most, std::abs(value));
    return static_cast<double>(most);
  };
  std::printf("brightest echo %.2f - focused %.2f\n", brightest(echoes), brightest(image));
  for (const Target& target : targets) {
    const double row = (target.range_m - problem.radar.near_range_m) / range_cell(problem.radar);
    const double column = target.along_m / along_cell(problem.radar);
    const Response answer = measure(problem, image, row, column);
    const double error = std::max(std::fabs(answer.range.position - row), std::fabs(answer.along.position - column));
    std::printf("target at %.0f m: peak %.2f, %.2f cells wide, found within a tenth of a cell: %s\n", target.range_m,
                answer.peak, answer.range.width, error < 0.1 ? "True" : "False");
  }
}
