// Draws textured discs that move over a moving background.
#include "bench/cases.hpp"

#include <algorithm>
#include <array>

namespace ridge::cli {
namespace {

float random_at(int x, int y, int stream) {
  auto h = static_cast<std::uint32_t>(x) * 374761393u + static_cast<std::uint32_t>(y) * 668265263u +
           static_cast<std::uint32_t>(stream) * 2246822519u;
  h = (h ^ h >> 13) * 1274126177u;
  return static_cast<float>((h ^ h >> 16) & 0xffff) / 65535.0f;
}

// Random values on a grid of `scale` pixels, interpolated linearly.
float smooth_at(int x, int y, int scale, int stream) {
  const int far = 1 << 14, column = (x + far) / scale, row = (y + far) / scale;
  const float s = static_cast<float>((x + far) % scale) / static_cast<float>(scale);
  const float t = static_cast<float>((y + far) % scale) / static_cast<float>(scale);
  const float top = random_at(column, row, stream) * (1 - s) + random_at(column + 1, row, stream) * s;
  const float bottom = random_at(column, row + 1, stream) * (1 - s) + random_at(column + 1, row + 1, stream) * s;
  return top * (1 - t) + bottom * t;
}

struct Disc {
  int row, column, radius, down, right;  // down, right: pixels per frame
};

}  // namespace

image::Image moving_discs(std::size_t rows, std::size_t columns, int time) {
  const int h = static_cast<int>(rows), w = static_cast<int>(columns);
  const std::array<Disc, 3> discs{
      {{h / 3, w / 4, h / 6, -3, 6}, {h / 2, w * 2 / 3, h / 5, 5, -8}, {h * 3 / 4, w / 2, h / 8, 9, 2}}};
  image::Image frame({.rows = rows, .columns = columns, .channels = 3});
  for (int r = 0; r < h; ++r) {
    auto* pixel = frame.row<std::uint8_t>(static_cast<std::size_t>(r));
    for (int c = 0; c < w; ++c, pixel += 3) {
      int layer = 0, y = r - time, x = c - 3 * time;
      for (int i = 0; i < 3; ++i) {
        const Disc& disc = discs[static_cast<std::size_t>(i)];
        const int dy = r - disc.down * time - disc.row, dx = c - disc.right * time - disc.column;
        if (dy * dy + dx * dx >= disc.radius * disc.radius) continue;
        layer = i + 1;
        y = r - disc.down * time;
        x = c - disc.right * time;
      }
      for (int k = 0; k < 3; ++k) {
        const int stream = 100 * layer + 10 * k;
        const float noise = (random_at(c, r, 1000 + k + 10 * time) - 0.5f) * 6;
        const float value = 40 * smooth_at(x, y, 4, stream) + 80 * smooth_at(x, y, 16, stream + 1) +
                            80 * smooth_at(x, y, 64, stream + 2) + noise;
        pixel[k] = static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f));
      }
    }
  }
  return frame;
}

}  // namespace ridge::cli
