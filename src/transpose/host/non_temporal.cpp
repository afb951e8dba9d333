// The same turn, with stores that go past the caches: the output is not read before it is overwritten, which on most
// processors saves a third of the traffic. Streaming stores want whole lines, so a tile is either turned line by line
// straight to its place, or assembled in a small padded buffer and written from there in long runs.
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
  if (!layout.in_place) {  // exchanging tiles goes through the buffer anyway, and they must be squares
    // A page of each input row: prefetchers run to a page's end, so with less of it they fetch what nobody reads.
    // Turned in the second-level cache, and written in runs of two kibibytes or less. On a 16-core Xeon 1.5 times the
    // next best; on a Neoverse-V1, whose streaming stores are a hint, half of it.
    const std::size_t page = 4096 / layout.element_bytes;
    for (const std::size_t rows : {256, 128, 64}) {
      if (rows <= page / 2) list(rows, page, true, kRealStreams ? 0.7 : 0.3);
    }
    // The next tile needs its place in that cache too.
    for (const std::size_t rows : {128, 64}) {
      if (rows <= page / 2) list(rows, page, true, kRealStreams ? 0.69 : 0.29, true);
    }
    for (const DirectTile& tile : direct_tiles(layout)) list(tile.rows, tile.columns, false, tile.efficiency);
  }
  const std::size_t side = square_side(layout.element_bytes);
  list(side, side, true, 0.5);
}

}  // namespace ridge::transpose
