// Estimates the spectral kurtosis of power and flags values outside the limits of noise.
#include "cli/channelize/kurtosis.hpp"

#include <fmt/format.h>

#include "command/options.hpp"
#include "search/flags.hpp"

namespace ridge::cli {

Kurtosis::Kurtosis(const filterbank::Problem& problem, const filterbank::Detection& wanted, double false_alarm)
    : wanted_(wanted),
      total_(wanted.products == filterbank::Products::total),
      stations_(problem.stations),
      polarizations_(problem.polarizations),
      channels_(problem.channels / wanted.channels),
      powers_(static_cast<double>(wanted.times * wanted.channels)) {
  if (wanted.products == filterbank::Products::stokes) mistake("--kurtosis needs --detect total or powers");
  if (problem.oversampling.numerator != problem.oversampling.denominator)
    mistake("--kurtosis needs independent spectra: leave out --oversample");
  const search::KurtosisLimits limits = search::kurtosis_limits(wanted.times * wanted.channels, 1, false_alarm);
  low_ = limits.low;
  high_ = limits.high;
}

filterbank::Detection Kurtosis::detection() const {
  filterbank::Detection moments = wanted_;
  moments.products = filterbank::Products::moments;
  return moments;
}

void Kurtosis::reduce(std::span<const float> moments, std::vector<float>& power,
                      std::vector<std::uint8_t>& flags) const {
  const std::size_t each = 2 * polarizations_ * channels_, groups = moments.size() / each;  // times x stations
  power.assign(groups * products() * channels_, 0.0F);
  flags.assign(groups * channels_, 0);
  const double m = powers_, factor = (m + 1) / (m - 1);
  for (std::size_t group = 0; group < groups; ++group) {
    for (std::size_t pol = 0; pol < polarizations_; ++pol) {
      const float* first = moments.data() + group * each + pol * channels_;
      const float* second = first + polarizations_ * channels_;
      float* to = power.data() + (group * products() + (total_ ? 0 : pol)) * channels_;
      for (std::size_t k = 0; k < channels_; ++k) {
        const double s1 = first[k], s2 = second[k], kurtosis = factor * (m * s2 / (s1 * s1) - 1);
        to[k] += first[k];
        if (!(kurtosis >= low_ && kurtosis <= high_)) flags[group * channels_ + k] = 1;  // NaN without power
      }
    }
  }
}

}  // namespace ridge::cli
