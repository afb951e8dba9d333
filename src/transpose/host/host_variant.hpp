// Base of the host variants: thread counts to try, cost estimate, blocks of a matrix, and the plain transposing loops.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "transpose/variant.hpp"

namespace ridge::transpose {

class HostVariant : public Variant {
 public:
  // The host's queue runs synchronously, so enqueuing is running.
  void enqueue(Queue&, const Buffer& in, const Buffer& out) const final {
    run(reinterpret_cast<const std::byte*>(in.native()), reinterpret_cast<std::byte*>(out.native()));
  }
};

// Thread counts to try: one, and the most the problem may use. Starting threads costs more than a small problem takes.
inline std::vector<std::size_t> thread_counts(const Layout& layout) {
  if (layout.threads == 1) return {1};
  return {layout.threads, 1};
}

// Cost estimate of a host variant; `efficiency` is the share of copy speed that a large problem should reach.
inline planner::Cost host_cost(const Layout& layout, std::size_t threads, double efficiency) {
  return {.flops = 0,
          .bytes = 2.0 * static_cast<double>(layout.elements() * layout.element_bytes),
          .launches = threads > 1 ? 1.0 : 0.0,
          .efficiency = efficiency,
          .float64 = false,
          .threads = threads};
}

// A rectangular block of one matrix. Strides are in elements.
struct MatrixBlock {
  const std::byte* in;
  std::byte* out;
  std::size_t rows, columns;
  Strides input, output;            // batch unused
  const std::byte* next = nullptr;  // input of the next block of the same thread, if any
};

// Transposes a block by the plain loop, rows outside. Elements are moved as bytes: the caller's type may be any
// trivially copyable type with any alignment.
template <std::size_t kBytes>
inline void transpose_plainly(const MatrixBlock& block) {
  for (std::size_t r = 0; r < block.rows; ++r) {
    const std::byte* from = block.in + r * block.input.row * kBytes;
    std::byte* to = block.out + r * block.output.column * kBytes;
    for (std::size_t c = 0; c < block.columns; ++c) {
      std::memcpy(to + c * block.output.row * kBytes, from + c * block.input.column * kBytes, kBytes);
    }
  }
}

// Exchanges block `a` of a matrix with its mirror image `b`; on the diagonal both are the same block.
template <std::size_t kBytes>
inline void swap_plainly(std::byte* a, std::byte* b, std::size_t rows, std::size_t columns, const Strides& strides,
                         bool diagonal) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = diagonal ? r + 1 : 0; c < columns; ++c) {
      std::byte* one = a + (r * strides.row + c * strides.column) * kBytes;
      std::byte* two = b + (c * strides.row + r * strides.column) * kBytes;
      std::byte held[kBytes];
      std::memcpy(held, one, kBytes);
      std::memcpy(one, two, kBytes);
      std::memcpy(two, held, kBytes);
    }
  }
}

// Calls function(std::integral_constant<std::size_t, bytes>) for the element size.
template <class Function>
inline decltype(auto) with_element(std::size_t bytes, Function&& function) {
  switch (bytes) {
    case 1:
      return function(std::integral_constant<std::size_t, 1>());
    case 2:
      return function(std::integral_constant<std::size_t, 2>());
    case 4:
      return function(std::integral_constant<std::size_t, 4>());
    case 8:
      return function(std::integral_constant<std::size_t, 8>());
    default:
      return function(std::integral_constant<std::size_t, 16>());
  }
}

}  // namespace ridge::transpose
