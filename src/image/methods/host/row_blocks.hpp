// Division of rows over threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>

#include "base/threads.hpp"

namespace ridge::image {

// Dynamic scheduling of row blocks, so that a delayed thread does not delay the rest.
template <class F>
void in_row_blocks(std::size_t threads, std::size_t rows, std::size_t block, const F& f) {
  if (threads == 1) return f(std::size_t{0}, rows);
  std::atomic<std::size_t> next{0};
  base::parallel(std::min(threads, (rows + block - 1) / block), [&](std::size_t, std::size_t) {
    for (std::size_t begin; (begin = next.fetch_add(block, std::memory_order_relaxed)) < rows;)
      f(begin, std::min(begin + block, rows));
  });
}

// Static partitioning: one share of the rows per thread, a multiple of `grain` rows each.
template <class F>
void in_bands(std::size_t threads, std::size_t rows, std::size_t grain, const F& f) {
  base::parallel(std::min(threads, (rows + grain - 1) / grain), [&](std::size_t thread, std::size_t of) {
    const base::Share share = base::share(rows, thread, of, grain);
    if (share.begin < share.end) f(share.begin, share.end);
  });
}

}  // namespace ridge::image
