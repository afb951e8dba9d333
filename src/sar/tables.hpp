// What the pipeline multiplies with, computed once in double.
#pragma once
#include <complex>
#include <vector>

#include <ridge/sar.hpp>

namespace ridge::sar {

inline constexpr int kTaps = 16;         // of the interpolation along range
inline constexpr int kFractions = 1024;  // places between two cells

struct Tables {
  std::vector<std::complex<double>> compression;  // a range frequency each: undoes the chirp, weights the band
  std::vector<float> stretch;                     // a Doppler bin each: migration as a share of the range; 0 outside
  std::vector<float> taps;                        // [fraction][tap], fractions 0 to kFractions inclusive
  std::vector<Complex> azimuth;                   // [range][Doppler]: undoes the Doppler history, weights the band
  float first_range = 0;                          // of row 0, in range cells
};

Tables make_tables(const Problem& problem);

}  // namespace ridge::sar
