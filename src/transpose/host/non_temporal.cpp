// The same turn, with stores that go past the caches: the output is not read before it is overwritten, which on most
// processors saves a third of the traffic. Streaming stores want whole lines, so a tile is either turned line by line
// straight to its place, or assembled in a small padded buffer and written from there in long runs.
#include <algorithm>

#include "transpose/host/simd_tiles.hpp"

namespace ridge::transpose {

void list_host_non_temporal(const Device&, const Layout& layout, std::vector<Entry>& entries) {
  const std::size_t side = square_side(layout.element_bytes);
  // A page of each input row: prefetchers run to a page's end, so with less of it they fetch what nobody reads. Turned
  // in the second-level cache, and written in runs of a kibibyte or a half.
  const std::size_t page = 4096 / layout.element_bytes;
  struct Shape {
    std::size_t rows, columns;
    bool buffered;
    double efficiency;
  };
  for (const Shape& shape :
       {Shape{std::min<std::size_t>(page / 4, 128), page, true, 0.7},
        Shape{std::min<std::size_t>(page / 8, 64), page, true, 0.69}, Shape{4 * side, side, false, 0.66},
        Shape{side, side, false, 0.65}, Shape{side, side, true, 0.5}}) {
    if (layout.in_place && !shape.buffered) continue;  // exchanging tiles goes through the buffer anyway
    if (layout.in_place && shape.rows != shape.columns) continue;
    for (const std::size_t threads : thread_counts(layout)) {
      const Tiling tiling{.rows = shape.rows, .columns = shape.columns, .threads = threads};
      entries.push_back(simd_entry("non_temporal", layout,
                                   {.tiling = tiling, .stores = Stores::streaming, .buffered = shape.buffered},
                                   shape.efficiency));
    }
  }
}

}  // namespace ridge::transpose
