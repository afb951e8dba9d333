// Values of a long transform by their definition, to compare a few of millions.
#pragma once
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "fft/variant.hpp"

namespace ridge::fft {

// sum over j of points[j] exp(-+ 2 pi i j k / n) for every k of `wanted`, n points, on all threads. The error is a few
// units of double relative to the root of the sum of squares.
std::vector<std::complex<double>> direct_values(std::span<const std::complex<double>> points, Direction direction,
                                                std::span<const std::uint64_t> wanted);

}  // namespace ridge::fft
