// Filters and interpolation weights of the pipeline, computed once in double precision.
#pragma once
#include <complex>
#include <vector>

#include <ridge/sar.hpp>

namespace ridge::sar {

inline constexpr int kTaps = 16;         // of the interpolation along range
inline constexpr int kFractions = 1024;  // interpolation positions between two range cells

struct Tables {
  std::vector<std::complex<double>> compression;  // per range frequency: inverse of the chirp, weighted by the window
  std::vector<float> stretch;                     // per Doppler bin: range migration / range; 0 outside the band
  std::vector<float> taps;                        // [fraction][tap], fractions 0 to kFractions inclusive
  std::vector<Complex> azimuth;  // [range][Doppler]: inverse of the Doppler history, weighted by the window
  float first_range = 0;         // range of row 0, in range cells
};

// Range compression filter of every pulse, per range frequency.
std::vector<std::complex<double>> range_compression(const Problem& problem);

Tables make_tables(const Problem& problem);

}  // namespace ridge::sar
