// Tiles turned in vector registers, for the best instruction set this processor has.
#pragma once
#include <cstddef>

#include "transpose/host/host_variant.hpp"

namespace ridge::transpose {

enum class Stores {
  ordinary,
  streaming,  // past the caches, where whole aligned lines can be written; where there are none: ordinary
};

inline constexpr std::size_t kLine = 64;  // bytes of a cache line, and the widest vector

// Any rows and columns; both column strides are 1. Input and output do not overlap.
using TurnPiece = void (*)(const Piece& piece);
TurnPiece simd_turn(std::size_t element_bytes, Stores stores);

// Copies `rows` rows of `bytes` bytes each; distances in bytes. Meanwhile as many bytes are asked for from rows of
// `next_bytes` bytes at `next`: what is read after this then comes in while this goes out.
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

// Streaming stores become visible to other threads behind this.
void finish_streaming();

}  // namespace ridge::transpose
