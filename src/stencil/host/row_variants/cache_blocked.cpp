// Variant "cache_blocked": blocks so narrow that the rows (2D) or planes (3D) a stencil reads are still in the cache
// when the next row or plane reads them again. Rule of the stenCINES paper: cells per block = cache / (2 * rows *
// threads * bytes), with rows = 2 r + 1 rows or planes and the threads that share the cache. Refused if a block would
// hold a whole row.
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "machine/host/caches.hpp"
#include "stencil/host/row_variants/row_variant.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {
namespace {

// Largest number of cells per block that stays in `cache`.
std::size_t block_cells(const Layout& layout, const machine::Cache& cache) {
  const std::size_t axis = layout.dimensions == 3 ? 0 : 1;
  const std::size_t rows = 2 * static_cast<std::size_t>(layout.radius[axis]) + 1;
  const std::size_t sharing = std::min(cache.shared_by, layout.threads);
  return cache.size / (2 * rows * sharing * layout.element_bytes * (layout.fields + layout.coefficients));
}

}  // namespace

template <class T>
void list_host_cache_blocked(const Device&, const Update<T>& update, const Layout& layout,
                             std::vector<Entry<T>>& entries) {
  const KernelChoice<T> choice = row_kernels(update).back();
  for (const machine::Cache& cache : machine::host_caches()) {
    RowLoops loops{.rows = layout.end[1] - layout.begin[1] >= 2 ? std::size_t{2} : std::size_t{1},
                   .threads = layout.threads};
    const std::size_t cells = block_cells(layout, cache);
    const std::size_t row = layout.shape[2];
    if (layout.dimensions == 3) {
      loops.height = std::max<std::size_t>(cells / row, 2);
    } else {
      loops.width = std::max<std::size_t>(cells / 64 * 64, 64);
    }
    Entry<T> entry = row_entry("cache_blocked", update, layout, choice, loops, 2, 0.45);
    entry.candidate.parameters.insert(entry.candidate.parameters.begin() + 1,
                                      {"cache", fmt::format("L{}", cache.level)});
    if (layout.dimensions == 1) {
      entry.candidate.refusal = "needs 2 or 3 dimensions, got 1: a single row has no reuse between rows";
    } else if (layout.dimensions == 3 ? loops.height >= layout.shape[1] : loops.width >= row) {
      entry.candidate.refusal =
          fmt::format("blocks are not needed: L{} holds {} cells, a whole {} has {}", cache.level, cells,
                      layout.dimensions == 3 ? "plane" : "row", layout.dimensions == 3 ? row * layout.shape[1] : row);
    }
    entries.push_back(std::move(entry));
  }
}

extern const Listers kHostCacheBlocked{list_host_cache_blocked<float>, list_host_cache_blocked<double>,
                                       list_host_cache_blocked<std::int32_t>, list_host_cache_blocked<std::uint8_t>};

}  // namespace ridge::stencil
