// The two most expensive stages of the flow as kernels over plain memory. No header with inline code is included,
// because the files that include this one are compiled for different instruction sets.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "image/flow/constants.hpp"

namespace ridge::image::flow {

// A picture as words R | G << 8 | B << 16, with a reflected border; `cells` points to its first pixel.
struct Words {
  const uint32_t* cells;
  ptrdiff_t pitch;  // words
};

// Search with radius 2 and reach 4. `mask` and the flow are packed rows x columns.
struct SearchJob {
  Words from, to;  // borders of kSearchBorder
  int rows, columns;
  const uint8_t* mask;
  float *u, *v;
  float color_slope, space_slope;
};
inline constexpr int kSearchRadius = 2, kSearchReach = 4;
inline constexpr int kSearchBorder = 2 + 4 + 2;  // radius, reach, and what vectors read beyond

// Sums of the cross-bilateral filter over a band of rows: each pair of pixels is visited once, its weight added to
// both.
struct FilterJob {
  Words guide;
  int rows, columns, radius;
  const uint8_t* seen;
  const float *u, *v;
  float color_slope, space_slope;
};
// Destination of a band's sums: per row u, v and weights of `pitch` floats each, from column -radius on. Rows run from
// the band's first to radius + 1 beyond its last. Zeroed by the caller.
struct FilterSums {
  float* cells;
  ptrdiff_t pitch;
};

struct Kernels {
  const char* name;  // "NEON with dot products"
  // Rows [begin, end) of the mask's pixels; begin is even.
  void (*search)(const SearchJob& job, int begin, int end);
  // `filter` processes a band of rows [begin, end): an even number of rows, or up to the last row. filter_pitch: least
  // pitch of the band's sums, in floats. filter_scratch: floats of scratch memory.
  ptrdiff_t (*filter_pitch)(int columns, int radius);
  size_t (*filter_scratch)(int radius);
  void (*filter)(const FilterJob& job, int begin, int end, const FilterSums& sums, float* scratch);
  float (*own_weight)(const FilterJob& job);  // weight of a pixel with itself: the scale of all weights
};

// Null if the machine or the build does not support it.
const Kernels* dot_product_kernels();  // NEON with UABD and UDOT
const Kernels* portable_kernels();     // Highway

}  // namespace ridge::image::flow
