// Rotation on the host: exact for multiples of 90 degrees, else one interpolated pixel after another.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "image/methods/host/move_pixels.hpp"
#include "image/methods/host/rows.hpp"
#include "image/operators/resize/taps.hpp"
#include "image/operators/rotate/places.hpp"

namespace ridge::image {
namespace {

template <class T>
void rotate_freely(const Rotate& o, const Edge& edge, const Image& in, Image& out, std::size_t threads) {
  const auto rows = static_cast<std::ptrdiff_t>(in.rows()), columns = static_cast<std::ptrdiff_t>(in.columns());
  const std::size_t channels = in.channels();
  const RotatedPlaces places(o, in.shape());
  const auto at = [&](std::ptrdiff_t y, std::ptrdiff_t x, std::size_t k) {
    if (y < 0 || x < 0 || y >= rows || x >= columns) {
      y = border_index(edge.border, y, rows);
      x = border_index(edge.border, x, columns);
      if (y < 0 || x < 0) return double{edge.constant};
    }
    return static_cast<double>(in.row<T>(static_cast<std::size_t>(y))[static_cast<std::size_t>(x) * channels + k]);
  };
  in_bands(threads, out.rows(), 4, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      T* to = out.row<T>(r);
      for (std::size_t c = 0; c < out.columns(); ++c) {
        const double x = places.x(r, c), y = places.y(r, c);
        const double whole_y = std::floor(y), whole_x = std::floor(x);
        double wy[4] = {0, 1 - (y - whole_y), y - whole_y, 0}, wx[4] = {0, 1 - (x - whole_x), x - whole_x, 0};
        int first = 1, last = 2;
        if (o.interpolation == Interpolation::bicubic) {
          cubic_weights(y - whole_y, wy);
          cubic_weights(x - whole_x, wx);
          first = 0;
          last = 3;
        }
        for (std::size_t k = 0; k < channels; ++k) {
          double sum = 0;
          if (o.interpolation == Interpolation::nearest) {
            sum = at(static_cast<std::ptrdiff_t>(std::floor(y + 0.5)), static_cast<std::ptrdiff_t>(std::floor(x + 0.5)),
                     k);
          } else {
            for (int i = first; i <= last; ++i) {
              for (int j = first; j <= last; ++j) {
                sum +=
                    wy[i] * wx[j] *
                    at(static_cast<std::ptrdiff_t>(whole_y) + i - 1, static_cast<std::ptrdiff_t>(whole_x) + j - 1, k);
              }
            }
          }
          if constexpr (std::is_same_v<T, float>) {
            *to++ = static_cast<float>(sum);
          } else {
            *to++ = static_cast<T>(
                std::nearbyint(std::clamp(sum, 0.0, static_cast<double>(std::numeric_limits<T>::max()))));
          }
        }
      }
    }
  });
}

}  // namespace

void rotate_image(const Rotate& o, const Edge& edge, const Image& in, Image& out, std::size_t threads) {
  const std::size_t last_row = in.rows() - 1, last_column = in.columns() - 1;
  if (const auto turns = quarter_turns(o)) {
    switch (*turns) {
      case 1:
        return move_pixels(in, out, threads, [=](std::size_t r, std::size_t c) {
          return std::pair{c, last_column - r};
        });
      case 2:
        return move_pixels(in, out, threads, [=](std::size_t r, std::size_t c) {
          return std::pair{last_row - r, last_column - c};
        });
      case 3:
        return move_pixels(in, out, threads, [=](std::size_t r, std::size_t c) { return std::pair{last_row - c, r}; });
      default:
        return move_pixels(in, out, threads, [](std::size_t r, std::size_t c) { return std::pair{r, c}; });
    }
  }
  switch (in.depth()) {
    case Depth::u8:
      return rotate_freely<std::uint8_t>(o, edge, in, out, threads);
    case Depth::u16:
      return rotate_freely<std::uint16_t>(o, edge, in, out, threads);
    default:
      return rotate_freely<float>(o, edge, in, out, threads);
  }
}

}  // namespace ridge::image
