// Spectral kurtosis of detected power: flags values whose spectra are not those of noise.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <ridge/filterbank.hpp>

namespace ridge::cli {

class Kurtosis {
 public:
  // `false_alarm`: share of noise that is flagged. Error{invalid_argument} if a sum has fewer than 16 powers.
  Kurtosis(const filterbank::Problem& problem, const filterbank::Detection& wanted, double false_alarm);

  // Products::moments, with the sums that were asked for.
  filterbank::Detection detection() const;
  std::size_t products() const { return total_ ? 1 : polarizations_; }
  std::size_t row_size() const { return stations_ * products() * channels_; }
  // Reduces rows of moments to power. `flags` gets one byte per time, station and channel, 1: flagged. Without power
  // (lost samples) a value is flagged too.
  void reduce(std::span<const float> moments, std::vector<float>& power, std::vector<std::uint8_t>& flags) const;

 private:
  filterbank::Detection wanted_;
  bool total_;
  std::size_t stations_, polarizations_, channels_;
  double powers_, low_, high_;
};

}  // namespace ridge::cli
