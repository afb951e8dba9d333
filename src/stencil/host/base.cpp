// "base": one row at a time, the loop everyone writes first, vectorised.
#include <cstdint>

#include "stencil/host/row_variant.hpp"
#include "stencil/registry.hpp"

namespace ridge::stencil {

template <class T>
void list_host_base(const Device&, const Update<T>& update, const Layout& layout, std::vector<Entry<T>>& entries) {
  for (const KernelChoice<T>& choice : row_kernels(update)) {
    for (const std::size_t threads : thread_counts(layout))
      entries.push_back(row_entry("base", update, layout, choice, {.threads = threads}, 2, 0.4));
  }
}

template void list_host_base(const Device&, const Update<float>&, const Layout&, std::vector<Entry<float>>&);
template void list_host_base(const Device&, const Update<double>&, const Layout&, std::vector<Entry<double>>&);
template void list_host_base(const Device&, const Update<std::int32_t>&, const Layout&,
                             std::vector<Entry<std::int32_t>>&);
template void list_host_base(const Device&, const Update<std::uint8_t>&, const Layout&,
                             std::vector<Entry<std::uint8_t>>&);

}  // namespace ridge::stencil
