// Variant "streaming": non-temporal stores, which avoid reading a cache line only to overwrite it. Refused if both
// levels fit the last-level cache, because it would evict what the next step reads.
#include <cstdint>

#include <fmt/format.h>

#include "base/text.hpp"
#include "machine/host/caches.hpp"
#include "stencil/host/row_variants/row_variant.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {

template <class T>
void list_host_streaming(const Device&, const Update<T>& update, const Layout& layout, std::vector<Entry<T>>& entries) {
  if (!std::is_floating_point_v<T>) return;
  const auto last = machine::host_caches().back();
  const double bytes = 2.0 * static_cast<double>(layout.cells() * layout.fields * sizeof(T));
  // Dynamic scheduling with many threads, so that a slow core does not delay the rest.
  constexpr std::size_t kManyThreads = 4;
  std::vector<RowLoops> loops;
  for (const std::size_t rows : {std::size_t{1}, std::size_t{2}}) {
    loops.push_back({.rows = rows, .threads = layout.threads, .fence = true});
    if (layout.threads > kManyThreads && layout.schedule == Schedule::automatic)
      loops.push_back({.rows = rows, .threads = layout.threads, .fence = true, .pieces = kPieces});
  }
  for (const KernelChoice<T>& choice : row_kernels(update, true)) {
    for (const RowLoops& loop : loops) {
      const std::size_t rows = loop.rows;
      Entry<T> entry = row_entry("streaming", update, layout, choice, loop, 2, 0.55);
      if (bytes < static_cast<double>(last.size)) {
        entry.candidate.refusal =
            fmt::format("needs levels larger than the last cache ({1}), both have {0}", base::human_bytes(bytes),
                        base::human_bytes(static_cast<double>(last.size)));
      } else if (layout.end[1] - layout.begin[1] < rows) {
        entry.candidate.refusal = fmt::format("needs at least {} rows that change (one block), got {}", rows,
                                              layout.end[1] - layout.begin[1]);
      }
      entries.push_back(std::move(entry));
    }
  }
}

extern const Listers kHostStreaming{list_host_streaming<float>, list_host_streaming<double>,
                                    list_host_streaming<std::int32_t>, list_host_streaming<std::uint8_t>};

}  // namespace ridge::stencil
