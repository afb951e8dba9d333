// What a bank really does, measured through the bank itself: tones off the channels' centres, noise there and back.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include <ridge/filterbank.hpp>

namespace ridge::filterbank {

// The loudest channel beyond `beyond` channels from a tone `off` channels beside a channel's centre, in dB of the
// loudest of all, through the float bank.
double leakage_of_tone_db(const Device& device, std::span<const double> prototype, std::size_t channels, double off,
                          double beyond = 1.5);

// Analysis and synthesis of noise: what is left of the difference, in dB of the noise. `length` as in dual().
double reconstruction_db(const Device& device, std::span<const double> prototype, std::size_t channels, Ratio ratio,
                         double length = 1.5);

// Ratios n / (n - 1) and n / (n - d) from 8/7 to 4 that a number of channels allows.
std::vector<Ratio> oversampling_ratios(std::size_t channels);

}  // namespace ridge::filterbank
