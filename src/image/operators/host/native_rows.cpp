// Gray, downscaling by two, nearest resize, integral and transposition in the image's own type, by rows or blocks.
#include <algorithm>
#include <cstring>

#include "base/threads.hpp"
#include "image/operators/host/native.hpp"
#include "image/operators/host/native_kernels.hpp"
#include "image/operators/host/out_rows.hpp"
#include "image/operators/host/row_blocks.hpp"
#include "image/operators/settings.hpp"

namespace ridge::image {
namespace {

template <class F>
void in_bands(std::size_t threads, std::size_t rows, std::size_t grain, const F& f) {
  base::parallel(std::min(threads, (rows + grain - 1) / grain), [&](std::size_t thread, std::size_t of) {
    const base::Share share = base::share(rows, thread, of, grain);
    if (share.begin < share.end) f(share.begin, share.end);
  });
}

// Dynamic scheduling: a block of rows takes a few tenths of a millisecond.
template <class T>
class NativeGray final : public Native {
 public:
  void run(const Image& in, Image& out, std::size_t threads) const override {
    in_row_blocks(threads, out.rows(), 32, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) gray_row(in.row<T>(r), in.channels(), in.columns(), out.row<T>(r));
    });
  }
};

template <class T>
class NativeDownscale final : public Native {
 public:
  void run(const Image& in, Image& out, std::size_t threads) const override {
    in_row_blocks(threads, out.rows(), 32, [&](std::size_t begin, std::size_t end) {
      OutRows<T> outs(out, 1);
      for (std::size_t r = begin; r < end; ++r) {
        downscale_row(in.row<T>(2 * r), in.row<T>(2 * r + 1), in.channels(), out.columns(), outs.row(r));
        outs.done(r);
      }
    });
  }
};

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

// Transposition and rotation by 90 degrees counterclockwise: blocks with rows of 16 bytes, in tiles that fit the cache.
// For large images a tile is transposed in a buffer and streamed to memory while the next tile is prefetched.
class NativeTranspose final : public Native {
 public:
  NativeTranspose(std::size_t bytes, bool rotated)
      : bytes_(bytes), side_(bytes == 3 ? 16 : 16 / bytes), rotated_(rotated) {}

  void run(const Image& in, Image& out, std::size_t threads) const override {
    if (uses_nontemporal_stores(out)) return run_nontemporal(in, out, threads);
    const std::size_t tile = bytes_ == 3 ? 128 : std::max<std::size_t>(side_, 64 / bytes_ * 2);
    const auto pitch = rotated_ ? -static_cast<std::ptrdiff_t>(out.pitch()) : static_cast<std::ptrdiff_t>(out.pitch());
    in_bands(threads, in.columns(), tile, [&](std::size_t begin, std::size_t end) {
      for (std::size_t top = 0; top < in.rows(); top += tile) {
        const std::size_t rows = std::min(tile, in.rows() - top);
        transpose_tile(in, top, rows, begin, end - begin, out.row<std::byte>(row_of(in, begin)) + top * bytes_, pitch);
      }
    });
  }

 private:
  static constexpr std::size_t kTileBytes = 256;  // per row of a tile, in input and output

  std::size_t row_of(const Image& in, std::size_t column) const {
    return rotated_ ? in.columns() - 1 - column : column;
  }

  void run_nontemporal(const Image& in, Image& out, std::size_t threads) const {
    // The extra 64 bytes map the rows to different cache sets.
    const std::size_t tile = kTileBytes / bytes_, pitch = kTileBytes + 64;
    in_bands(threads, in.columns(), tile, [&](std::size_t begin, std::size_t end) {
      base::AlignedArray<std::byte> buffer(tile * pitch);
      for (std::size_t top = 0; top < in.rows(); top += tile) {
        const std::size_t rows = std::min(tile, in.rows() - top);
        for (std::size_t left = begin; left < end; left += tile) {
          const std::size_t columns = std::min(tile, end - left);
          for (std::size_t r = 0; left + 2 * tile <= end && r < rows; ++r) {
            const auto* const next = in.row<std::byte>(top + r) + (left + tile) * bytes_;
            for (std::size_t i = 0; i < kTileBytes; i += 64) __builtin_prefetch(next + i);
          }
          transpose_tile(in, top, rows, left, columns, buffer.data(), static_cast<std::ptrdiff_t>(pitch));
          for (std::size_t c = 0; c < columns; ++c) {
            store_nontemporal(buffer.data() + c * pitch, rows * bytes_,
                              out.row<std::byte>(row_of(in, left + c)) + top * bytes_);
          }
        }
      }
      finish_nontemporal_stores();
    });
  }

  // Transposes a rectangle of the input to `to`, the position of its first column's row.
  void transpose_tile(const Image& in, std::size_t top, std::size_t rows, std::size_t left, std::size_t columns,
                      std::byte* to, std::ptrdiff_t pitch) const {
    const std::size_t down = rows / side_, across = columns / side_;
    transpose_blocks(in.row<std::byte>(top) + left * bytes_, in.pitch(), down, across, to, pitch, bytes_);
    for (std::size_t r = 0; r < rows; ++r) {
      const auto* const from = in.row<std::byte>(top + r) + left * bytes_;
      for (std::size_t c = r < down * side_ ? across * side_ : 0; c < columns; ++c)
        std::memcpy(to + static_cast<std::ptrdiff_t>(c) * pitch + r * bytes_, from + c * bytes_, bytes_);
    }
  }

  std::size_t bytes_, side_;
  bool rotated_;
};

// Nearest-neighbour resize: copies pixels of kBytes.
template <std::size_t kBytes>
class NativeNearest final : public Native {
 public:
  NativeNearest(const Resize& resize, const Shape& in) {
    const ResizeTaps taps = resize_taps(resize, in);
    for (const ResizeTap& tap : taps.down) rows_.push_back(static_cast<std::size_t>(tap.from));
    for (const ResizeTap& tap : taps.across)
      places_.push_back(static_cast<std::uint32_t>(tap.from) * static_cast<std::uint32_t>(kBytes));
  }
  void run(const Image& in, Image& out, std::size_t threads) const override {
    in_bands(threads, out.rows(), 4, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        auto* to = out.row<std::byte>(r);
        if (r > begin && rows_[r] == rows_[r - 1]) {
          std::memcpy(to, out.row<std::byte>(r - 1), out.shape().row_bytes());
          continue;
        }
        const auto* from = in.row<std::byte>(rows_[r]);
        for (const std::uint32_t place : places_) {
          std::memcpy(to, from + place, kBytes);
          to += kBytes;
        }
      }
    });
  }

 private:
  std::vector<std::size_t> rows_;
  std::vector<std::uint32_t> places_;
};

template <template <class> class Made>
std::unique_ptr<Native> of_depth(Depth depth) {
  switch (depth) {
    case Depth::u8:
      return std::make_unique<Made<std::uint8_t>>();
    case Depth::u16:
      return std::make_unique<Made<std::uint16_t>>();
    default:
      return std::make_unique<Made<float>>();
  }
}

}  // namespace

std::unique_ptr<Native> native_gray(const Operation& operation, const Shape& in, const Edge&) {
  if (!std::holds_alternative<Gray>(operation)) return {};
  return of_depth<NativeGray>(in.depth);
}

std::unique_ptr<Native> native_downscale(const Operation& operation, const Shape& in, const Edge&) {
  const auto* resize = std::get_if<Resize>(&operation);
  if (resize == nullptr) return {};
  const Shape out = output_shape(operation, in);
  const bool means = resize->interpolation == Interpolation::bilinear || resize->interpolation == Interpolation::area;
  if (!means || 2 * out.rows != in.rows || 2 * out.columns != in.columns) return {};
  const bool by_scale = resize->rows == 0 || resize->columns == 0;
  // OpenCV samples 1 / scale pixels apart.
  if (resize->like == Like::opencv && by_scale && resize->scale != 0.5) return {};
  return of_depth<NativeDownscale>(in.depth);
}

std::unique_ptr<Native> native_nearest(const Operation& operation, const Shape& in, const Edge&) {
  const auto* resize = std::get_if<Resize>(&operation);
  if (resize == nullptr || resize->interpolation != Interpolation::nearest) return {};
  switch (in.pixel_bytes()) {
    case 1:
      return std::make_unique<NativeNearest<1>>(*resize, in);
    case 2:
      return std::make_unique<NativeNearest<2>>(*resize, in);
    case 3:
      return std::make_unique<NativeNearest<3>>(*resize, in);
    case 4:
      return std::make_unique<NativeNearest<4>>(*resize, in);
    case 6:
      return std::make_unique<NativeNearest<6>>(*resize, in);
    case 8:
      return std::make_unique<NativeNearest<8>>(*resize, in);
    case 12:
      return std::make_unique<NativeNearest<12>>(*resize, in);
    default:
      return std::make_unique<NativeNearest<16>>(*resize, in);
  }
}

std::unique_ptr<Native> native_integral(const Operation& operation, const Shape& in, const Edge&) {
  if (!std::holds_alternative<Integral>(operation)) return {};
  switch (in.depth) {
    case Depth::u8:
      return std::make_unique<NativeIntegral<std::uint8_t, std::uint32_t>>();
    case Depth::u16:
      return std::make_unique<NativeIntegral<std::uint16_t, double>>();
    default:
      return std::make_unique<NativeIntegral<float, double>>();
  }
}

std::unique_ptr<Native> native_transpose(const Operation& operation, const Shape& in, const Edge&) {
  const std::size_t bytes = in.pixel_bytes();
  if (bytes > 4 && bytes != 8) return {};
  if (std::holds_alternative<Transpose>(operation)) return std::make_unique<NativeTranspose>(bytes, false);
  const auto* rotate = std::get_if<Rotate>(&operation);
  if (rotate == nullptr || quarter_turns(*rotate) != 1) return {};
  return std::make_unique<NativeTranspose>(bytes, true);
}

std::unique_ptr<Native> native(const Operation& operation, const Shape& in, const Edge& edge) {
  // The border constant must be representable in the image's type.
  const float most = in.depth == Depth::u8 ? 255.0f : 65535.0f;
  const bool whole = edge.constant >= 0 && edge.constant <= most &&
                     edge.constant == static_cast<float>(static_cast<int>(edge.constant));
  if (edge.border == Border::constant && in.depth != Depth::f32 && !whole) return {};
  for (const auto make : {native_median, native_box, native_separable, native_downscale, native_resize, native_pyramid,
                          native_nearest, native_transpose, native_integral, native_gray}) {
    if (auto made = make(operation, in, edge)) return made;
  }
  return {};
}

}  // namespace ridge::image
