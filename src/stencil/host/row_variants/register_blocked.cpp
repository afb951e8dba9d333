// Variant "register_blocked": several adjacent rows at once, so that common inputs are loaded once (stenCINES, section
// on register blocking: no gain there with a good vectorizing compiler; docs/stencil.md has current figures).
#include <cstdint>

#include <fmt/format.h>

#include "stencil/host/row_variants/row_variant.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {

template <class T>
void list_host_register_blocked(const Device&, const Update<T>& update, const Layout& layout,
                                std::vector<Entry<T>>& entries) {
  for (const KernelChoice<T>& choice : row_kernels(update)) {
    std::vector<std::size_t> blocks{2, 4};
    if (update.rows_at_once > 4) blocks.push_back(update.rows_at_once);
    for (const std::size_t rows : blocks) {
      for (const std::size_t threads : thread_counts(layout)) {
        Entry<T> entry =
            row_entry("register_blocked", update, layout, choice, {.rows = rows, .threads = threads}, 2, 0.5);
        if (layout.end[1] - layout.begin[1] < rows)
          entry.candidate.refusal = fmt::format("needs at least {} rows that change (one block), got {}", rows,
                                                layout.end[1] - layout.begin[1]);
        entries.push_back(std::move(entry));
      }
    }
  }
}

extern const Listers kHostRegisterBlocked{list_host_register_blocked<float>, list_host_register_blocked<double>,
                                          list_host_register_blocked<std::int32_t>,
                                          list_host_register_blocked<std::uint8_t>};

}  // namespace ridge::stencil
