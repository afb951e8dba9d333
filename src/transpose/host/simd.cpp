// Tiles turned in vector registers and written where they belong, a whole line of an output row at a time.
#include "transpose/host/simd_tiles.hpp"

namespace ridge::transpose {

void list_host_simd(const Device&, const Layout& layout, std::vector<Entry>& entries) {
  // The narrow tile touches the fewest pages; the tall one writes longer runs.
  const std::size_t side = square_side(layout.element_bytes);
  for (const std::size_t rows : {side, 4 * side}) {
    if (layout.in_place && rows != side) continue;  // tiles are exchanged with their mirror images: squares
    for (const std::size_t threads : thread_counts(layout)) {
      const Tiling tiling{.rows = rows, .columns = side, .threads = threads};
      entries.push_back(simd_entry("simd", layout, {.tiling = tiling}, rows == side ? 0.55 : 0.6));
    }
  }
}

}  // namespace ridge::transpose
