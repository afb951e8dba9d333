// Box filter of 8-bit images in integers: running column sums; horizontally, narrow windows are summed directly and
// wide ones by doubling.
#include "image/methods/host/kernels/native_kernels.hpp"
#include "image/methods/host/native.hpp"
#include "image/methods/host/padded.hpp"
#include "image/methods/host/row_blocks.hpp"

namespace ridge::image {
namespace {

template <class Sum>
class NativeBox final : public Native {
 public:
  NativeBox(const Box& box, const Edge& edge) : box_(box), edge_(edge) {}
  void run(const Image& in, Image& out, std::size_t threads) const override {
    in_bands(threads, out.rows(), 1, [&](std::size_t begin, std::size_t end) { band(in, out, begin, end); });
  }

 private:
  void band(const Image& in, Image& out, std::size_t begin, std::size_t end) const {
    const std::size_t step = in.channels(), pad = box_.columns / 2, wide = in.columns() * step,
                      padded = wide + 2 * pad * step;
    PaddedRows<std::uint8_t> rows(in, pad, box_.rows + 1, edge_);
    base::AlignedArray<std::uint16_t> down(padded + 64);
    base::AlignedArray<Sum> part(padded + 64), sums(wide + 64);
    std::fill(down.begin(), down.end(), std::uint16_t{0});
    const auto top = static_cast<std::ptrdiff_t>(box_.rows / 2), high = static_cast<std::ptrdiff_t>(box_.rows);
    const auto row = [&](std::ptrdiff_t r) { return rows.row(r) - pad * step; };
    for (std::ptrdiff_t r = static_cast<std::ptrdiff_t>(begin) - top;
         r < static_cast<std::ptrdiff_t>(begin) - top + high - 1; ++r)
      follow_row(down.data(), row(r), nullptr, padded);
    for (std::size_t r = begin; r < end; ++r) {
      const auto first = static_cast<std::ptrdiff_t>(r) - top;
      follow_row(down.data(), row(first + high - 1), r == begin ? nullptr : row(first - 1), padded);
      across(down.data(), part.data(), sums.data(), step, wide, padded);
      mean_row(sums.data(), 1.0f / static_cast<float>(box_.rows * box_.columns), wide, out.row<std::uint8_t>(r));
    }
  }
  // sums[i] = sum of down[i + k * step] for k < columns: adds partial sums of lengths 1, 2, 4, ... according to the
  // binary digits of `columns`.
  void across(const std::uint16_t* down, Sum* part, Sum* sums, std::size_t step, std::size_t wide,
              std::size_t padded) const {
    constexpr std::size_t kNarrow = 16;
    if (box_.columns <= kNarrow) return window_row(down, step, box_.columns, wide, sums);
    for (std::size_t i = 0; i < padded; ++i) part[i] = down[i];
    std::size_t done = 0;
    for (std::size_t length = 1;; length *= 2) {
      if ((box_.columns & length) != 0) {
        const Sum* from = part + done * step;
        if (done == 0) {
          for (std::size_t i = 0; i < wide; ++i) sums[i] = from[i];
        } else {
          for (std::size_t i = 0; i < wide; ++i) sums[i] = static_cast<Sum>(sums[i] + from[i]);
        }
        done += length;
      }
      if (2 * length > box_.columns) return;
      const Sum* ahead = part + length * step;
      for (std::size_t i = 0; i + length * step < padded; ++i) part[i] = static_cast<Sum>(part[i] + ahead[i]);
    }
  }
  Box box_;
  Edge edge_;
};

}  // namespace

std::unique_ptr<Native> native_box(const Box& box, const Shape& in, const Edge& edge) {
  if (in.depth != Depth::u8 || box.rows > 257) return {};
  if (box.rows * box.columns <= 257) return std::make_unique<NativeBox<std::uint16_t>>(box, edge);
  if (box.rows * box.columns > 65000) return {};
  return std::make_unique<NativeBox<std::uint32_t>>(box, edge);
}

}  // namespace ridge::image
