// Computes the groups of pulses, their centres and grids, and the weights of interpolation.
#include "sar/factorization.hpp"

#include <algorithm>
#include <cmath>

#include "sar/geometry.hpp"

namespace ridge::sar {
namespace {

constexpr double kTangentRate = 2;  // oversampling of the grids of tangents
// The same with the band of the range migration, most of which the windows suppress. Widths and peaks of points at 19
// km with the default radar are wrong by 0.7 % at 0.7, 3 % at 0.35.
constexpr double kMigrationRate = 0.7;

PulseGroup group_of(const std::vector<Offset>& platform, std::size_t first, std::size_t count) {
  PulseGroup group{.first = first, .end = std::min(first + count, platform.size())};
  const auto members = static_cast<double>(group.end - group.first);
  for (std::size_t pulse = group.first; pulse < group.end; ++pulse) {
    group.along += platform[pulse].along_m / members;
    group.range += platform[pulse].range_m / members;
  }
  return group;
}

// Moves the centres of groups of `count` pulses to equal distances on one line, so that all columns a multiple of
// `count` apart see them in the same way.
void align(std::vector<PulseGroup>& groups, const std::vector<Offset>& platform, double along, std::size_t count) {
  const auto pulses = static_cast<double>(platform.size());
  Offset mean;  // from the straight track
  for (std::size_t pulse = 0; pulse < platform.size(); ++pulse) {
    mean.along_m += (platform[pulse].along_m - along * static_cast<double>(pulse)) / pulses;
    mean.range_m += platform[pulse].range_m / pulses;
  }
  for (PulseGroup& group : groups) {
    group.along = mean.along_m + along * (static_cast<double>(group.first) + 0.5 * static_cast<double>(count - 1));
    group.range = mean.range_m;
  }
}

// Mean of exp(2 pi i f distance) over the band of a grid.
double in_band(double distance) {
  const double angle = kPi * distance / kTangentRate;
  return std::abs(angle) < 1e-9 ? 1 : std::sin(angle) / angle;
}

// Weights with the least squared error for a value `fraction` points after the third neighbour.
std::array<double, kNeighbours> best_taps(double fraction) {
  constexpr double kRegularization = 1e-9;
  const double place = static_cast<double>(kNeighbours / 2 - 1) + fraction;
  std::array<std::array<double, kNeighbours + 1>, kNeighbours> matrix{};
  for (std::size_t k = 0; k < kNeighbours; ++k) {
    for (std::size_t l = 0; l < kNeighbours; ++l)
      matrix[k][l] = in_band(static_cast<double>(k) - static_cast<double>(l)) + (k == l ? kRegularization : 0);
    matrix[k][kNeighbours] = in_band(place - static_cast<double>(k));
  }
  for (std::size_t k = 0; k < kNeighbours; ++k) {  // Gauss-Jordan; the matrix is positive definite
    for (std::size_t row = 0; row < kNeighbours; ++row) {
      const double factor = row == k ? 0 : matrix[row][k] / matrix[k][k];
      for (std::size_t l = k; l <= kNeighbours; ++l) matrix[row][l] -= factor * matrix[k][l];
    }
  }
  std::array<double, kNeighbours> taps;
  for (std::size_t k = 0; k < kNeighbours; ++k) taps[k] = matrix[k][kNeighbours] / matrix[k][k];
  return taps;
}

}  // namespace

double Factorization::edge(const GroupLevel& level, double range) const {
  return widest_tangent * (1 + away / range) + level.length / (2 * range);
}

std::size_t Factorization::half(const GroupLevel& level, double range) const {
  return static_cast<std::size_t>(std::floor(edge(level, range) / level.step)) + kNeighbours / 2;
}

Factorization factorize(const std::vector<Offset>& platform, double along, double turns_per_metre,
                        double widest_tangent, double migration, std::size_t first, std::size_t last) {
  Factorization made{.platform = platform, .widest_tangent = widest_tangent};
  for (const Offset& at : platform) made.away = std::max(made.away, std::abs(at.range_m));
  double step = 0;  // of the first level; those of the others are exact fractions of it
  for (std::size_t count = first, parts = 1; count <= last; count *= kMerged, parts *= kMerged) {
    GroupLevel& level = made.levels.emplace_back();
    level.pulses = count;
    double reach = 0;
    for (std::size_t pulse = 0; pulse < platform.size(); pulse += count)
      level.groups.push_back(group_of(platform, pulse, count));
    if (count * kMerged > last) align(level.groups, platform, along, count);
    for (const PulseGroup& group : level.groups) {
      for (std::size_t i = group.first; i < group.end; ++i) {
        reach = std::max(reach, std::abs(platform[i].along_m - group.along) +
                                    std::abs(platform[i].range_m - group.range) * widest_tangent);
      }
    }
    level.length = 2 * reach + along;
    const double turns = turns_per_metre * level.length;
    const double own =
        static_cast<double>(parts) / std::max(kTangentRate * turns, kMigrationRate * (turns + migration));
    step = step == 0 ? own : std::min(step, own);
  }
  for (GroupLevel& level : made.levels) {
    level.step = step;
    step /= static_cast<double>(kMerged);
  }
  return made;
}

TapPolynomials tap_polynomials() {
  TapPolynomials polynomials{};
  std::array<double, kTapTerms> nodes;  // Chebyshev's points
  std::array<std::array<double, kNeighbours>, kTapTerms> divided;
  for (std::size_t i = 0; i < kTapTerms; ++i) {
    nodes[i] = -std::cos(kPi * (static_cast<double>(i) + 0.5) / kTapTerms);
    divided[i] = best_taps(0.5 * (nodes[i] + 1));
  }
  for (std::size_t k = 0; k < kNeighbours / 2; ++k) {
    std::array<double, kTapTerms> terms{};
    for (std::size_t order = 1; order < kTapTerms; ++order) {
      for (std::size_t i = kTapTerms; i-- > order;)
        divided[i][k] = (divided[i][k] - divided[i - 1][k]) / (nodes[i] - nodes[i - order]);
    }
    for (std::size_t i = kTapTerms; i-- > 0;) {  // terms = terms * (x - node) + divided
      for (std::size_t t = kTapTerms; t-- > 0;) terms[t] = (t > 0 ? terms[t - 1] : 0) - nodes[i] * terms[t];
      terms[0] += divided[i][k];
    }
    for (std::size_t t = 0; t < kTapTerms; ++t) polynomials[k][t] = static_cast<float>(terms[t]);
  }
  return polynomials;
}

std::array<float, kNeighbours> taps_at(const TapPolynomials& polynomials, float fraction) {
  const float x = 2 * fraction - 1;
  std::array<float, kNeighbours> taps{};
  for (std::size_t k = 0; k < kNeighbours / 2; ++k) {
    float left = 0, right = 0;
    for (std::size_t t = kTapTerms; t-- > 0;) {
      left = left * x + polynomials[k][t];
      right = right * -x + polynomials[k][t];
    }
    taps[k] = left;
    taps[kNeighbours - 1 - k] = right;
  }
  return taps;
}

}  // namespace ridge::sar
