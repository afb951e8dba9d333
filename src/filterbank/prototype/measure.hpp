// Measurements of a filter bank through the bank itself: leakage of tones, and the round-trip error of noise through
// analysis and synthesis.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <ridge/filterbank.hpp>

namespace ridge::filterbank {

// Loudest channel more than `beyond` channels away from a tone `off` channels beside a channel's centre, in dB relative
// to the loudest of all channels, through the float bank.
double leakage_of_tone_db(const Device& device, std::span<const double> prototype, std::size_t channels, double off,
                          double beyond = 1.5);

// Round-trip error of noise through analysis and synthesis, in dB relative to the noise. `length` as in dual().
double reconstruction_db(const Device& device, std::span<const double> prototype, std::size_t channels, Ratio ratio,
                         double length = 1.5);

// Ratios n / (n - 1) and n / (n - d) from 8/7 to 4 that divide this number of channels.
std::vector<Ratio> oversampling_ratios(std::size_t channels);

// SVG plot of a prototype filter's frequency response.
// Gain in dB against the offset from a channel's centre, `channels_shown` channels to either side, with the curves of
// the adjacent channels, the channel edges and the worst leakage. Returns a complete SVG document.
std::string response_svg(std::span<const double> prototype, std::size_t channels, const Quality& quality,
                         double channels_shown = 4);

}  // namespace ridge::filterbank
