// Vectorized transposition of blocks of pixels, and non-temporal stores.
#include <cstring>

#include "image/methods/host/kernels/native_kernels.hpp"

#include "base/simd_byte_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/methods/host/kernels/transpose_kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void copy_nontemporal(const void* from, std::size_t bytes, std::byte* to) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto* p = static_cast<const std::uint8_t*>(from);
  auto* out = reinterpret_cast<std::uint8_t*>(to);
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(out) % lanes;
  std::size_t i = beyond == 0 ? 0 : lanes - beyond;
  if (i > bytes) i = bytes;
  std::memcpy(out, p, i);
  for (; i + lanes <= bytes; i += lanes) hn::Stream(hn::LoadU(d, p + i), d, out + i);
  std::memcpy(out + i, p + i, bytes - i);
}

// Transposes a block: interleaves each vector with the one kSide / 2 vectors later, log2(kSide) times.
template <class T>
HWY_INLINE void block_of(const std::byte* in, std::size_t in_pitch, std::byte* out, std::ptrdiff_t out_pitch) {
  constexpr std::size_t kSide = 16 / sizeof(T);
  const hn::FixedTag<T, kSide> d;
  hn::Vec<decltype(d)> a[kSide], b[kSide];
  HWY_UNROLL(16)
  for (std::size_t i = 0; i < kSide; ++i) a[i] = hn::LoadU(d, reinterpret_cast<const T*>(in + i * in_pitch));
  for (std::size_t step = 1; step < kSide; step *= 2) {
    HWY_UNROLL(16)
    for (std::size_t i = 0; i < kSide / 2; ++i) {
      b[2 * i] = hn::InterleaveLower(d, a[i], a[i + kSide / 2]);
      b[2 * i + 1] = hn::InterleaveUpper(d, a[i], a[i + kSide / 2]);
    }
    HWY_UNROLL(16)
    for (std::size_t i = 0; i < kSide; ++i) a[i] = b[i];
  }
  HWY_UNROLL(16)
  for (std::size_t i = 0; i < kSide; ++i)
    hn::StoreU(a[i], d, reinterpret_cast<T*>(out + static_cast<std::ptrdiff_t>(i) * out_pitch));
}
// Transposes 16x16 pixels of three bytes: expands pixels to words, transposes 4x4 words, and packs 16 pixels of a
// column.
HWY_INLINE void block_of_three(const std::byte* in, std::size_t in_pitch, std::byte* out, std::ptrdiff_t out_pitch) {
  constexpr std::uint8_t kNo = 0x80;
  // Byte orders for pixels that start at byte 0, and at byte 4 for the last group, which would otherwise be read beyond
  // the block.
  HWY_ALIGN static constexpr std::uint8_t kWords[2][16] = {
      {0, 1, 2, kNo, 3, 4, 5, kNo, 6, 7, 8, kNo, 9, 10, 11, kNo},
      {4, 5, 6, kNo, 7, 8, 9, kNo, 10, 11, 12, kNo, 13, 14, 15, kNo}};
  // Byte orders that pack two vectors of words into one of bytes: from the first and from the second.
  HWY_ALIGN static constexpr std::uint8_t kBytes[6][16] = {
      {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, kNo, kNo, kNo, kNo},
      {kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, 0, 1, 2, 4},
      {5, 6, 8, 9, 10, 12, 13, 14, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo},
      {kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, 0, 1, 2, 4, 5, 6, 8, 9},
      {10, 12, 13, 14, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo},
      {kNo, kNo, kNo, kNo, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14}};
  const hn::FixedTag<std::uint8_t, 16> d8;
  const hn::FixedTag<std::uint32_t, 4> d32;
  const hn::FixedTag<std::uint64_t, 2> d64;
  using V8 = hn::Vec<decltype(d8)>;
  using V32 = hn::Vec<decltype(d32)>;
  for (std::size_t group = 0; group < 4; ++group) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(in) + (group < 3 ? 12 * group : 32);
    const V8 order = hn::Load(d8, kWords[group < 3 ? 0 : 1]);
    V8 columns[4][4];  // indexed by column, then by block of four rows
    HWY_UNROLL(4)
    for (std::size_t four = 0; four < 4; ++four) {
      const auto words = [&](std::size_t row) {
        const V8 bytes = hn::LoadU(d8, from + (4 * four + row) * in_pitch);
        return hn::BitCast(d32, hn::TableLookupBytesOr0(bytes, order));
      };
      const V32 a = words(0), b = words(1), c = words(2), e = words(3);
      const auto ab = hn::BitCast(d64, hn::InterleaveLower(d32, a, b));
      const auto ce = hn::BitCast(d64, hn::InterleaveLower(d32, c, e));
      const auto ab_up = hn::BitCast(d64, hn::InterleaveUpper(d32, a, b));
      const auto ce_up = hn::BitCast(d64, hn::InterleaveUpper(d32, c, e));
      columns[0][four] = hn::BitCast(d8, hn::InterleaveLower(d64, ab, ce));
      columns[1][four] = hn::BitCast(d8, hn::InterleaveUpper(d64, ab, ce));
      columns[2][four] = hn::BitCast(d8, hn::InterleaveLower(d64, ab_up, ce_up));
      columns[3][four] = hn::BitCast(d8, hn::InterleaveUpper(d64, ab_up, ce_up));
    }
    HWY_UNROLL(4)
    for (std::size_t c = 0; c < 4; ++c) {
      auto* to = reinterpret_cast<std::uint8_t*>(out + static_cast<std::ptrdiff_t>(4 * group + c) * out_pitch);
      HWY_UNROLL(3)
      for (std::size_t k = 0; k < 3; ++k) {
        const V8 before = hn::TableLookupBytesOr0(columns[c][k], hn::Load(d8, kBytes[2 * k]));
        const V8 behind = hn::TableLookupBytesOr0(columns[c][k + 1], hn::Load(d8, kBytes[2 * k + 1]));
        hn::StoreU(hn::Or(before, behind), d8, to + 16 * k);
      }
    }
  }
}
template <std::size_t kBytes, class F>
HWY_INLINE void each_block(const std::byte* in, std::size_t in_pitch, std::size_t down, std::size_t across,
                           std::byte* out, std::ptrdiff_t out_pitch, const F& transpose_block) {
  constexpr std::size_t kSide = kBytes == 3 ? 16 : 16 / kBytes;
  for (std::size_t x = 0; x < across; ++x) {
    for (std::size_t y = 0; y < down; ++y) {
      transpose_block(in + y * kSide * in_pitch + x * kSide * kBytes, in_pitch,
                      out + static_cast<std::ptrdiff_t>(x * kSide) * out_pitch + y * kSide * kBytes, out_pitch);
    }
  }
}
void blocks(const std::byte* in, std::size_t in_pitch, std::size_t down, std::size_t across, std::byte* out,
            std::ptrdiff_t out_pitch, std::size_t bytes) {
  switch (bytes) {
    case 1:
      return each_block<1>(in, in_pitch, down, across, out, out_pitch,
                           [](auto... at) HWY_ATTR { block_of<std::uint8_t>(at...); });
    case 2:
      return each_block<2>(in, in_pitch, down, across, out, out_pitch,
                           [](auto... at) HWY_ATTR { block_of<std::uint16_t>(at...); });
    case 3:
      return each_block<3>(in, in_pitch, down, across, out, out_pitch,
                           [](auto... at) HWY_ATTR { block_of_three(at...); });
    case 4:
      return each_block<4>(in, in_pitch, down, across, out, out_pitch,
                           [](auto... at) HWY_ATTR { block_of<std::uint32_t>(at...); });
    default:
      return each_block<8>(in, in_pitch, down, across, out, out_pitch,
                           [](auto... at) HWY_ATTR { block_of<std::uint64_t>(at...); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {

HWY_EXPORT(copy_nontemporal);
HWY_EXPORT(blocks);

void store_nontemporal(const void* from, std::size_t bytes, std::byte* to) {
  HWY_DYNAMIC_DISPATCH(copy_nontemporal)(from, bytes, to);
}
void finish_nontemporal_stores() { hwy::FlushStream(); }
void transpose_blocks(const std::byte* in, std::size_t in_pitch, std::size_t down, std::size_t across, std::byte* out,
                      std::ptrdiff_t out_pitch, std::size_t bytes) {
  HWY_DYNAMIC_DISPATCH(blocks)(in, in_pitch, down, across, out, out_pitch, bytes);
}

}  // namespace ridge::image
#endif
