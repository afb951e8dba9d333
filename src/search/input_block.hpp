// Blocks of filterbank rows: packed values, statistics per channel, and normalized bytes in channel-major order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <ridge/search.hpp>
#include <ridge/transpose.hpp>

namespace ridge::search {

// One bit per value, rows of whole bytes in the input's order of channels; the first channel is the lowest bit.
class Mask {
 public:
  Mask(std::size_t rows, std::size_t channels) : row_((channels + 7) / 8), bits_(rows * row_) {}
  bool at(std::size_t row, std::size_t channel) const {
    return (std::to_integer<unsigned>(bits_[row * row_ + channel / 8]) >> (channel % 8) & 1U) != 0;
  }
  void set(std::size_t row, std::size_t channel) { bits_[row * row_ + channel / 8] |= std::byte(1U << (channel % 8)); }
  bool any(std::size_t row) const;
  void clear();
  std::size_t row_bytes() const { return row_; }
  std::span<std::byte> bits() { return bits_; }
  std::span<const std::byte> bits() const { return bits_; }
  std::uint64_t count(std::size_t rows) const;  // flagged values of the first rows

 private:
  std::size_t row_;
  std::vector<std::byte> bits_;
};

// Rows as they were read, of one block.
struct RawRows {
  const std::byte* data = nullptr;
  std::size_t rows = 0, channels = 0, bits = 8;
  bool is_signed = false;
  std::size_t row_bytes() const { return channels * bits / 8; }
  const std::byte* row(std::size_t r) const { return data + r * row_bytes(); }
};

struct ChannelStatistics {
  std::vector<float> mean, sigma;  // sigma 0: constant, or too few values
};

constexpr std::size_t kPartRows = 256;  // rows of one set of sums

// Sums of scale * x - reference and its squares over the unflagged values of each part of kPartRows rows and channel.
struct PartSums {
  std::size_t parts = 0;
  std::vector<float> reference{}, scale{};  // per channel; scale: a power of two
  std::vector<float> sum{}, square{};       // [part][channel]
  std::vector<std::uint16_t> count{};       // [part][channel]: unflagged values
};

// Flags the values that are NaN or infinite, and adds their number to `not_numbers`.
PartSums part_sums(const RawRows& raw, Mask& mask, std::size_t threads, std::uint64_t& not_numbers);

// Medians over the parts, so that bursts do not count.
ChannelStatistics channel_statistics(const RawRows& raw, const PartSums& sums);

// Writes (x - mean) / sigma as bytes to columns [0, rows) of `plane`, channels in reverse order if `reversed`. Flagged
// values and constant channels become the mean.
class Normalizer {
 public:
  Normalizer(std::size_t channels, std::size_t plane_stride, bool reversed, std::size_t threads);
  void run(const RawRows& raw, const ChannelStatistics& statistics, const Mask& mask, std::uint8_t* plane) const;

 private:
  std::size_t channels_, stride_, threads_;
  bool reversed_;
  std::unique_ptr<transpose::Plan<std::uint8_t>> turn_;
};

// Values of filterbank rows packed in 1, 2, 4, 8, 16 or 32 bits.

// Error{invalid_argument} unless bits is 1, 2, 4, 8, 16 or 32 and rows of `channels` values are whole bytes.
void check_bits(std::size_t bits, std::size_t channels);

// Reads `count` values of one row; the first is in the lowest bits of a byte. 32 bits are floats, fewer are unsigned
// integers, or signed bytes if `is_signed`.
void unpack(const std::byte* in, std::size_t bits, bool is_signed, float* out, std::size_t count);

// Writes values rounded to whole numbers and limited to the range of the bits; floats as they are.
void pack(const float* in, std::size_t bits, std::byte* out, std::size_t count);

}  // namespace ridge::search
