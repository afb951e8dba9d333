// A dedispersion problem with its delays filled in: the input of every variant.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ridge/search.hpp>

namespace ridge::search {

struct Layout {
  std::size_t channels = 0, trials = 0, times = 0;
  std::size_t row = 0;             // input samples per channel
  std::vector<double> slope = {};  // per channel: share of the whole band's delay, 0 for the first, 1 for the last
  std::vector<double> delay = {};  // per trial: delay of the last channel in samples, not rounded
  std::size_t threads = 1;
  bool exact = false;
  std::string text = {};  // band and range of trials, for the key

  // Delay of a channel in a trial, rounded to whole samples.
  std::int32_t nearest(std::size_t trial, std::size_t channel) const;
  // Largest difference of the last channel's delays within groups of this many trials.
  std::size_t delay_range(std::size_t group) const;
  // The same, rounded up to one of few sizes, so that few kernels are compiled; also bounds every other channel.
  std::size_t delay_range_class(std::size_t group) const;
  std::size_t input_bytes() const { return channels * row; }
  std::size_t output_bytes() const { return trials * times * sizeof(float); }
  double additions() const;
  std::string key() const;
};

// Samples added to every row: trees round delays at several levels and may read this far past the exact delay.
inline constexpr std::size_t kRoundingMargin = 8;
inline constexpr std::size_t kMostChannels = 65536;  // sums of bytes stay below 2^24, exact in float

// Error{invalid_argument} for bands, trials and sizes that are impossible.
Layout resolve(const Problem& problem);

// Error{invalid_argument} that names the field, for frequencies and intervals that are not finite or not positive.
void check_band(const Band& band);

}  // namespace ridge::search
