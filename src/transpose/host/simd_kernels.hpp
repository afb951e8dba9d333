// Transposes blocks in vector registers, with the best instruction set of this processor.
#pragma once
#include <cstddef>

#include "transpose/host/host_variant.hpp"

namespace ridge::transpose {

enum class Stores {
  ordinary,
  streaming,  // bypass the caches if whole aligned lines are written, otherwise like ordinary
};

inline constexpr std::size_t kLine = 64;  // bytes of a cache line, and of the widest vector

// Transposes a block of any size. Both column strides are 1; input and output do not overlap.
using TransposeBlock = void (*)(const MatrixBlock& block);
TransposeBlock simd_transpose(std::size_t element_bytes, Stores stores);

// Copies `rows` rows of `bytes` bytes each; strides are in bytes. While copying, it prefetches the same number of bytes
// from rows of `next_bytes` bytes at `next`, the input of the next tile.
struct RowCopy {
  const std::byte* from;
  std::size_t from_stride;
  std::byte* to;
  std::size_t to_stride;
  std::size_t rows, bytes;
  const std::byte* next = nullptr;
  std::size_t next_stride = 0, next_bytes = 0;
};
using CopyRows = void (*)(const RowCopy& copy);
CopyRows simd_copy_rows(Stores stores);

// Fence: makes the streaming stores of this thread visible to other threads.
void finish_streaming();

}  // namespace ridge::transpose
