// Dynamic scheduling of row blocks over threads, so that a delayed thread does not delay the rest.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>

#include "base/threads.hpp"

namespace ridge::image {

template <class F>
void in_row_blocks(std::size_t threads, std::size_t rows, std::size_t block, const F& f) {
  if (threads == 1) return f(std::size_t{0}, rows);
  std::atomic<std::size_t> next{0};
  base::parallel(std::min(threads, (rows + block - 1) / block), [&](std::size_t, std::size_t) {
    for (std::size_t begin; (begin = next.fetch_add(block, std::memory_order_relaxed)) < rows;)
      f(begin, std::min(begin + block, rows));
  });
}

}  // namespace ridge::image
