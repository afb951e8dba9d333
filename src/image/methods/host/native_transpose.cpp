// Transposition, and rotation by 90 degrees, of pixels of 1, 2, 3, 4 or 8 bytes by blocks.
#include <algorithm>
#include <cstring>

#include "image/methods/host/kernels/native_kernels.hpp"
#include "image/methods/host/native.hpp"
#include "image/methods/host/out_rows.hpp"
#include "image/methods/host/row_blocks.hpp"

namespace ridge::image {
namespace {

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

}  // namespace

std::unique_ptr<Native> native_transpose(const Shape& in, bool rotated) {
  const std::size_t bytes = in.pixel_bytes();
  if (bytes > 4 && bytes != 8) return {};
  return std::make_unique<NativeTranspose>(bytes, rotated);
}

}  // namespace ridge::image
