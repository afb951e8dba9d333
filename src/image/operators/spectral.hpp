// Convolution by products of spectra, a tile at a time: as many pixels as a transform has are read, those around the
// results included; at the ends, where the transform goes round, there are no results.
#pragma once
#include <complex>
#include <optional>
#include <string>
#include <vector>

#include <ridge/image/operators.hpp>

namespace ridge::image {

struct Window {  // out(r, c) = sum weights(i, j) in(r + i - rows / 2, c + j - columns / 2)
  std::size_t rows = 0, columns = 0;
  std::vector<double> weights = {};
  double direct_flops = 0;  // a value, by the cheapest sum of columns times rows
};
std::optional<Window> window_of(const Operation& operation, Depth depth);  // of those that are such a sum

struct SpectralTile {
  std::size_t rows = 0, columns = 0;            // of a transform
  std::size_t kept_rows = 0, kept_columns = 0;  // results of it
  std::size_t down = 0, across = 0;             // tiles of an image
  double flops = 0;                             // a value of the image, both ways
  std::string refusal = {};                     // where the window is so small that this cannot pay
  std::size_t count() const { return down * across; }
  std::string text() const;  // "256x128"
};
std::vector<SpectralTile> spectral_tiles(const Window& window, const Shape& shape);

// What the spectrum of a tile is multiplied with: rows of columns / 2 + 1, the scale of both transforms included.
std::vector<std::complex<double>> spectral_factors(const Window& window, const SpectralTile& tile);

}  // namespace ridge::image
