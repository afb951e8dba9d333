// Integral images on the host: plain loops over the whole image, and vectorized rows of sums.
#include <algorithm>

#include "base/threads.hpp"
#include "image/methods/host/kernels/native_kernels.hpp"
#include "image/methods/host/native.hpp"
#include "image/methods/host/out_rows.hpp"
#include "image/methods/host/row_blocks.hpp"

namespace ridge::image {
namespace {

// Integral image: sums along the rows, then down the columns in strips.
template <class T, class Sum>
void sum_from_corner(const Image& in, Image& out, std::size_t threads) {
  const std::size_t channels = in.channels(), wide = out.columns() * channels;
  std::fill_n(out.row<Sum>(0), wide, Sum{0});
  in_bands(threads, in.rows(), 1, [&](std::size_t begin, std::size_t end) {
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
  in_bands(threads, wide, 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = 1; r < out.rows(); ++r) {
      const Sum* above = out.row<Sum>(r - 1);
      Sum* to = out.row<Sum>(r);
      for (std::size_t c = begin; c < end; ++c) to[c] += above[c];
    }
  });
}

// Divides the rows into bands, one per thread. With several bands, the sums above each band are computed first from the
// column sums of the bands before it.
template <class T, class Sum>
class NativeIntegral final : public Native {
 public:
  void run(const Image& in, Image& out, std::size_t threads) const override {
    const std::size_t channels = in.channels(), wide = out.columns() * channels;
    const std::size_t bands = std::max<std::size_t>(1, std::min(threads, in.rows() / 16));
    std::vector<std::vector<Sum>> above(bands, std::vector<Sum>(wide));
    if (bands > 1) {
      base::parallel(bands, [&](std::size_t band, std::size_t of) {
        const base::Share share = base::share(in.rows(), band, of, 1);
        if (band + 1 < of) add_columns(in, share.begin, share.end, above[band + 1]);
      });
      for (std::size_t band = 1; band < bands; ++band) {
        for (std::size_t c = 0; c < wide; ++c) above[band][c] += above[band - 1][c];
      }
      for (std::size_t band = 1; band < bands; ++band) {  // turns column sums into prefix sums along the row
        for (std::size_t c = channels; c < wide; ++c) above[band][c] += above[band][c - channels];
      }
    }
    std::fill_n(out.row<Sum>(0), wide, Sum{0});
    base::parallel(bands, [&](std::size_t band, std::size_t of) {
      const base::Share share = base::share(in.rows(), band, of, 1);
      Sum* line = above[band].data();
      if (uses_nontemporal_stores(out)) {
        for (std::size_t r = share.begin; r < share.end; ++r) {
          sum_row(in.row<T>(r), in.columns(), channels, line + channels, line + channels);
          store_nontemporal(line, wide * sizeof(Sum), out.row<std::byte>(r + 1));
        }
        return finish_nontemporal_stores();
      }
      for (std::size_t r = share.begin; r < share.end; ++r) {
        Sum* to = out.row<Sum>(r + 1);
        std::fill_n(to, channels, Sum{0});
        sum_row(in.row<T>(r), in.columns(), channels, line + channels, to + channels);
        line = to;
      }
    });
  }

 private:
  static void add_columns(const Image& in, std::size_t begin, std::size_t end, std::vector<Sum>& sums) {
    const std::size_t channels = in.channels(), wide = in.columns() * channels;
    for (std::size_t r = begin; r < end; ++r) {
      const T* row = in.row<T>(r);
      for (std::size_t c = 0; c < wide; ++c) sums[channels + c] += static_cast<Sum>(row[c]);
    }
  }
};

}  // namespace

void integral_image(const Integral&, const Edge&, const Image& in, Image& out, std::size_t threads) {
  switch (in.depth()) {
    case Depth::u8:
      return sum_from_corner<std::uint8_t, std::uint32_t>(in, out, threads);
    case Depth::u16:
      return sum_from_corner<std::uint16_t, double>(in, out, threads);
    default:
      return sum_from_corner<float, double>(in, out, threads);
  }
}

std::unique_ptr<Native> native_integral(const Integral&, const Shape& in, const Edge&) {
  switch (in.depth) {
    case Depth::u8:
      return std::make_unique<NativeIntegral<std::uint8_t, std::uint32_t>>();
    case Depth::u16:
      return std::make_unique<NativeIntegral<std::uint16_t, double>>();
    default:
      return std::make_unique<NativeIntegral<float, double>>();
  }
}

}  // namespace ridge::image
