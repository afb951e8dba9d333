// Packs frames as words and downscales them by two.
#include "image/flow/host/workspace.hpp"

#include <algorithm>
#include <cstring>

namespace ridge::image::flow {

WordPlane::WordPlane(Size size_, int border_)
    : size(size_),
      border(border_),
      cells(static_cast<std::size_t>(size_.columns + 2 * border_) *
            static_cast<std::size_t>(size_.rows + 2 * border_)) {
  std::memset(cells.data(), 0, cells.size() * sizeof(std::uint32_t));
}

void pack_row(const Image& frame, int r, WordPlane& to) {
  const auto* pixel = frame.row<std::uint8_t>(static_cast<std::size_t>(r));
  std::uint32_t* out = to.row(r);
  const std::size_t channels = frame.channels();
  for (int c = 0; c < to.size.columns; ++c, pixel += channels) {
    const std::uint32_t a = pixel[0], b = channels < 3 ? a : pixel[1], d = channels < 3 ? a : pixel[2];
    out[c] = a | b << 8 | d << 16;
  }
  reflect_sides(to, r);
}

void reflect_sides(WordPlane& plane, int r) {
  std::uint32_t* row = plane.row(r);
  const std::ptrdiff_t n = plane.size.columns;
  for (std::ptrdiff_t k = 1; k <= plane.border; ++k) {
    row[-k] = row[border_index(Border::reflect_101, -k, n)];
    row[n - 1 + k] = row[border_index(Border::reflect_101, n - 1 + k, n)];
  }
}

void reflect_rows(WordPlane& plane) {
  const int n = plane.size.rows;
  for (int k = 1; k <= plane.border; ++k) {
    for (const int r : {-k, n - 1 + k}) {
      const auto from = static_cast<int>(border_index(Border::reflect_101, r, n));
      std::memcpy(plane.row(r) - plane.border, plane.row(from) - plane.border, plane.pitch() * sizeof(std::uint32_t));
    }
  }
}

void halve_row(const WordPlane& in, const std::vector<Tap>& down, const std::vector<Tap>& across, int r, WordPlane& out,
               std::int32_t* lines) {
  // Vertically first, in integers that vectors hold; then horizontally, four rows of a pixel at a time. No sum exceeds
  // 2^31.
  const Tap& y = down[static_cast<std::size_t>(r)];
  const std::uint32_t* rows[4];
  for (int i = 0; i < 4; ++i) rows[i] = in.row(std::clamp(y.from + i, 0, in.size.rows - 1));
  for (int c = 0; c < in.size.columns; ++c) {
    for (int k = 0; k < 3; ++k) {
      std::int32_t sum = 0;
      for (int i = 0; i < 4; ++i) sum += y.weight[i] * static_cast<std::int32_t>(rows[i][c] >> (8 * k) & 255u);
      lines[k * in.size.columns + c] = sum;
    }
  }
  std::uint32_t* to = out.row(r);
  for (int c = 0; c < out.size.columns; ++c) {
    const Tap& x = across[static_cast<std::size_t>(c)];
    std::uint32_t word = 0;
    for (int k = 0; k < 3; ++k) {
      std::int32_t sum = 0;
      for (int j = 0; j < 4; ++j) {
        sum += x.weight[j] * lines[k * in.size.columns + std::clamp(x.from + j, 0, in.size.columns - 1)];
      }
      sum = (sum + (1 << 21) - 1 + (sum >> 22 & 1)) >> 22;
      word |= static_cast<std::uint32_t>(std::clamp(sum, 0, 255)) << (8 * k);
    }
    to[c] = word;
  }
  reflect_sides(out, r);
}

}  // namespace ridge::image::flow
