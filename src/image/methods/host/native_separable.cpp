// Separable filters of interleaved pixels: rows are read in their own type, and only the column sums of a strip of four
// rows are floats.
#include <algorithm>

#include "image/methods/host/kernels/row_kernels.hpp"
#include "image/methods/host/native.hpp"
#include "image/methods/host/out_rows.hpp"
#include "image/methods/host/padded.hpp"
#include "image/methods/host/row_blocks.hpp"

namespace ridge::image {
namespace {

template <class T>
class NativeSeparable final : public Native {
 public:
  NativeSeparable(const std::vector<double>& down, const std::vector<double>& across, const Edge& edge)
      : down_(down.begin(), down.end()), across_(across.begin(), across.end()), before_(down.size() / 2), edge_(edge) {
    while (down_.size() < kRows) down_.push_back(0);
  }
  void run(const Image& in, Image& out, std::size_t threads) const override {
    in_row_blocks(threads, out.rows(), 64, [&](std::size_t begin, std::size_t end) { band(in, out, begin, end); });
  }

 private:
  static constexpr std::size_t kRows = 4, kStrip = 1024;

  void band(const Image& in, Image& out, std::size_t begin, std::size_t end) const {
    const std::size_t channels = in.channels(), wide = in.columns() * channels, left = across_.size() / 2;
    const std::size_t more = (across_.size() - 1) * channels, pitch = kStrip + more + 4 * kRowSlack;
    PaddedRows<T> rows(in, left, down_.size() + kRows - 1, edge_);
    OutRows<T> outs(out, kRows);
    base::AlignedArray<float> memory(kRows * pitch);
    float* sums[kRows];
    for (std::size_t j = 0; j < kRows; ++j) sums[j] = memory.data() + j * pitch;
    std::vector<const T*> window(down_.size() + kRows - 1), from(window.size());
    for (std::size_t r = begin; r < end; r += kRows) {
      for (std::size_t i = 0; i < window.size(); ++i)
        window[i] =
            rows.row(static_cast<std::ptrdiff_t>(r + i) - static_cast<std::ptrdiff_t>(before_)) - left * channels;
      for (std::size_t x = 0; x < wide; x += kStrip) {
        const std::size_t count = std::min(kStrip, wide - x);
        for (std::size_t i = 0; i < window.size(); ++i) from[i] = window[i] + x;
        weighted_sums_down(from.data(), down_.data(), down_.size(), sums, count + more);
        for (std::size_t j = 0; j < kRows && r + j < end; ++j)
          weighted_sums_across(sums[j], across_.data(), across_.size(), channels, count, outs.row(r + j) + x);
      }
      for (std::size_t j = 0; j < kRows && r + j < end; ++j) outs.done(r + j);
    }
  }

  std::vector<float> down_, across_;
  std::size_t before_;
  Edge edge_;
};

}  // namespace

std::unique_ptr<Native> native_separable(const Product& product, const Shape& in, const Edge& edge) {
  const std::vector<double>&down = product.down, &across = product.across;
  if (in.depth != Depth::f32 && !kLoadsWiden) return {};
  // Columns of fewer than four weights are padded with weights of 0, which would turn a float infinity or NaN into NaN.
  if (in.depth == Depth::f32 && down.size() < 4) return {};
  switch (in.depth) {
    case Depth::u8:
      return std::make_unique<NativeSeparable<std::uint8_t>>(down, across, edge);
    case Depth::u16:
      return std::make_unique<NativeSeparable<std::uint16_t>>(down, across, edge);
    default:
      return std::make_unique<NativeSeparable<float>>(down, across, edge);
  }
}

}  // namespace ridge::image
