// Variance of a tile by five methods: plain loops along the columns, vectorized by the compiler for each target.
#include "image/variance/host/tile_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/variance/host/tile_kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::image {
namespace HWY_NAMESPACE {

constexpr int kChunk = 64;  // columns whose sums stay in registers or in the L1 cache

template <class F>
void each_chunk(const VarianceTile& tile, const F& f) {
  for (int r = 0; r < tile.rows; ++r) {
    for (int left = 0; left < tile.columns; left += kChunk) {
      const int n = tile.columns - left < kChunk ? tile.columns - left : kChunk;
      f(tile.in + static_cast<std::size_t>(r) * tile.pitch + left, n,
        tile.out + static_cast<std::size_t>(r) * tile.out_pitch + left);
    }
  }
}

void two_pass(const VarianceTile& tile) {
  const float count = static_cast<float>(tile.window_rows) * static_cast<float>(tile.window_columns);
  each_chunk(tile, [&](const float* in, int n, float* out) {
    float mean[kChunk] = {}, squares[kChunk] = {};
    for (int i = 0; i < tile.window_rows; ++i) {
      for (int j = 0; j < tile.window_columns; ++j) {
        const float* x = in + static_cast<std::size_t>(i) * tile.pitch + j;
        for (int c = 0; c < n; ++c) mean[c] += x[c];
      }
    }
    for (int c = 0; c < n; ++c) mean[c] /= count;
    for (int i = 0; i < tile.window_rows; ++i) {
      for (int j = 0; j < tile.window_columns; ++j) {
        const float* x = in + static_cast<std::size_t>(i) * tile.pitch + j;
        for (int c = 0; c < n; ++c) squares[c] += (x[c] - mean[c]) * (x[c] - mean[c]);
      }
    }
    for (int c = 0; c < n; ++c) out[c] = squares[c] / count;
  });
}

void online(const VarianceTile& tile) {
  const float count = static_cast<float>(tile.window_rows) * static_cast<float>(tile.window_columns);
  each_chunk(tile, [&](const float* in, int n, float* out) {
    float mean[kChunk] = {}, squares[kChunk] = {};
    float seen = 0;
    for (int i = 0; i < tile.window_rows; ++i) {
      for (int j = 0; j < tile.window_columns; ++j) {
        const float* x = in + static_cast<std::size_t>(i) * tile.pitch + j;
        const float share = 1 / ++seen;
        for (int c = 0; c < n; ++c) {
          const float d = x[c] - mean[c];
          mean[c] += d * share;
          squares[c] += d * (x[c] - mean[c]);
        }
      }
    }
    for (int c = 0; c < n; ++c) out[c] = squares[c] / count;
  });
}

// Sums down the columns once for all adjacent windows, then along the rows.
void koenig(const VarianceTile& tile) {
  const float count = static_cast<float>(tile.window_rows) * static_cast<float>(tile.window_columns);
  const int wide = tile.columns + tile.window_columns - 1;
  float *sums = tile.scratch, *squares = tile.scratch + wide;
  for (int r = 0; r < tile.rows; ++r) {
    for (int c = 0; c < wide; ++c) sums[c] = squares[c] = 0;
    for (int i = 0; i < tile.window_rows; ++i) {
      const float* x = tile.in + static_cast<std::size_t>(r + i) * tile.pitch;
      for (int c = 0; c < wide; ++c) {
        sums[c] += x[c];
        squares[c] += x[c] * x[c];
      }
    }
    for (int left = 0; left < tile.columns; left += kChunk) {
      const int n = tile.columns - left < kChunk ? tile.columns - left : kChunk;
      float sum[kChunk] = {}, square[kChunk] = {};
      for (int j = 0; j < tile.window_columns; ++j) {
        const float *s = sums + left + j, *q = squares + left + j;
        for (int c = 0; c < n; ++c) {
          sum[c] += s[c];
          square[c] += q[c];
        }
      }
      float* out = tile.out + static_cast<std::size_t>(r) * tile.out_pitch + left;
      for (int c = 0; c < n; ++c) out[c] = square[c] / count - sum[c] / count * (sum[c] / count);
    }
  }
}

// One row of sums and squares about the mean, M2.
struct Parts {
  float *sum, *square;
};

// Replaces a by join(i, sum, square) for every column. Parts overlap, and some are read before they are written:
// results go to small arrays first, which the compiler knows not to alias.
template <class F>
void join_into(const Parts& a, int n, const F& join) {
  for (int left = 0; left < n; left += kChunk) {
    const int count = n - left < kChunk ? n - left : kChunk;
    float sum[kChunk], square[kChunk];
    for (int c = 0; c < count; ++c) join(left + c, sum[c], square[c]);
    for (int c = 0; c < count; ++c) a.sum[left + c] = sum[c];
    for (int c = 0; c < count; ++c) a.square[left + c] = square[c];
  }
}

// b joins a, both of `cells` values: M = Ma + Mb + (Sa - Sb)^2 / 2 cells.
void join_two(const Parts& a, const Parts& b, float cells, int n) {
  const float share = 0.5f / cells;
  join_into(a, n, [=](int c, float& sum, float& square) {
    const float d = a.sum[c] - b.sum[c];
    square = a.square[c] + b.square[c] + share * (d * d);
    sum = a.sum[c] + b.sum[c];
  });
}
// The sum of the squares of the three differences is 2 (x^2 + y (y - x)), x = a - b, y = d - b.
void join_three(const Parts& a, const Parts& b, const Parts& d, float cells, int n) {
  const float share = 2.0f / (3.0f * cells);
  join_into(a, n, [=](int c, float& sum, float& square) {
    const float x = a.sum[c] - b.sum[c], y = d.sum[c] - b.sum[c];
    square = a.square[c] + b.square[c] + d.square[c] + share * (x * x + y * (y - x));
    sum = a.sum[c] + b.sum[c] + d.sum[c];
  });
}
// Parts of unequal sizes, m and n times `unit` values: M = Ma + Mb + (n Sa - m Sb)^2 / (m n (m + n) unit).
void join_unequal(const Parts& a, const Parts& b, float m, float n, float unit, int columns) {
  const float share = 1.0f / (m * n * (m + n) * unit);
  join_into(a, columns, [=](int c, float& sum, float& square) {
    const float d = n * a.sum[c] - m * b.sum[c];
    square = a.square[c] + b.square[c] + share * (d * d);
    sum = a.sum[c] + b.sum[c];
  });
}

// Joins along one axis, in place over the whole tile: `step` floats lead to the next cell of the axis.
template <int kBase>
void join_axis(const std::vector<Join>& joins, const Parts& blocks, const Parts& window, std::size_t pitch, int rows,
               int columns, bool down, float unit) {
  int tall = rows, wide = columns;  // extent of the blocks that are still inside
  const auto at = [&](const Parts& parts, int r, int ahead) {
    const std::size_t k =
        static_cast<std::size_t>(down ? r + ahead : r) * pitch + static_cast<std::size_t>(down ? 0 : ahead);
    return Parts{parts.sum + k, parts.square + k};
  };
  for (const Join& join : joins) {
    const int cells = join.cells;
    if (join.kind == Join::Kind::grow) {
      (down ? tall : wide) -= (kBase - 1) * cells;
      const float size = unit * static_cast<float>(cells);
      for (int r = 0; r < tall; ++r) {
        if constexpr (kBase == 2) {
          join_two(at(blocks, r, 0), at(blocks, r, cells), size, wide);
        } else {
          join_three(at(blocks, r, 0), at(blocks, r, cells), at(blocks, r, 2 * cells), size, wide);
        }
      }
      continue;
    }
    const int inner_tall = down ? tall - join.before : tall, inner_wide = down ? wide : wide - join.before;
    for (int r = 0; r < inner_tall; ++r) {
      const Parts to = at(window, r, 0), from = at(blocks, r, join.before);
      if (join.kind == Join::Kind::take) {
        for (int c = 0; c < inner_wide; ++c) {
          to.sum[c] = from.sum[c];
          to.square[c] = from.square[c];
        }
      } else {
        join_unequal(to, from, static_cast<float>(join.before), static_cast<float>(cells), unit, inner_wide);
      }
    }
  }
}

template <int kBase>
void tree(const VarianceTile& tile) {
  const int tall = tile.rows + tile.window_rows - 1, wide = tile.columns + tile.window_columns - 1;
  const std::size_t cells = static_cast<std::size_t>(tall) * static_cast<std::size_t>(wide);
  const auto pitch = static_cast<std::size_t>(wide);
  const Parts blocks{tile.scratch, tile.scratch + cells}, window{tile.scratch + 2 * cells, tile.scratch + 3 * cells};
  for (int r = 0; r < tall; ++r) {
    for (int c = 0; c < wide; ++c) {
      blocks.sum[static_cast<std::size_t>(r) * pitch + static_cast<std::size_t>(c)] =
          tile.in[static_cast<std::size_t>(r) * tile.pitch + static_cast<std::size_t>(c)];
      blocks.square[static_cast<std::size_t>(r) * pitch + static_cast<std::size_t>(c)] = 0;
    }
  }
  join_axis<kBase>(*tile.down, blocks, window, pitch, tall, wide, true, 1.0f);
  // The column windows are the cells of the row windows.
  join_axis<kBase>(*tile.across, window, blocks, pitch, tile.rows, wide, false, static_cast<float>(tile.window_rows));
  const float share = 1.0f / (static_cast<float>(tile.window_rows) * static_cast<float>(tile.window_columns));
  for (int r = 0; r < tile.rows; ++r) {
    const float* from = blocks.square + static_cast<std::size_t>(r) * pitch;
    float* out = tile.out + static_cast<std::size_t>(r) * tile.out_pitch;
    for (int c = 0; c < tile.columns; ++c) out[c] = from[c] * share;
  }
}

TileKernel kernel_of(VarianceMethod method) {
  switch (method) {
    case VarianceMethod::two_pass:
      return two_pass;
    case VarianceMethod::koenig:
      return koenig;
    case VarianceMethod::online:
      return online;
    case VarianceMethod::pairwise:
      return tree<2>;
    default:
      return tree<3>;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {
HWY_EXPORT(kernel_of);
TileKernel tile_kernel(VarianceMethod method) { return HWY_DYNAMIC_DISPATCH(kernel_of)(method); }
}  // namespace ridge::image
#endif
