// Variant "base": one row at a time, vectorized. Where rows are short, all rows of a plane are computed as one, because
// the overhead per row exceeds the cost of computing the padding between rows. Weighted sums:
// stencil/host/kernels/linear_rows.hpp.
#include <cstdint>
#include <string_view>

#include "stencil/host/row_variants/row_variant.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {

template <class T>
void list_host_base(const Device&, const Update<T>& update, const Layout& layout, std::vector<Entry<T>>& entries) {
  constexpr std::size_t kShort = 2048;
  for (const KernelChoice<T>& choice : row_kernels(update)) {
    const bool sums = choice.name == std::string_view("simd") && layout.fields == 1 && layout.dimensions > 1;
    for (const std::size_t threads : thread_counts(layout)) {
      entries.push_back(row_entry("base", update, layout, choice, {.threads = threads}, 2, 0.4));
      if (sums && layout.shape[2] <= kShort && layout.rows() >= 2 * threads)
        entries.push_back(row_entry("base", update, layout, choice, {.threads = threads, .flat = true}, 2, 0.45));
    }
  }
}

extern const Listers kHostBase{list_host_base<float>, list_host_base<double>, list_host_base<std::int32_t>,
                               list_host_base<std::uint8_t>};

}  // namespace ridge::stencil
