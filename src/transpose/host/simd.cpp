// Tiles transposed in vector registers and stored directly, one whole cache line of an output row at a time.
#include "transpose/host/simd_tiles.hpp"

namespace ridge::transpose {

void list_host_simd(const Device&, const Layout& layout, std::vector<Entry>& entries) {
  for (const DirectTile& tile : direct_tiles(layout)) {
    for (const std::size_t threads : thread_counts(layout)) {
      const Tiling tiling{.rows = tile.rows, .columns = tile.columns, .threads = threads};
      entries.push_back(simd_entry("simd", layout, {.tiling = tiling}, tile.efficiency - 0.05));
    }
  }
}

}  // namespace ridge::transpose
