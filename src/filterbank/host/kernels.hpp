// Conversion and FIR for the best instruction set this processor has.
//
// Between the two, samples lie in blocks of 8 complex numbers (16 floats, a cache line) of one polarization; a row of a
// block holds its polarizations one after the other, and the rows of a block follow each other. So the FIR of a block
// reads memory front to back, and no two rows of a power-of-two bank fight for a place in the cache. Weights are real,
// each there twice, for real and imaginary part.
#pragma once
#include <cstddef>

namespace ridge::filterbank {

inline constexpr std::size_t kBlock = 8;                 // complex samples
inline constexpr std::size_t kBlockFloats = 2 * kBlock;  // a cache line

// Samples as they come; int4 is unpacked to int8 before.
enum class Numbers { int8, int16, float32 };

struct ConvertRow {
  const std::byte* from;  // `channels` samples, polarizations interleaved; any alignment
  std::size_t channels, polarizations;
  float* to;                 // block b, polarization p at to + b * block_stride + p * kBlockFloats
  std::size_t block_stride;  // floats
};

// One block of several rows, where the FIR takes it at once: row r, polarization p at to + (r * polarizations + p) *
// kBlockFloats.
struct ConvertBlock {
  const std::byte* const* rows;  // `count` rows; any alignment
  std::size_t count;
  std::size_t first;     // channel
  std::size_t channels;  // kBlock, or fewer at the end; the rest becomes 0
  std::size_t polarizations;
  float* to;
};

// One block: out[t] = sum over j of rows[t + j] * weights[j] for every polarization.
struct FirBlock {
  const float* rows;          // row r, polarization p at rows + (r * polarizations + p) * kBlockFloats
  const float* weights;       // tap j (the oldest first) at weights + j * weight_stride
  std::size_t weight_stride;  // floats
  std::size_t taps, polarizations;
  std::size_t times;  // tile: a multiple of Kernels::tile
  float* out;         // time t, polarization p at out + t * time_stride + p * polarization_stride
  std::size_t time_stride, polarization_stride;
};

struct Kernels {
  const char* name;
  std::size_t tile;  // times the register tile takes at once for one polarization; half of it for two
  void (*convert_int8)(const ConvertRow& row);
  void (*convert_int16)(const ConvertRow& row);
  void (*convert_float)(const ConvertRow& row);
  void (*unpack_int4)(const std::byte* from, std::size_t samples, signed char* to);  // 2 * samples numbers
  void (*block_int4)(const ConvertBlock& block);
  void (*block_int8)(const ConvertBlock& block);
  void (*block_int16)(const ConvertBlock& block);
  void (*block_float)(const ConvertBlock& block);
  void (*fir_tile)(const FirBlock& block);  // many times at once, samples and weights kept in registers
  void (*fir_one)(const FirBlock& block);   // one time, lanes are channels
  void (*fir_pairs)(
      const FirBlock& block);  // one time, one channel a vector: the two complex polarizations are the lanes
  // Whole cache lines past the caches, null where the processor has no such stores; fence() once they are all given.
  void (*store_past)(const float* from, float* to, std::size_t lines);
  void (*fence)();
};

const Kernels& kernels();

}  // namespace ridge::filterbank
