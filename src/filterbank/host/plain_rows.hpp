// Rows of floats in input order and their weights, for the variants without explicit vectorization.
#pragma once
#include <cstddef>
#include <span>

#include "base/aligned.hpp"
#include "filterbank/host/host_variant.hpp"

namespace ridge::filterbank {

// Converts the samples `begin` to `end` of one station's row to [channel][polarization][re, im].
void plain_row(const Geometry& geometry, const std::byte* from, float* to, std::size_t begin, std::size_t end);

// [tap, newest first][channel]: tap 0 is the newest block. Critical sampling only.
class TapWeights final : public Weights {
 public:
  TapWeights(const Geometry& geometry, std::span<const double> prototype);
  const float* tap(std::size_t i) const { return table_.data() + i * stride_; }
  std::size_t stride() const { return stride_; }

 private:
  std::size_t stride_;
  base::AlignedArray<float> table_;
};

// The last `taps` rows of a station, row r in slot r mod taps; the branches of one time; and the FFT's scratch.
class PlainScratch {
 public:
  static std::size_t floats(const Geometry& geometry, const fft::LineKernel<float>& line);
  PlainScratch(const Geometry& geometry, float* memory);
  float* slot(std::size_t index) const { return slots_ + index * row_floats_; }
  std::size_t slot_of(std::int64_t row) const;
  const std::byte* bytes(const RawView& raw, std::size_t station, std::int64_t row) const {
    return raw.row(geometry_, station, row, room_);
  }
  void load(const RawView& raw, std::size_t station, std::int64_t row);
  float* branches(std::size_t polarization) const { return branches_ + polarization * branch_floats_; }
  float* block() const { return block_; }  // `taps` rows of kBlock channels, all polarizations
  std::complex<float>* fft() const { return fft_; }

 private:
  const Geometry& geometry_;
  std::size_t row_floats_, branch_floats_;
  float *slots_, *branches_, *block_;
  std::byte* room_;
  std::complex<float>* fft_;
};

// FIR of one channel, all polarizations, into its branches.
inline void filter_channel(const Geometry& g, const PlainScratch& rows, std::size_t newest, const TapWeights& weights,
                           std::size_t m) {
  for (std::size_t p = 0; p < g.polarizations; ++p) {
    float re = 0, im = 0;
    std::size_t slot = newest;
    for (std::size_t i = 0; i < g.taps; ++i) {
      const float* x = rows.slot(slot) + (m * g.polarizations + p) * 2;
      const float w = weights.tap(i)[m];
      re += w * x[0];
      im += w * x[1];
      slot = slot == 0 ? g.taps - 1 : slot - 1;
    }
    rows.branches(p)[2 * m] = re;
    rows.branches(p)[2 * m + 1] = im;
  }
}

}  // namespace ridge::filterbank
