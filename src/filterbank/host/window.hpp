// Samples converted to floats once, and the FIR's weights in the order in which the kernels read them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "filterbank/host/host_variant.hpp"
#include "filterbank/host/kernels.hpp"
#include "filterbank/host/late_stores.hpp"

namespace ridge::filterbank {

inline std::size_t blocks_of(const Geometry& geometry) { return (geometry.channels + kBlock - 1) / kBlock; }

// A range of consecutive rows of one station. When it is full, the rows still needed move to its front.
class SampleWindow {
 public:
  static std::size_t floats(const Geometry& geometry, std::size_t capacity);  // required memory
  SampleWindow(const Geometry& geometry, std::size_t capacity, float* memory);

  // Converts rows `low` to `high` of the station. `low` never decreases, and at most `capacity` rows are requested.
  void ensure(const RawView& raw, std::size_t station, std::int64_t low, std::int64_t high);
  const float* row(std::size_t block, std::int64_t row) const {
    return memory_ + block * stride_ + static_cast<std::size_t>(row - base_) * geometry_.polarizations * kBlockFloats;
  }
  std::size_t stride() const { return stride_; }  // floats between consecutive blocks

 private:
  static std::size_t stride_of(const Geometry& geometry, std::size_t capacity);
  void convert(const std::byte* from, std::int64_t row);

  const Geometry& geometry_;
  std::size_t capacity_, stride_;
  float* memory_;
  std::byte* room_;
  signed char* unpacked_;
  std::int64_t base_ = 0, end_ = 0;
  bool started_ = false;
};

// [block][tap, oldest first][16]; critical sampling only.
class BlockWeights final : public Weights {
 public:
  BlockWeights(const Geometry& geometry, std::span<const double> prototype);
  const float* block(std::size_t b) const { return table_.data() + b * taps_ * kBlockFloats; }

 private:
  std::size_t taps_;
  base::AlignedArray<float> table_;
};

// [tap, oldest first][channel - phase + channels], for any phase: the weights of channel a at phase f are those of
// channel (a - f) mod channels at phase 0.
class RotatedWeights final : public Weights {
 public:
  RotatedWeights(const Geometry& geometry, std::span<const double> prototype);
  std::size_t stride() const { return stride_; }
  const float* at(std::size_t channel, std::size_t phase) const {
    const auto& table = phase % 2 == 1 && odd_.size() > 0 ? odd_ : even_;
    return table.data() + 2 * (channel + channels_ - phase);
  }

 private:
  std::size_t channels_, stride_;
  base::AlignedArray<float> even_, odd_;  // odd phases of a centred bank have the opposite sign
};

std::shared_ptr<const Weights> window_weights(const Geometry& geometry, std::span<const double> prototype);

// Floats per row of branches: time t, polarization p start at (t * polarizations + p) * filtered_row().
inline std::size_t filtered_row(const Geometry& geometry) { return blocks_of(geometry) * kBlockFloats + kBlockFloats; }

// FIR of one spectrum at any phase. Converts the rows it needs.
void filter_one(const Geometry& geometry, SampleWindow& window, const Piece& piece, std::uint64_t spectrum, float* out);

// FIR of `times` consecutive spectra; critical sampling. `out` has space for a multiple of kernels().tile times. Part
// of the late stores, if given, are issued between the blocks of the FIR.
void filter_many(const Geometry& geometry, SampleWindow& window, const Piece& piece, std::uint64_t spectrum,
                 std::size_t times, float* out, LateStores* late = nullptr);

// As filter_many(), but reads the stream's bytes: each block of channels is converted just before its FIR. Rows are
// converted (taps - 1 + times) / times times, but all intermediate data stay in the first-level cache.
class DirectRows {
 public:
  static std::size_t floats(const Geometry& geometry, std::size_t times);
  // For at most `times` spectra at once.
  DirectRows(const Geometry& geometry, std::size_t times, float* memory);
  void filter(const Piece& piece, std::uint64_t spectrum, std::size_t times, float* out, LateStores* late = nullptr);

 private:
  const Geometry& geometry_;
  std::size_t most_;
  float* block_;     // one block of all rows, converted
  std::byte* room_;  // for rows that are not contiguous in the stream
  std::vector<const std::byte*> rows_;
};

// Rows a window needs at least for filter_one and filter_many.
std::size_t least_rows(const Geometry& geometry, std::size_t times);

}  // namespace ridge::filterbank
