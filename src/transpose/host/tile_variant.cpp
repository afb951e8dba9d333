// Divides the tiles of all matrices among threads, and visits them in order.
#include "transpose/host/tile_variant.hpp"

#include <algorithm>

#include "base/threads.hpp"

namespace ridge::transpose {
namespace {

std::size_t tiles(std::size_t count, std::size_t tile) { return count / tile + (count % tile != 0); }

}  // namespace

TileVariant::TileVariant(const Layout& layout, const Tiling& tiling)
    : layout_(layout),
      tiling_(tiling),
      tiles_down_(tiles(layout.rows, tiling.rows)),
      tiles_across_(tiles(layout.columns, tiling.columns)),
      work_(layout.batch * (layout.in_place ? tiles_down_ * (tiles_down_ + 1) / 2 : tiles_down_ * tiles_across_)) {}

void TileVariant::run(const std::byte* in, std::byte* out) const {
  const std::size_t threads = std::min(tiling_.threads, work_);
  // Captures one pointer only: a larger closure would make std::function allocate.
  struct Call {
    const TileVariant* self;
    const std::byte* in;
    std::byte* out;
  } const call{this, in, out};
  base::parallel(threads, [&call](std::size_t thread, std::size_t of) {
    const base::Share share = base::share(call.self->work_, thread, of);
    if (call.self->layout_.in_place) {
      call.self->swap_tiles(call.out, share.begin, share.end);
    } else {
      call.self->transpose_tiles(call.in, call.out, share.begin, share.end);
    }
    call.self->thread_done();
  });
}

void TileVariant::transpose_tiles(const std::byte* in, std::byte* out, std::size_t begin, std::size_t end) const {
  const std::size_t per_matrix = tiles_down_ * tiles_across_;
  const bool along_rows = tiling_.order == TileOrder::input_rows;
  const Strides &from = layout_.input, &to = layout_.output;
  struct Corner {
    std::size_t batch, row, column;
  };
  const auto corner = [&](std::size_t work) -> Corner {
    const std::size_t tile = work % per_matrix;
    const std::size_t down = along_rows ? tile / tiles_across_ : tile % tiles_down_;
    const std::size_t across = along_rows ? tile % tiles_across_ : tile / tiles_down_;
    return {work / per_matrix, down * tiling_.rows, across * tiling_.columns};
  };
  const auto input = [&](const Corner& at) {
    return in + (at.batch * from.batch + at.row * from.row + at.column * from.column) * layout_.element_bytes;
  };
  for (std::size_t work = begin; work < end; ++work) {
    const Corner at = corner(work);
    const auto [batch, row, column] = at;
    transpose_tile({.in = input(at),
                    .out = out + (batch * to.batch + column * to.row + row * to.column) * layout_.element_bytes,
                    .rows = std::min(tiling_.rows, layout_.rows - row),
                    .columns = std::min(tiling_.columns, layout_.columns - column),
                    .input = from,
                    .output = to,
                    .next = work + 1 < end ? input(corner(work + 1)) : nullptr});
  }
}

void TileVariant::swap_tiles(std::byte* data, std::size_t begin, std::size_t end) const {
  const std::size_t per_matrix = tiles_down_ * (tiles_down_ + 1) / 2;
  const Strides& strides = layout_.input;
  std::size_t batch = begin / per_matrix, down = 0, across = begin % per_matrix;
  while (across >= tiles_down_ - down)
    across -= tiles_down_ - down++;  // row `down` holds the tiles from the diagonal on
  across += down;
  for (std::size_t work = begin; work < end; ++work) {
    const std::size_t row = down * tiling_.rows, column = across * tiling_.rows;
    std::byte* matrix = data + batch * strides.batch * layout_.element_bytes;
    swap(matrix + (row * strides.row + column * strides.column) * layout_.element_bytes,
         matrix + (column * strides.row + row * strides.column) * layout_.element_bytes,
         std::min(tiling_.rows, layout_.rows - row), std::min(tiling_.rows, layout_.columns - column), down == across);
    if (++across == tiles_down_) {
      if (++down == tiles_down_) {
        down = 0;
        ++batch;
      }
      across = down;
    }
  }
}

}  // namespace ridge::transpose
