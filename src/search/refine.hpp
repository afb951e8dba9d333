// Measures a candidate again with exact delays: finer dispersion measures, widths and times around a detection.
#pragma once
#include <cstddef>
#include <cstdint>

#include "search/detections.hpp"
#include "search/layout.hpp"

namespace ridge::search {

struct RefineJob {
  const Layout& layout;       // of the segment's plan
  const std::uint8_t* plane;  // channels x layout.row
  std::size_t columns;        // valid samples of the plane
  std::size_t trial;          // within the segment
  std::size_t begin, width;   // of the detected boxcar, in samples of the segment
  std::size_t widest;
  Normal normal;  // of the trial's series
};

struct Refined {
  double delay = 0;  // of the whole band, in samples
  std::size_t begin = 0, width = 0;
  double snr = 0;
};

Refined refine(const RefineJob& job);

}  // namespace ridge::search
