// Two nested loops: reads are contiguous along rows, every write goes to another cache line.
#include <algorithm>

#include "base/threads.hpp"
#include "transpose/host/host_variant.hpp"

namespace ridge::transpose {
namespace {

template <std::size_t kBytes>
void naive_rows(const Layout& layout, const std::byte* in, std::byte* out, std::size_t begin, std::size_t end) {
  const Strides &from = layout.input, &to = layout.output;
  for (std::size_t line = begin; line < end; ++line) {
    const std::size_t batch = line / layout.rows, row = line % layout.rows;
    std::byte* matrix = out + batch * to.batch * kBytes;
    if (layout.in_place) {
      for (std::size_t c = row + 1; c < layout.columns; ++c) {
        swap_plainly<kBytes>(matrix + (row * to.row + c * to.column) * kBytes,
                             matrix + (c * to.row + row * to.column) * kBytes, 1, 1, to, false);
      }
    } else {
      transpose_plainly<kBytes>({.in = in + (batch * from.batch + row * from.row) * kBytes,
                                 .out = matrix + row * to.column * kBytes,
                                 .rows = 1,
                                 .columns = layout.columns,
                                 .input = from,
                                 .output = to});
    }
  }
}

class Naive final : public HostVariant {
 public:
  Naive(const Layout& layout, std::size_t threads)
      : layout_(layout),
        threads_(std::min(threads, layout.rows * layout.batch)),
        rows_(with_element(layout.element_bytes, [](auto bytes) { return &naive_rows<bytes()>; })) {}

  void run(const std::byte* in, std::byte* out) const override {
    struct Call {
      const Naive* self;
      const std::byte* in;
      std::byte* out;
    } const call{this, in, out};
    base::parallel(threads_, [&call](std::size_t thread, std::size_t of) {
      const base::Share share = base::share(call.self->layout_.rows * call.self->layout_.batch, thread, of);
      call.self->rows_(call.self->layout_, call.in, call.out, share.begin, share.end);
    });
  }

 private:
  Layout layout_;
  std::size_t threads_;
  void (*rows_)(const Layout&, const std::byte*, std::byte*, std::size_t, std::size_t);
};

}  // namespace

void list_host_naive(const Device&, const Layout& layout, std::vector<Entry>& entries) {
  for (const std::size_t threads : thread_counts(layout)) {
    entries.push_back({.candidate = planner::Candidate{.variant = "naive",
                                                       .parameters = {{"threads", std::to_string(threads)}},
                                                       .refusal = {},
                                                       .cost = host_cost(layout, threads, 0.08)},
                       .build = [layout, threads] { return std::make_shared<Naive>(layout, threads); }});
  }
}

}  // namespace ridge::transpose
