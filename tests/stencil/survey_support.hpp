// Random grids and surveys for the tests of adjoints and gradients, and their inner products.
#pragma once
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <ridge/stencil.hpp>
#include <ridge/stencil/survey.hpp>

namespace ridge::stencil {

using Random = std::mt19937;

inline double uniform_number(Random& random, double low = -1, double high = 1) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

template <class T>
Grid<T> noise(Random& random, const std::vector<std::size_t>& shape, std::size_t fields, double low = -1,
              double high = 1) {
  Grid<T> grid(shape, fields);
  for (T& cell : grid.all()) cell = static_cast<T>(uniform_number(random, low, high));
  return grid;
}

inline double dot(const auto& a, const auto& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}
inline double norm(const auto& a) { return std::sqrt(dot(a, a)); }

inline SurveyMedium uneven(Random& random, const std::vector<std::size_t>& shape, bool surface) {
  SurveyMedium medium{.shape = shape, .spacing = 5, .frequency = 18, .free_surface = surface};
  std::size_t cells = 1;
  for (const std::size_t side : shape) cells *= side;
  for (std::size_t i = 0; i < cells; ++i)
    medium.velocity.push_back(1500 + 400.0 * static_cast<double>(i) / static_cast<double>(cells) +
                              uniform_number(random, 0, 60));
  return medium;
}

inline Shot scattered_shot(Random& random, const std::vector<std::size_t>& shape, std::size_t sources,
                           std::size_t receivers) {
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

struct Inverted {
  SurveyMedium medium{};
  Shot shot{};
  std::vector<double> observed{};
  std::size_t steps = 150;
};

inline Inverted inversion_case(bool surface = false) {
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

inline double apart(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference += std::pow(a[i] - b[i], 2);
  return std::sqrt(difference) / norm(b);
}

}  // namespace ridge::stencil
