// One pyramid level: 8-bit images in integers (weights (1 4 6 4 1) per axis; sums of weight 256 fit 16 bits), and
// single-channel float images directly from the image's rows.
#include "image/methods/host/kernels/native_kernels.hpp"
#include "image/methods/host/native.hpp"
#include "image/methods/host/padded.hpp"
#include "image/methods/host/row_blocks.hpp"

namespace ridge::image {
namespace {

class NativePyramid final : public Native {
 public:
  explicit NativePyramid(const Edge& edge) : edge_(edge) {}
  void run(const Image& in, Image& out, std::size_t threads) const override {
    in_bands(threads, out.rows(), 1, [&](std::size_t begin, std::size_t end) { band(in, out, begin, end); });
  }

 private:
  static constexpr std::size_t kPad = 4;  // two are needed; an even number preserves the parity of columns

  void band(const Image& in, Image& out, std::size_t begin, std::size_t end) const {
    const std::size_t channels = in.channels(), half = out.columns() + kPad + 1;
    PaddedRows<std::uint8_t> rows(in, kPad, 6, edge_);
    // All channels' even columns, then all channels' odd columns, each from column -kPad on.
    const std::size_t stride = half + 64;
    base::AlignedArray<std::uint16_t> sums(2 * channels * stride);
    for (std::size_t r = begin; r < end; ++r) {
      const std::uint8_t* window[5] = {};
      for (std::size_t i = 0; i < 5; ++i)
        window[i] = rows.row(static_cast<std::ptrdiff_t>(2 * r + i) - 2) - kPad * channels;
      pyramid_down(window, channels, half, sums.data(), stride);
      pyramid_across(sums.data() + kPad / 2, channels, stride, out.columns(), out.row<std::uint8_t>(r));
    }
  }
  Edge edge_;
};

class FloatPyramid final : public Native {
 public:
  explicit FloatPyramid(const Edge& edge) : edge_(edge) {}
  void run(const Image& in, Image& out, std::size_t threads) const override {
    in_bands(threads, out.rows(), 1, [&](std::size_t begin, std::size_t end) { band(in, out, begin, end); });
  }

 private:
  static constexpr std::size_t kPad = 16;  // two are needed

  void band(const Image& in, Image& out, std::size_t begin, std::size_t end) const {
    const std::size_t columns = in.columns();
    base::AlignedArray<float> line(columns + 2 * kPad + 64), beyond(columns);
    std::fill_n(beyond.data(), columns, edge_.constant);
    std::fill_n(line.data(), line.size(), 0.0f);
    float* const sums = line.data() + kPad;
    const auto wide = static_cast<std::ptrdiff_t>(columns);
    for (std::size_t r = begin; r < end; ++r) {
      const float* rows[5] = {};
      for (std::size_t i = 0; i < 5; ++i) {
        const std::ptrdiff_t y = border_index(edge_.border, static_cast<std::ptrdiff_t>(2 * r + i) - 2,
                                              static_cast<std::ptrdiff_t>(in.rows()));
        rows[i] = y < 0 ? beyond.data() : in.row<float>(static_cast<std::size_t>(y));
      }
      pyramid_down(rows, columns, sums);
      for (const std::ptrdiff_t x : {std::ptrdiff_t{-2}, std::ptrdiff_t{-1}, wide, wide + 1}) {
        const std::ptrdiff_t from = border_index(edge_.border, x, wide);
        sums[x] = from < 0 ? edge_.constant : sums[from];
      }
      pyramid_across(sums, out.columns(), out.row<float>(r));
    }
  }
  Edge edge_;
};

}  // namespace

std::unique_ptr<Native> native_pyramid(const Pyramid& o, const Shape& in, const Edge& edge) {
  if (o.levels != 1) return {};
  if (in.depth == Depth::f32 && in.channels == 1) return std::make_unique<FloatPyramid>(edge);
  if (in.depth != Depth::u8 || in.channels == 2) return {};
  return std::make_unique<NativePyramid>(edge);
}

}  // namespace ridge::image
