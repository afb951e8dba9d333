// Test data for the flow: a texture of waves and a shifted copy of it, and the difference of two fields.
#pragma once
#include <cmath>
#include <cstdint>
#include <random>

#include "image/flow/plane.hpp"
#include "support/worst.hpp"

namespace ridge::test {

// A smooth texture, sampled at (r + down, c + right): waves of several lengths and directions, three colours.
inline image::flow::Picture waves(image::flow::Size size, double down = 0, double right = 0, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> any(0, 6.283185307179586), angle(0, 6.283185307179586), length(6, 40);
  struct Wave {
    double y, x, phase[3];
  };
  std::vector<Wave> all(12);
  for (Wave& wave : all) {
    const double at = angle(random), k = 6.283185307179586 / length(random);
    wave.y = k * std::sin(at);
    wave.x = k * std::cos(at);
    for (double& phase : wave.phase) phase = any(random);
  }
  image::flow::Picture picture(size);
  for (int r = 0; r < size.rows; ++r) {
    for (int c = 0; c < size.columns; ++c) {
      for (int k = 0; k < 3; ++k) {
        double sum = 0;
        for (const Wave& wave : all) sum += std::sin(wave.y * (r + down) + wave.x * (c + right) + wave.phase[k]);
        picture.at(r, c).c[k] = static_cast<std::uint8_t>(std::lrint(std::fmin(255, std::fmax(0, 128 + 22 * sum))));
      }
    }
  }
  return picture;
}

// The square on the left moves by (2, 3), its surroundings by (0, 1): edges, occlusion, irregular flow.
inline std::pair<image::flow::Picture, image::flow::Picture> moving_square(image::flow::Size size) {
  using namespace image::flow;
  std::pair<Picture, Picture> pair{waves(size), waves(size, 0, -1)};
  const Picture inside = waves(size, 0, 0, 2), moved = waves(size, -2, -3, 2);
  const int r0 = size.rows / 4, r1 = size.rows * 3 / 4, c0 = size.columns / 8, c1 = size.columns / 2;
  for (int r = r0; r < r1; ++r) {
    for (int c = c0; c < c1; ++c) {
      pair.first.at(r, c) = inside.at(r, c);
      if (r + 2 < size.rows && c + 3 < size.columns) pair.second.at(r + 2, c + 3) = moved.at(r + 2, c + 3);
    }
  }
  return pair;
}

inline double worst_difference(const image::flow::Field& a, const image::flow::Field& b) {
  double worst = a.size == b.size ? 0 : INFINITY;
  for (std::size_t i = 0; i < a.cells.size() && i < b.cells.size(); ++i) {
    worst = worse(worst, std::hypot(double{a.cells[i].u} - b.cells[i].u, double{a.cells[i].v} - b.cells[i].v));
  }
  return worst;
}

}  // namespace ridge::test
