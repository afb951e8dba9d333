// Plain loops that define the transpose.
#include "transpose/reference.hpp"

#include <cstring>

#include "base/threads.hpp"

namespace ridge::transpose {

void reference(const Layout& layout, const std::byte* in, std::byte* out) {
  const std::size_t bytes = layout.element_bytes;
  base::parallel(layout.threads, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = base::share(layout.batch * layout.columns, thread, threads);
    for (std::size_t line = share.begin; line < share.end; ++line) {
      const std::size_t b = line / layout.columns, c = line % layout.columns;
      for (std::size_t r = 0; r < layout.rows; ++r) {
        const std::size_t from = b * layout.input.batch + r * layout.input.row + c * layout.input.column;
        const std::size_t to = b * layout.output.batch + c * layout.output.row + r * layout.output.column;
        std::memcpy(out + to * bytes, in + from * bytes, bytes);
      }
    }
  });
}

}  // namespace ridge::transpose
