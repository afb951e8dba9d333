// Sample conversion and FIR kernels for the best instruction set of this processor.
//
// Converted samples are stored in blocks of 8 complex numbers (16 floats, one cache line) of one polarization. A row of
// a block holds its polarizations one after the other, and the rows of a block are contiguous. The FIR of a block
// therefore reads memory sequentially, and rows of power-of-two banks do not conflict in the cache. Weights are real,
// and each is stored twice, for the real and the imaginary part.
#pragma once
#include <cstddef>

namespace ridge::filterbank {

inline constexpr std::size_t kBlock = 8;                 // complex samples
inline constexpr std::size_t kBlockFloats = 2 * kBlock;  // a cache line

// Input number types; int4 is unpacked to int8 first.
enum class Numbers { int8, int16, float32 };

struct ConvertRow {
  const std::byte* from;  // `channels` samples, polarizations interleaved; any alignment
  std::size_t channels, polarizations;
  float* to;                 // block b, polarization p at to + b * block_stride + p * kBlockFloats
  std::size_t block_stride;  // floats
};

// Converts one block of several rows for the FIR: row r, polarization p at to + (r * polarizations + p) * kBlockFloats.
struct ConvertBlock {
  const std::byte* const* rows;  // `count` rows; any alignment
  std::size_t count;
  std::size_t first;     // first channel
  std::size_t channels;  // kBlock, or fewer in the last block; the rest becomes 0
  std::size_t polarizations;
  float* to;
};

// FIR of one block: out[t] = sum over j of rows[t + j] * weights[j] for every polarization.
struct FirBlock {
  const float* rows;          // row r, polarization p at rows + (r * polarizations + p) * kBlockFloats
  const float* weights;       // tap j (the oldest first) at weights + j * weight_stride
  std::size_t weight_stride;  // floats
  std::size_t taps, polarizations;
  std::size_t times;  // fir_tile: a multiple of Kernels::tile
  float* out;         // time t, polarization p at out + t * time_stride + p * polarization_stride
  std::size_t time_stride, polarization_stride;
};

struct Kernels {
  const char* name;
  std::size_t tile;  // times per register tile for one polarization; half as many for two
  void (*convert_int8)(const ConvertRow& row);
  void (*convert_int16)(const ConvertRow& row);
  void (*convert_float)(const ConvertRow& row);
  void (*unpack_int4)(const std::byte* from, std::size_t samples, signed char* to);  // 2 * samples numbers
  void (*block_int4)(const ConvertBlock& block);
  void (*block_int8)(const ConvertBlock& block);
  void (*block_int16)(const ConvertBlock& block);
  void (*block_float)(const ConvertBlock& block);
  void (*fir_tile)(const FirBlock& block);  // many times at once, samples and weights kept in registers
  void (*fir_one)(const FirBlock& block);   // one time, vectorized across channels
  void (*fir_pairs)(
      const FirBlock& block);  // one time, one channel per vector: the lanes are the two complex polarizations
  // Non-temporal stores of whole cache lines; null if the processor has none. Call fence() after the last one.
  void (*store_past)(const float* from, float* to, std::size_t lines);
  void (*fence)();
};

const Kernels& kernels();

}  // namespace ridge::filterbank
