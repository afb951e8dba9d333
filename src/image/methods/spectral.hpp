// FFT convolution by overlap-save: each tile includes the pixels around its results, and results affected by circular
// wrap-around are discarded.
#pragma once
#include <complex>
#include <string>
#include <vector>

#include "image/methods/weights.hpp"

namespace ridge::image {

struct SpectralTile {
  std::size_t rows = 0, columns = 0;            // size of the transform
  std::size_t kept_rows = 0, kept_columns = 0;  // valid results per transform
  std::size_t down = 0, across = 0;             // number of tiles per image
  double flops = 0;                             // per value of the image, forward and inverse
  std::string refusal = {};                     // if the window is too small for transforms to pay off
  std::size_t count() const { return down * across; }
  std::string text() const;  // "256x128"
};
std::vector<SpectralTile> spectral_tiles(const Window& window, const Shape& shape);

// Factors for the spectrum of a tile: rows of columns / 2 + 1 values. They include the scale of both transforms.
std::vector<std::complex<double>> spectral_factors(const Window& window, const SpectralTile& tile);

}  // namespace ridge::image
