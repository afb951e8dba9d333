// The definition of the filter bank, in double, slow and plain.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <ridge/filterbank.hpp>

namespace ridge::filterbank {

// `spectra` spectra from number `first` on of one station's one polarization, whose samples from number `start` on are
// given; those before and after are 0. A station read d samples further on has start = -d. Bandpass and phases apart,
// which are not one station's.
std::vector<std::complex<double>> reference(const Problem& problem, std::span<const std::complex<double>> samples,
                                            std::uint64_t first, std::size_t spectra, std::int64_t start = 0);

// One sample as numbers. `index` counts complex samples.
std::complex<double> sample_at(Samples type, const std::byte* bytes, std::size_t index);

// One polarization of one station of a stream that begins with `bytes`.
std::vector<std::complex<double>> station_samples(const Problem& problem, std::span<const std::byte> bytes,
                                                  std::size_t station, std::size_t polarization);

}  // namespace ridge::filterbank
