// Tile sizes, costs and spectral factors of FFT convolution.
#include "image/methods/spectral.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <ridge/fft.hpp>

namespace ridge::image {
namespace {

// Smallest even length of at least `least` with the prime factors 2, 3 and 5 only.
std::size_t smooth_length(std::size_t least) {
  for (std::size_t n = std::max<std::size_t>((least + 1) / 2 * 2, 8);; n += 2) {
    std::size_t rest = n;
    for (const std::size_t factor : {2, 3, 5}) {
      while (rest % factor == 0) rest /= factor;
    }
    if (rest == 1) return n;
  }
}

std::size_t tile_length(std::size_t window, std::size_t size, std::size_t windows) {
  return std::min(std::bit_ceil(std::max<std::size_t>(windows * window, 64)), smooth_length(size + window - 1));
}

}  // namespace

Window window_of(const Product& product) {
  Window window{.rows = product.down.size(), .columns = product.across.size()};
  for (const double y : product.down) {
    for (const double x : product.across) window.weights.push_back(y * x);
  }
  window.direct_flops = 2 * static_cast<double>(product.down.size() + product.across.size());
  return window;
}

std::string SpectralTile::text() const { return fmt::format("{}x{}", columns, rows); }

std::vector<SpectralTile> spectral_tiles(const Window& window, const Shape& shape) {
  std::vector<SpectralTile> tiles;
  for (const std::size_t windows : {2, 4, 8}) {
    SpectralTile tile{.rows = tile_length(window.rows, shape.rows, windows),
                      .columns = tile_length(window.columns, shape.columns, windows)};
    if (!tiles.empty() && tiles.back().rows == tile.rows && tiles.back().columns == tile.columns) continue;
    tile.kept_rows = std::min(tile.rows - window.rows + 1, shape.rows);
    tile.kept_columns = std::min(tile.columns - window.columns + 1, shape.columns);
    tile.down = (shape.rows + tile.kept_rows - 1) / tile.kept_rows;
    tile.across = (shape.columns + tile.kept_columns - 1) / tile.kept_columns;
    const double points = static_cast<double>(tile.rows * tile.columns);
    tile.flops = points * static_cast<double>(tile.count()) * (5 * std::log2(points) + 3) /
                 static_cast<double>(shape.rows * shape.columns);
    if (tile.flops > 2 * window.direct_flops) {
      tile.refusal = fmt::format("needs {:.0f} operations per pixel with transforms of {}, {:.0f} without", tile.flops,
                                 tile.text(), window.direct_flops);
    }
    tiles.push_back(tile);
  }
  return tiles;
}

std::vector<std::complex<double>> spectral_factors(const Window& window, const SpectralTile& tile) {
  std::vector<double> padded(tile.rows * tile.columns);
  for (std::size_t i = 0; i < window.rows; ++i) {
    for (std::size_t j = 0; j < window.columns; ++j)
      padded[i * tile.columns + j] = window.weights[i * window.columns + j] / static_cast<double>(padded.size());
  }
  std::vector<std::complex<double>> factors(tile.rows * (tile.columns / 2 + 1));
  fft::plan<double>(host(), {.shape = {tile.rows, tile.columns}, .kind = fft::Kind::real, .threads = 1},
                    {.effort = Effort::quick})
      .forward(std::span<const double>(padded), std::span(factors));
  for (std::complex<double>& factor : factors) factor = std::conj(factor);  // correlation, not convolution
  return factors;
}

}  // namespace ridge::image
