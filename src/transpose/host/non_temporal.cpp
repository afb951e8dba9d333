// The same turn, with stores that go past the caches: the output is not read before it is overwritten, which on most
// processors saves a third of the traffic. Streaming stores want whole lines, so a tile is either turned line by line
// straight to its place, or assembled in a small padded buffer and written from there in long runs.
#include "transpose/host/simd_tiles.hpp"

namespace ridge::transpose {

void list_host_non_temporal(const Device&, const Layout& layout, std::vector<Entry>& entries) {
  const std::size_t side = square_side(layout.element_bytes);
  for (const bool buffered : {false, true}) {
    if (layout.in_place && !buffered) continue;  // exchanging tiles goes through the buffer anyway
    for (const std::size_t threads : thread_counts(layout)) {
      const Tiling tiling{.rows = side, .columns = side, .threads = threads};
      entries.push_back(simd_entry("non_temporal", layout,
                                   {.tiling = tiling, .stores = Stores::streaming, .buffered = buffered},
                                   buffered ? 0.5 : 0.65));
    }
  }
}

}  // namespace ridge::transpose
