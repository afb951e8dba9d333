// The definition of the filter bank, computed directly in double precision.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <ridge/filterbank.hpp>

namespace ridge::filterbank {

// Computes `spectra` spectra from number `first` on, of one polarization of one station. `samples` begins with sample
// number `start`; samples before and after are 0. A station that is read d samples later has start = -d. Bandpass and
// delay phases are not applied.
std::vector<std::complex<double>> reference(const Problem& problem, std::span<const std::complex<double>> samples,
                                            std::uint64_t first, std::size_t spectra, std::int64_t start = 0);

// Decodes one sample. `index` counts complex samples.
std::complex<double> sample_at(Samples type, const std::byte* bytes, std::size_t index);

// Decodes one polarization of one station of a stream that begins with `bytes`.
std::vector<std::complex<double>> station_samples(const Problem& problem, std::span<const std::byte> bytes,
                                                  std::size_t station, std::size_t polarization);

}  // namespace ridge::filterbank
