// The plain variants: threads over rows, a step a fork. "base" computes a row at a time, "register_blocked" a few
// neighbouring rows at once, so that what they read in common is loaded once.
#include <algorithm>
#include <cstdint>

#include "base/threads.hpp"
#include "stencil/host/host_variant.hpp"
#include "stencil/registry.hpp"

namespace ridge::stencil {
namespace {

template <class T>
class RowVariant final : public HostVariant<T> {
 public:
  RowVariant(const Layout& layout, RowKernel<T> kernel, std::size_t rows, std::size_t threads)
      : HostVariant<T>(layout), kernel_(std::move(kernel)), rows_(rows), threads_(threads) {}

  void steps(Levels<T>& levels, std::size_t count) const override {
    for (std::size_t step = 0; step < count; ++step) {
      base::parallel(threads_,
                     [&](std::size_t thread, std::size_t threads) { rows_of_thread(levels, thread, threads); });
      levels.swap();
    }
  }

 private:
  void rows_of_thread(Levels<T>& levels, std::size_t thread, std::size_t threads) const {
    const Layout& layout = this->layout();
    const base::Share share = rows_of(layout, thread, threads);
    RowTable<T> table(layout, rows_);
    const std::size_t height = layout.shape[1];
    for (std::size_t r = share.begin; r < share.end;) {
      const std::size_t z = r / height, y = r % height;
      const std::size_t last = std::min(layout.end[1], y + (share.end - r));  // of this plane and share
      const bool inside = z >= layout.begin[0] && z < layout.end[0] && y >= layout.begin[1] && y < last;
      const std::size_t count = inside ? std::min(rows_, last - y) : 1;
      if (inside) {
        const Rows<T>& rows = table.at(levels, levels.current(), levels.next(), z, y, count);
        kernel_(rows);
        for (std::size_t i = 0; i < count * layout.fields; ++i) levels.close_row(rows.out[i]);
      }
      r += count;
    }
  }

  RowKernel<T> kernel_;
  std::size_t rows_, threads_;
};

}  // namespace

template <class T>
void list_host_rows(const Device&, const Update<T>& update, const Layout& layout, std::vector<Entry<T>>& entries) {
  for (const KernelChoice<T>& choice : row_kernels(update)) {
    for (const std::size_t rows : {1u, 2u, 4u}) {
      for (const std::size_t threads : thread_counts(layout)) {
        Entry<T> entry;
        entry.candidate.variant = rows == 1 ? "base" : "register_blocked";
        entry.candidate.parameters = {{"kernel", choice.name}};
        if (rows > 1) entry.candidate.parameters.push_back({"rows", std::to_string(rows)});
        entry.candidate.parameters.push_back({"threads", std::to_string(threads)});
        entry.candidate.cost = step_cost(update, layout, 2, rows == 1 ? 0.4 : 0.5);
        entry.candidate.cost.threads = threads;
        if (threads == 1) entry.candidate.cost.launches = 0;
        if (rows > 1 && layout.shape[1] == 1) entry.candidate.refusal = "the grid has one row";
        entry.exact = choice.exact;
        entry.build = [layout, choice, rows, threads] {
          return std::make_shared<RowVariant<T>>(layout, choice.kernel, rows, threads);
        };
        entries.push_back(std::move(entry));
      }
    }
  }
}

template void list_host_rows(const Device&, const Update<float>&, const Layout&, std::vector<Entry<float>>&);
template void list_host_rows(const Device&, const Update<double>&, const Layout&, std::vector<Entry<double>>&);
template void list_host_rows(const Device&, const Update<std::int32_t>&, const Layout&,
                             std::vector<Entry<std::int32_t>>&);
template void list_host_rows(const Device&, const Update<std::uint8_t>&, const Layout&,
                             std::vector<Entry<std::uint8_t>>&);

}  // namespace ridge::stencil
