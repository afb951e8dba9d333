// Five-point blur in plain sequential C++, without Ridgeline.
#include <cstddef>

void blur(const float* in, float* out, std::size_t rows, std::size_t columns) {
  for (std::size_t y = 1; y + 1 < rows; ++y) {
    for (std::size_t x = 1; x + 1 < columns; ++x) {
      out[y * columns + x] = 0.2f * (in[y * columns + x] + in[y * columns + x - 1] + in[y * columns + x + 1] +
                                     in[(y - 1) * columns + x] + in[(y + 1) * columns + x]);
    }
  }
}
