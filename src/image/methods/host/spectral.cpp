// FFT convolution on the host: each thread processes whole tiles, all channels of each.
#include <algorithm>

#include <ridge/fft.hpp>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "image/methods/host/kernels/row_kernels.hpp"
#include "image/methods/host/native.hpp"

namespace ridge::image {
namespace {

fft::Problem transform_of(const Window& window, const SpectralTile& tile) {
  fft::Problem problem{.shape = {tile.rows, tile.columns}, .kind = fft::Kind::real, .threads = 1};
  problem.store_forward.multiply = spectral_factors(window, tile);
  return problem;
}

template <class T>
class Spectral final : public Native {
 public:
  Spectral(const Window& window, const SpectralTile& tile, const Edge& edge)
      : tile_(tile),
        edge_(edge),
        top_(static_cast<std::ptrdiff_t>(window.rows / 2)),
        left_(static_cast<std::ptrdiff_t>(window.columns / 2)),
        more_rows_(window.rows - 1),
        more_columns_(window.columns - 1),
        transform_(host(), transform_of(window, tile), {.effort = Effort::quick}) {}

  void run(const Image& in, Image& out, std::size_t threads) const override {
    const std::size_t points = tile_.rows * tile_.columns, stride = points + kRowSlack;
    base::parallel(std::min(threads, tile_.count()), [&](std::size_t thread, std::size_t of) {
      base::AlignedArray<float> planes(in.channels() * stride);
      base::AlignedArray<std::complex<float>> spectrum(tile_.rows * (tile_.columns / 2 + 1));
      std::fill_n(planes.data(), planes.size(), 0.0f);
      for (std::size_t i = thread; i < tile_.count(); i += of) {
        const std::size_t row = i / tile_.across * tile_.kept_rows, column = i % tile_.across * tile_.kept_columns;
        cut(in, row, column, planes.data(), stride);
        for (std::size_t k = 0; k < in.channels(); ++k) {
          const std::span<float> plane(planes.data() + k * stride, points);
          transform_.forward(std::span<const float>(plane), std::span(spectrum.data(), spectrum.size()));
          transform_.inverse(std::span<const std::complex<float>>(spectrum.data(), spectrum.size()), plane);
        }
        const std::size_t wide = std::min(tile_.kept_columns, out.columns() - column);
        for (std::size_t r = 0; r < std::min(tile_.kept_rows, out.rows() - row); ++r) {
          pack(planes.data() + r * tile_.columns, stride, out.channels(), wide,
               out.row<T>(row + r) + column * out.channels());
        }
      }
    });
  }

 private:
  // Copies the pixels of a tile and those around it, one plane per channel. The rest is set to zero: it does not reach
  // a result, but leftover values would grow from tile to tile.
  void cut(const Image& in, std::size_t row, std::size_t column, float* planes, std::size_t stride) const {
    const auto rows = static_cast<std::ptrdiff_t>(in.rows()), columns = static_cast<std::ptrdiff_t>(in.columns());
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(column) - left_;
    const auto wide = static_cast<std::ptrdiff_t>(std::min(tile_.kept_columns, in.columns() - column) + more_columns_);
    const std::ptrdiff_t begin = std::clamp<std::ptrdiff_t>(-first, 0, wide),
                         end = std::clamp<std::ptrdiff_t>(columns - first, begin, wide);
    std::vector<std::ptrdiff_t> places;  // sources of the columns outside the image
    for (std::ptrdiff_t i = 0; i < wide; ++i) {
      if (i < begin || i >= end) places.push_back(border_index(edge_.border, first + i, columns));
    }
    const std::size_t high = std::min(tile_.kept_rows, in.rows() - row) + more_rows_, channels = in.channels();
    const std::size_t rest = tile_.columns - static_cast<std::size_t>(wide);
    for (std::size_t k = 0; k < channels; ++k)
      std::fill_n(planes + k * stride + high * tile_.columns, (tile_.rows - high) * tile_.columns, 0.0f);
    for (std::size_t r = 0; r < high; ++r) {
      const std::ptrdiff_t y = border_index(edge_.border, static_cast<std::ptrdiff_t>(row + r) - top_, rows);
      float* to = planes + r * tile_.columns;
      if (y < 0) {
        for (std::size_t k = 0; k < channels; ++k) {
          std::fill_n(to + k * stride, wide, edge_.constant);
          std::fill_n(to + k * stride + wide, rest, 0.0f);
        }
        continue;
      }
      const T* from = in.row<T>(static_cast<std::size_t>(y));
      if (begin < end) {
        unpack(from + static_cast<std::size_t>(first + begin) * channels, channels,
               static_cast<std::size_t>(end - begin), to + begin, stride);
      }
      for (std::size_t k = 0; k < channels; ++k) {
        float* plane = to + k * stride;
        std::size_t next = 0;
        const auto outside = [&](std::ptrdiff_t i) {
          const std::ptrdiff_t place = places[next++];
          plane[i] =
              place < 0 ? edge_.constant : static_cast<float>(from[static_cast<std::size_t>(place) * channels + k]);
        };
        for (std::ptrdiff_t i = 0; i < begin; ++i) outside(i);
        for (std::ptrdiff_t i = end; i < wide; ++i) outside(i);
        std::fill_n(plane + wide, rest, 0.0f);
      }
    }
  }

  SpectralTile tile_;
  Edge edge_;
  std::ptrdiff_t top_, left_;
  std::size_t more_rows_, more_columns_;
  fft::Plan<float> transform_;
};

}  // namespace

std::unique_ptr<Native> spectral_convolution(const Window& window, const SpectralTile& tile, Depth depth,
                                             const Edge& edge) {
  switch (depth) {
    case Depth::u8:
      return std::make_unique<Spectral<std::uint8_t>>(window, tile, edge);
    case Depth::u16:
      return std::make_unique<Spectral<std::uint16_t>>(window, tile, edge);
    default:
      return std::make_unique<Spectral<float>>(window, tile, edge);
  }
}

}  // namespace ridge::image
