// Flags interference: spectral kurtosis of the input, channels unlike their neighbours, and SumThreshold on normalized
// bytes.
#pragma once
#include <cstddef>
#include <cstdint>

#include <ridge/search.hpp>

#include "search/input_block.hpp"

namespace ridge::search {

// Flags runs of `flagging.kurtosis` rows of a channel whose spectral kurtosis is outside the limits.
void flag_kurtosis(const RawRows& raw, const Flagging& flagging, std::size_t threads, Mask& mask);

// Sets the sigma of channels to 0, which excludes them, if their mean or deviation differs from the median of the
// nearest 33 channels by more than `sigmas` times the robust deviation of those.
void flag_channels(double sigmas, ChannelStatistics& statistics);

// Normalized bytes, channels x rows.
struct FlagPlane {
  std::uint8_t* plane;
  std::size_t stride, channels, rows;
};
// SumThreshold along time and along frequency: runs of M = 1, 2, 4 ... 64 values whose mean exceeds first / 1.5^log2(M)
// sigma are flagged and replaced by the mean.
void sum_threshold(const FlagPlane& job, double first, bool reversed, std::size_t threads, Mask& mask);

// Limits of the spectral kurtosis of noise: each tail holds false_alarm / 2. M values, each a sum of powers with shape
// a.
struct KurtosisLimits {
  double low = 0, high = 0;
};
KurtosisLimits kurtosis_limits(std::size_t m, double shape, double false_alarm);

}  // namespace ridge::search
