// Inner loops of dedispersion with the best instruction set of this processor.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::search {

// out[t] = sum over terms of in[term][t], t < count. `out` overlaps no input: a value may be computed twice.
using AddRows = void (*)(const void* const* in, std::size_t terms, void* out, std::size_t count);

enum class Sum { u8, u16, u32, f32 };

struct StripJob {
  const std::uint8_t* in;      // first channel, at the strip's first time
  std::size_t row;             // bytes between channels
  const std::int32_t* delays;  // per channel
  std::size_t channels;        // at most kMost16
  float* out;
  bool add;  // to `out`; else replaces it
};

struct SumKernels {
  AddRows add_rows(Sum in, Sum out) const;  // widening or equal; to f32 only from integers
  AddRows u8_u16, u16_u16, u16_u32, u32_u32, u8_f32, u16_f32, u32_f32;
  std::size_t strip;                   // times of a brute-force strip
  void (*add_strip)(const StripJob&);  // sums of `strip` times over the channels
};

const SumKernels& sum_kernels();

}  // namespace ridge::search
