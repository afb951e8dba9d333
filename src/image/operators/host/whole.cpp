// Host operators that need the whole image: transpose, rotation, integral.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/threads.hpp"
#include "image/operators/host/rows.hpp"
#include "image/operators/settings.hpp"

namespace ridge::image {
namespace {

constexpr std::size_t kTile = 32;

template <class F>
void each_row(std::size_t threads, std::size_t rows, std::size_t grain, const F& f) {
  base::parallel(std::min(threads, (rows + grain - 1) / grain), [&](std::size_t thread, std::size_t of) {
    const base::Share share = base::share(rows, thread, of, grain);
    f(share.begin, share.end);
  });
}

// Computes out(r, c) = in(source(r, c)) for pixels of kBytes, tile by tile.
template <std::size_t kBytes, class Source>
void moved(const Image& in, Image& out, std::size_t threads, const Source& source) {
  each_row(threads, out.rows(), kTile, [&](std::size_t begin, std::size_t end) {
    for (std::size_t top = begin; top < end; top += kTile) {
      for (std::size_t left = 0; left < out.columns(); left += kTile) {
        for (std::size_t r = top; r < std::min(top + kTile, end); ++r) {
          auto* to = out.row<std::byte>(r);
          for (std::size_t c = left; c < std::min(left + kTile, out.columns()); ++c) {
            const auto [y, x] = source(r, c);
            std::memcpy(to + c * kBytes, in.row<std::byte>(y) + x * kBytes, kBytes);
          }
        }
      }
    }
  });
}
template <class Source>
void move_pixels(const Image& in, Image& out, std::size_t threads, const Source& source) {
  switch (in.shape().pixel_bytes()) {
    case 1:
      return moved<1>(in, out, threads, source);
    case 2:
      return moved<2>(in, out, threads, source);
    case 3:
      return moved<3>(in, out, threads, source);
    case 4:
      return moved<4>(in, out, threads, source);
    case 6:
      return moved<6>(in, out, threads, source);
    case 8:
      return moved<8>(in, out, threads, source);
    case 12:
      return moved<12>(in, out, threads, source);
    default:
      return moved<16>(in, out, threads, source);
  }
}

using Place = std::pair<std::size_t, std::size_t>;

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
  each_row(threads, out.rows(), 4, [&](std::size_t begin, std::size_t end) {
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

// Integral image: sums along the rows, then down the columns in strips.
template <class T, class Sum>
void sum_from_corner(const Image& in, Image& out, std::size_t threads) {
  const std::size_t channels = in.channels(), wide = out.columns() * channels;
  std::fill_n(out.row<Sum>(0), wide, Sum{0});
  each_row(threads, in.rows(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const T* from = in.row<T>(r);
      Sum* to = out.row<Sum>(r + 1);
      std::fill_n(to, channels, Sum{0});
      Sum sum[4] = {};
      for (std::size_t c = 0; c < in.columns(); ++c) {
        for (std::size_t k = 0; k < channels; ++k)
          to[(c + 1) * channels + k] = sum[k] += static_cast<Sum>(from[c * channels + k]);
      }
    }
  });
  each_row(threads, wide, 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = 1; r < out.rows(); ++r) {
      const Sum* above = out.row<Sum>(r - 1);
      Sum* to = out.row<Sum>(r);
      for (std::size_t c = begin; c < end; ++c) to[c] += above[c];
    }
  });
}

}  // namespace

void transpose_image(const Image& in, Image& out, std::size_t threads) {
  move_pixels(in, out, threads, [](std::size_t r, std::size_t c) { return Place{c, r}; });
}

void rotate_image(const Rotate& o, const Edge& edge, const Image& in, Image& out, std::size_t threads) {
  const std::size_t last_row = in.rows() - 1, last_column = in.columns() - 1;
  if (const auto turns = quarter_turns(o)) {
    switch (*turns) {
      case 1:
        return move_pixels(in, out, threads, [=](std::size_t r, std::size_t c) { return Place{c, last_column - r}; });
      case 2:
        return move_pixels(in, out, threads, [=](std::size_t r, std::size_t c) {
          return Place{last_row - r, last_column - c};
        });
      case 3:
        return move_pixels(in, out, threads, [=](std::size_t r, std::size_t c) { return Place{last_row - c, r}; });
      default:
        return move_pixels(in, out, threads, [](std::size_t r, std::size_t c) { return Place{r, c}; });
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

void integral_image(const Image& in, Image& out, std::size_t threads) {
  switch (in.depth()) {
    case Depth::u8:
      return sum_from_corner<std::uint8_t, std::uint32_t>(in, out, threads);
    case Depth::u16:
      return sum_from_corner<std::uint16_t, double>(in, out, threads);
    default:
      return sum_from_corner<float, double>(in, out, threads);
  }
}

}  // namespace ridge::image
