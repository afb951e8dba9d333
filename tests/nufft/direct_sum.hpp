// Direct sums in long double: the definition of the transforms, independent of the library.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include <ridge/nufft.hpp>

namespace ridge::nufft::test {

using Wide = std::complex<long double>;

inline const planner::Options kQuick{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};

template <class T>
struct Points {
  std::array<std::vector<T>, 3> axis;  // x, y, z; unused ones are empty
  std::size_t count = 0;

  void give_to(Plan<T>& plan) const { plan.set_points(axis[0], axis[1], axis[2]); }
};

// Coordinates uniform in [low, high).
template <class T>
Points<T> random_points(std::size_t axes, std::size_t count, double low = -3.141592653589793,
                        double high = 3.141592653589793, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  Points<T> points{.axis = {}, .count = count};
  for (std::size_t i = 0; i < axes; ++i) {
    for (std::size_t j = 0; j < count; ++j) points.axis[i].push_back(static_cast<T>(uniform(random)));
  }
  return points;
}

template <class T>
std::vector<std::complex<T>> random_values(std::size_t count, unsigned seed = 2) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<std::complex<T>> values(count);
  for (auto& value : values) value = {uniform(random), uniform(random)};
  return values;
}

inline long double frequency(const Problem& problem, std::size_t axis, std::size_t at) {
  const auto n = static_cast<long>(problem.modes[axis]), i = static_cast<long>(at);
  if (problem.order == Order::centered) return static_cast<long double>(i - n / 2);
  return static_cast<long double>(i < n - n / 2 ? i : i - n);
}

// phases[axis][at] of one point.
template <class T>
std::vector<std::vector<Wide>> phases_of(const Problem& problem, const Points<T>& points, std::size_t j) {
  std::vector<std::vector<Wide>> phases(problem.modes.size());
  for (std::size_t axis = 0; axis < problem.modes.size(); ++axis) {
    for (std::size_t at = 0; at < problem.modes[axis]; ++at) {
      const long double phase =
          problem.sign * frequency(problem, axis, at) * static_cast<long double>(points.axis[axis][j]);
      phases[axis].emplace_back(std::cos(phase), std::sin(phase));
    }
  }
  while (phases.size() < 3) phases.insert(phases.begin(), {Wide(1)});
  return phases;
}

// Calls use(mode, phase of the mode at the point) for all modes of a set.
template <class T, class Use>
void for_each_mode(const Problem& problem, const Points<T>& points, std::size_t j, const Use& use) {
  const auto phases = phases_of(problem, points, j);
  std::size_t mode = 0;
  for (const Wide& a : phases[0]) {
    for (const Wide& b : phases[1]) {
      for (const Wide& c : phases[2]) use(mode++, a * b * c);
    }
  }
}

template <class T>
std::vector<Wide> direct_sum(const Problem& problem, const Points<T>& points, const std::vector<std::complex<T>>& in) {
  std::size_t modes = 1;
  for (const std::size_t n : problem.modes) modes *= n;
  const bool to_modes = problem.type == Type::to_modes;
  std::vector<Wide> out(problem.batch * (to_modes ? modes : points.count));
  for (std::size_t j = 0; j < points.count; ++j) {
    for_each_mode(problem, points, j, [&](std::size_t mode, const Wide& phase) {
      for (std::size_t set = 0; set < problem.batch; ++set) {
        const std::size_t point = set * points.count + j;
        if (to_modes) {
          out[set * modes + mode] += Wide(in[point]) * phase;
        } else {
          out[point] += Wide(in[set * modes + mode]) * phase;
        }
      }
    });
  }
  return out;
}

// Error in the L2 norm, relative to the exact answer's norm or to `least_square`, if that is larger; absolute if both
// are zero.
template <class T>
double error_of_answer(const std::vector<std::complex<T>>& got, const std::vector<Wide>& exact,
                       long double least_square = 0) {
  if (got.size() != exact.size()) return NAN;
  long double difference = 0, norm = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference += std::norm(Wide(got[i]) - exact[i]);
    norm += std::norm(exact[i]);
  }
  norm = std::max(norm, least_square);
  return static_cast<double>(std::sqrt(norm == 0 ? difference : difference / norm));
}

}  // namespace ridge::nufft::test
