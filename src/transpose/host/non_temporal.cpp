// Transposes with streaming stores, which bypass the caches: the output is not read before it is overwritten, which on
// most processors saves a third of the traffic. Streaming stores need whole cache lines. A tile is therefore either
// transposed line by line into the output, or assembled in a small padded buffer and written from there in long runs.
#include <algorithm>

#include "transpose/host/simd_tiles.hpp"

namespace ridge::transpose {
namespace {

#if defined(__x86_64__)
constexpr bool kRealStreams = true;
#else
constexpr bool kRealStreams = false;
#endif

}  // namespace

void list_host_non_temporal(const Device&, const Layout& layout, std::vector<Entry>& entries) {
  const auto list = [&](std::size_t rows, std::size_t columns, bool buffered, double efficiency, bool ahead = false) {
    for (const std::size_t threads : thread_counts(layout)) {
      const Tiling tiling{.rows = rows, .columns = columns, .threads = threads};
      entries.push_back(simd_entry(
          "non_temporal", layout, {.tiling = tiling, .stores = Stores::streaming, .buffered = buffered, .ahead = ahead},
          efficiency));
    }
  };
  if (!layout.in_place) {  // in-place exchanges use the buffer in any case and need square tiles
    // One page (4 KiB) of each input row: prefetchers run to the end of a page, so with less of it they fetch unused
    // data. The tile is transposed in the L2 cache and written in runs of 2 KiB or less. This is 1.5 times as fast as
    // the next best variant on a 16-core Xeon, and half as fast on a Neoverse-V1, which treats streaming stores as a
    // hint.
    const std::size_t page = 4096 / layout.element_bytes;
    for (const std::size_t rows : {256, 128, 64}) {
      if (rows <= page / 2) list(rows, page, true, kRealStreams ? 0.7 : 0.3);
    }
    // The prefetched next tile needs space in the L2 cache too.
    for (const std::size_t rows : {128, 64}) {
      if (rows <= page / 2) list(rows, page, true, kRealStreams ? 0.69 : 0.29, true);
    }
    for (const DirectTile& tile : direct_tiles(layout)) list(tile.rows, tile.columns, false, tile.efficiency);
  }
  const std::size_t side = square_side(layout.element_bytes);
  list(side, side, true, 0.5);
}

}  // namespace ridge::transpose
