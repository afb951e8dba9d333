// Measures a candidate again with exact delays: finer dispersion measures, widths and times around a detection.
#pragma once
#include <cstddef>
#include <cstdint>

#include "search/detections.hpp"
#include "search/layout.hpp"

namespace ridge::search {

struct RefineJob {
  const std::vector<double>& slope;  // per channel, as in Layout
  const std::uint8_t* plane;         // channels x stride, at the finest sample interval
  std::size_t stride, columns;       // columns: valid samples
  double delay, spacing;             // of the detected trial, between trials; in samples
  double shortest, longest;          // of the first and the last trial of all segments: no other delays are tried
  std::size_t begin, width;          // of the detected boxcar, in samples
  std::size_t narrowest, widest;     // boxcars to try
  Normal normal;                     // of the series
};

struct Refined {
  double delay = 0;  // of the whole band, in samples
  std::size_t begin = 0, width = 0;
  double snr = 0;
};

Refined refine(const RefineJob& job);

}  // namespace ridge::search
