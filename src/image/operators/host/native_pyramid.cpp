// A level of the pyramid of 8-bit pixels in whole numbers: (1 4 6 4 1) both ways, 256 in all, fits 16 bits.
#include "base/threads.hpp"
#include "image/operators/host/native.hpp"
#include "image/operators/host/native_kernels.hpp"
#include "image/operators/host/padded.hpp"

namespace ridge::image {
namespace {

class NativePyramid final : public Native {
 public:
  explicit NativePyramid(const Edge& edge) : edge_(edge) {}
  void run(const Image& in, Image& out, std::size_t threads) const override {
    base::parallel(std::min(threads, out.rows()), [&](std::size_t thread, std::size_t of) {
      const base::Share share = base::share(out.rows(), thread, of, 1);
      if (share.begin < share.end) band(in, out, share.begin, share.end);
    });
  }

 private:
  static constexpr std::size_t kPad = 4;  // two are needed; an even number keeps even columns even

  void band(const Image& in, Image& out, std::size_t begin, std::size_t end) const {
    const std::size_t channels = in.channels(), half = out.columns() + kPad + 1;
    PaddedRows<std::uint8_t> rows(in, kPad, 6, edge_);
    // The even columns of every channel, then the odd ones, each from column -kPad on.
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

}  // namespace

std::unique_ptr<Native> native_pyramid(const Operation& operation, const Shape& in, const Edge& edge) {
  const auto* pyramid = std::get_if<Pyramid>(&operation);
  if (pyramid == nullptr || pyramid->levels != 1 || in.depth != Depth::u8 || in.channels == 2) return {};
  return std::make_unique<NativePyramid>(edge);
}

}  // namespace ridge::image
