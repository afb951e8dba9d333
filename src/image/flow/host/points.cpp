// Selects the pixels to search and fills the others by interpolation, on the host.
#include "image/flow/host/workspace.hpp"

#include <algorithm>
#include <cstring>

namespace ridge::image::flow {
namespace {

std::size_t place(Size size, int r, int c) {
  return static_cast<std::size_t>(r) * static_cast<std::size_t>(size.columns) + static_cast<std::size_t>(c);
}

Field field_of(const LevelFlow& flow, Size size) {
  Field field(size);
  for (std::size_t i = 0; i < field.cells.size(); ++i) field.cells[i] = {flow.u[i], flow.v[i]};
  return field;
}
Mask mask_of(const base::AlignedArray<std::uint8_t>& values, Size size) {
  Mask mask(size);
  std::copy_n(values.data(), size.cells(), mask.cells.begin());
  return mask;
}

// Fills the block whose first pixel is (r, c) from its corners, with the reference's rounding.
void fill_block(LevelFlow& flow, Size size, int r, int c, int side) {
  const int bottom = std::min(r + side, size.rows) - 1, right = std::min(c + side, size.columns) - 1;
  for (float* plane : {flow.u.data(), flow.v.data()}) {
    const float a = plane[place(size, r, c)], b = plane[place(size, r, right)], d = plane[place(size, bottom, c)],
                e = plane[place(size, bottom, right)];
    for (int y = r; y <= bottom; ++y) {
      const float q = bottom == r ? 0.0f : static_cast<float>(y - r) / static_cast<float>(bottom - r), p = 1 - q;
      for (int x = c; x <= right; ++x) {
        if ((y == r || y == bottom) && (x == c || x == right)) continue;
        const float s = right == c ? 0.0f : static_cast<float>(x - c) / static_cast<float>(right - c), t = 1 - s;
        plane[place(size, y, x)] = a * p * t + b * p * s + d * q * t + e * s * q;
      }
    }
  }
}

}  // namespace

void mark_regular(LevelFlow& flow, Size size, int radius, float threshold, int begin, int end) {
  constexpr int kChunk = 256;
  for (int r = begin; r < end; ++r) {
    const float *u = flow.u.data() + place(size, r, 0), *v = flow.v.data() + place(size, r, 0);
    for (int left = 0; left < size.columns; left += kChunk) {
      const int right = std::min(left + kChunk, size.columns);
      float most[kChunk] = {};
      for (int y = std::max(0, r - radius); y <= std::min(size.rows - 1, r + radius); ++y) {
        const float *other_u = flow.u.data() + place(size, y, 0), *other_v = flow.v.data() + place(size, y, 0);
        for (int dx = -radius; dx <= radius; ++dx) {
          const int last = std::min(right, size.columns - dx);
          for (int c = std::max(left, -dx); c < last; ++c) {
            const float du = u[c] - other_u[c + dx], dv = v[c] - other_v[c + dx], d = du * du + dv * dv;
            most[c - left] = most[c - left] < d ? d : most[c - left];
          }
        }
      }
      for (int c = left; c < right; ++c) flow.regular[place(size, r, c)] = most[c - left] < threshold ? 1 : 0;
    }
  }
}

void mark_seen(Level& level, float threshold, int begin, int end) {
  const LevelFlow &there = level.flows[0], &back = level.flows[1];
  for (std::size_t i = place(level.size, begin, 0); i < place(level.size, end, 0); ++i) {
    const float du = there.u[i] + back.u[i], dv = there.v[i] + back.v[i];
    level.seen[i] = du * du + dv * dv > threshold ? 0 : 1;
  }
}

void select_aligned_rows(const LevelFlow& coarse, Size coarse_size, LevelFlow& fine, Size size, int begin, int end) {
  for (int r = begin; r < end; ++r) {
    for (int c = 0; c < coarse_size.columns; ++c) {
      const int own = coarse.level[place(coarse_size, r, c)], side = 1 << own;
      const int top = r & ~(side - 1), left = c & ~(side - 1);
      bool all = true;
      for (int y = top; y < std::min(top + side, coarse_size.rows) && all; ++y) {
        for (int x = left; x < std::min(left + side, coarse_size.columns); ++x) {
          const std::size_t k = place(coarse_size, y, x);
          all = all && coarse.regular[k] != 0 && coarse.level[k] == own;
        }
      }
      const int first = 2 * top, last = std::min(2 * (top + side), size.rows) - 1;
      const int from = 2 * left, to = std::min(2 * (left + side), size.columns) - 1;
      all = all && first != last && from != to;
      for (int y = 2 * r; y < std::min(2 * r + 2, size.rows); ++y) {
        for (int x = 2 * c; x < std::min(2 * c + 2, size.columns); ++x) {
          const bool corner = (y == first || y == last) && (x == from || x == to);
          fine.level[place(size, y, x)] = static_cast<std::uint8_t>(all ? own + 1 : 0);
          fine.mask[place(size, y, x)] = !all || corner ? 1 : 0;
        }
      }
    }
  }
}

void select_scan_order(const LevelFlow& coarse, Size coarse_size, LevelFlow& fine, Size size) {
  const Points points =
      select(mask_of(coarse.regular, coarse_size), mask_of(coarse.level, coarse_size), size, Selection::scan_order);
  std::copy(points.mask.cells.begin(), points.mask.cells.end(), fine.mask.data());
  std::copy(points.level.cells.begin(), points.level.cells.end(), fine.level.data());
}

void fill_aligned_rows(LevelFlow& flow, Size size, int begin, int end) {
  for (int r = begin; r < end; ++r) {
    for (int c = 0; c < size.columns; ++c) {
      const int level = flow.level[place(size, r, c)];
      if (level < 2) continue;
      const int side = 1 << level;
      if ((r & (side - 1)) == 0 && (c & (side - 1)) == 0) fill_block(flow, size, r, c, side);
    }
  }
}

void fill_scan_order(LevelFlow& flow, Size size) {
  Field field = field_of(flow, size);
  fill_blocks(field, mask_of(flow.level, size));
  for (std::size_t i = 0; i < field.cells.size(); ++i) {
    flow.u[i] = field.cells[i].u;
    flow.v[i] = field.cells[i].v;
  }
}

}  // namespace ridge::image::flow
