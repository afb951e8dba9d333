// In-register transpose for any vector width and element size. A vector consists of 128-bit blocks, and each block
// transposes its own matrix of k x k elements (k = 16 / element bytes). Block b of vector i is loaded from row b * k +
// i, so no step crosses a block. The transpose takes log2(k) steps of interleaves (perfect shuffles), each of which
// pairs vector i with vector i + k/2.

#include "base/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transpose/host/simd_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target must be included first
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "transpose/host/simd_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::transpose::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

template <std::size_t kBytes, bool kStreaming>
void Transpose(const MatrixBlock& block) {
  transpose_plainly<kBytes>(block);
}

template <bool kStreaming>
void CopyAll(const RowCopy& copy) {
  for (std::size_t r = 0; r < copy.rows; ++r) {
    std::memcpy(copy.to + r * copy.to_stride, copy.from + r * copy.from_stride, copy.bytes);
  }
}

#else

using Bytes = hn::ScalableTag<std::uint8_t>;
constexpr std::size_t kVector = HWY_MAX_BYTES;  // exact: all enabled targets have vectors of a fixed size
static_assert(kVector <= kLine);

template <class D>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const std::uint8_t* from, std::size_t stride) {
  constexpr std::size_t kBlocks = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) / 16;
  if constexpr (kBlocks == 1) {
    return hn::BitCast(
        d, hn::LoadU(hn::Repartition<std::uint8_t, D>(), from));  // loaded as bytes: no alignment is guaranteed
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, LoadBlocks(half, from + kBlocks / 2 * stride, stride), LoadBlocks(half, from, stride));
  }
}

template <bool kStreaming, class D>
HWY_INLINE void StoreVector(hn::Vec<D> vector, D, std::uint8_t* to) {
  const hn::Repartition<std::uint8_t, D> bytes;
  if constexpr (kStreaming) {
    hn::Stream(hn::BitCast(bytes, vector), bytes, to);
  } else {
    hn::StoreU(hn::BitCast(bytes, vector), bytes, to);
  }
}

// Layout of one element size in vectors of this width.
template <std::size_t kBytes>
struct Shape {
  using Lane = std::conditional_t<
      kBytes == 1, std::uint8_t,
      std::conditional_t<kBytes == 2, std::uint16_t, std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t> > >;
  static constexpr std::size_t kSide = 16 / kBytes;            // of the matrix that a block transposes
  static constexpr std::size_t kRows = kVector / kBytes;       // input rows that fill one vector of an output row
  static constexpr std::size_t kLineRows = kLine / kBytes;     // input rows that fill one cache line of an output row
  static constexpr std::size_t kVectors = kLine / kVector;     // vectors per cache line
  static constexpr bool kWholeLines = kSide * kVectors <= 16;  // registers hold one line of each of kSide output rows
};

// Transposes kRows input rows x kSide columns: one vector for each of kSide output rows.
template <std::size_t kBytes>
HWY_INLINE void TransposeVectors(
    const std::uint8_t* in, std::size_t in_stride,
    hn::Vec<hn::ScalableTag<typename Shape<kBytes>::Lane> > (&vectors)[Shape<kBytes>::kSide]) {
  const hn::ScalableTag<typename Shape<kBytes>::Lane> d;
  constexpr std::size_t kSide = Shape<kBytes>::kSide;
  for (std::size_t i = 0; i < kSide; ++i) vectors[i] = LoadBlocks(d, in + i * in_stride, kSide * in_stride);
  for (std::size_t step = 1; step < kSide; step *= 2) {
    hn::Vec<decltype(d)> shuffled[kSide];
    for (std::size_t i = 0; i < kSide / 2; ++i) {
      shuffled[2 * i] = hn::InterleaveLower(d, vectors[i], vectors[i + kSide / 2]);
      shuffled[2 * i + 1] = hn::InterleaveUpper(d, vectors[i], vectors[i + kSide / 2]);
    }
    for (std::size_t i = 0; i < kSide; ++i) vectors[i] = shuffled[i];
  }
}

// Transposes kLineRows input rows x kSide columns: a whole cache line of each of kSide output rows, stored at once.
template <std::size_t kBytes, bool kStreaming>
HWY_INLINE void TransposeLines(const std::uint8_t* in, std::size_t in_stride, std::uint8_t* out,
                               std::size_t out_stride) {
  using S = Shape<kBytes>;
  const hn::ScalableTag<typename S::Lane> d;
  if constexpr (S::kWholeLines) {
    hn::Vec<decltype(d)> vectors[S::kVectors][S::kSide];
    for (std::size_t v = 0; v < S::kVectors; ++v)
      TransposeVectors<kBytes>(in + v * S::kRows * in_stride, in_stride, vectors[v]);
    for (std::size_t i = 0; i < S::kSide; ++i) {
      for (std::size_t v = 0; v < S::kVectors; ++v) {
        StoreVector<kStreaming>(vectors[v][i], d, out + i * out_stride + v * kVector);
      }
    }
  } else {
    for (std::size_t v = 0; v < S::kVectors; ++v) {
      hn::Vec<decltype(d)> vectors[S::kSide];
      TransposeVectors<kBytes>(in + v * S::kRows * in_stride, in_stride, vectors);
      for (std::size_t i = 0; i < S::kSide; ++i) {
        StoreVector<kStreaming>(vectors[i], d, out + i * out_stride + v * kVector);
      }
    }
  }
}

template <std::size_t kBytes, bool kStreaming>
void TransposeAligned(const MatrixBlock& block) {
  using S = Shape<kBytes>;
  const std::size_t in_stride = block.input.row * kBytes, out_stride = block.output.row * kBytes;
  const auto* in = reinterpret_cast<const std::uint8_t*>(block.in);
  auto* out = reinterpret_cast<std::uint8_t*>(block.out);
  const std::size_t rows = block.rows / S::kLineRows * S::kLineRows;
  const std::size_t columns = block.columns / S::kSide * S::kSide;
  // Each group of rows is read from end to end before the next: prefetchers follow few streams only.
  for (std::size_t r = 0; r < rows; r += S::kLineRows) {
    for (std::size_t c = 0; c < columns; c += S::kSide) {
      TransposeLines<kBytes, kStreaming>(in + r * in_stride + c * kBytes, in_stride, out + c * out_stride + r * kBytes,
                                         out_stride);
    }
  }
  MatrixBlock edge = block;  // the remaining rows
  edge.in += rows * in_stride;
  edge.out += rows * kBytes;
  edge.rows -= rows;
  edge.columns = columns;
  transpose_plainly<kBytes>(edge);
  edge = block;  // the remaining columns
  edge.in += columns * kBytes;
  edge.out += columns * out_stride;
  edge.columns -= columns;
  transpose_plainly<kBytes>(edge);
}

template <std::size_t kBytes, bool kStreaming>
void Transpose(const MatrixBlock& block) {
  const bool whole_lines =
      reinterpret_cast<std::uintptr_t>(block.out) % kLine == 0 && block.output.row * kBytes % kLine == 0;
  if (kStreaming && whole_lines) return TransposeAligned<kBytes, kStreaming>(block);
  TransposeAligned<kBytes, false>(block);
}

template <bool kStreaming>
void CopyRow(const std::uint8_t* from, std::uint8_t* to, std::size_t bytes) {
  const Bytes d;
  std::size_t at = std::min<std::size_t>((0 - reinterpret_cast<std::uintptr_t>(to)) % kLine, bytes);
  std::memcpy(to, from, at);  // up to the first cache line boundary
  for (; at + kLine <= bytes; at += kLine) {
    hn::Vec<Bytes> line[kLine / kVector];
    for (std::size_t v = 0; v < kLine / kVector; ++v) line[v] = hn::LoadU(d, from + at + v * kVector);
    for (std::size_t v = 0; v < kLine / kVector; ++v) StoreVector<kStreaming>(line[v], d, to + at + v * kVector);
  }
  std::memcpy(to + at, from + at, bytes - at);
}

template <bool kStreaming>
void CopyAll(const RowCopy& copy) {
  std::size_t row = 0, at = 0;  // position of the next prefetch
  for (std::size_t r = 0; r < copy.rows; ++r) {
    for (std::size_t asked = 0; copy.next != nullptr && asked < copy.bytes; asked += kLine) {
      __builtin_prefetch(copy.next + row * copy.next_stride + at, 0, 2);
      at += kLine;
      if (at >= copy.next_bytes) at = 0, ++row;
    }
    CopyRow<kStreaming>(reinterpret_cast<const std::uint8_t*>(copy.from + r * copy.from_stride),
                        reinterpret_cast<std::uint8_t*>(copy.to + r * copy.to_stride), copy.bytes);
  }
}

#endif

TransposeBlock ChooseTranspose(std::size_t element_bytes, Stores stores) {
  return with_element(element_bytes, [stores](auto bytes) -> TransposeBlock {
    return stores == Stores::streaming ? &Transpose<bytes(), true> : &Transpose<bytes(), false>;
  });
}

CopyRows ChooseCopy(Stores stores) { return stores == Stores::streaming ? &CopyAll<true> : &CopyAll<false>; }

}  // namespace ridge::transpose::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::transpose {

HWY_EXPORT(ChooseTranspose);
HWY_EXPORT(ChooseCopy);

TransposeBlock simd_transpose(std::size_t element_bytes, Stores stores) {
  return HWY_DYNAMIC_DISPATCH(ChooseTranspose)(element_bytes, stores);
}
CopyRows simd_copy_rows(Stores stores) { return HWY_DYNAMIC_DISPATCH(ChooseCopy)(stores); }
void finish_streaming() { hwy::FlushStream(); }

}  // namespace ridge::transpose
#endif
