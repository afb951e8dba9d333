// The two stages that take the time, as kernels over plain memory: no header with inline code, since the files that
// include this are compiled for different instruction sets.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "image/flow/constants.hpp"

namespace ridge::image::flow {

// A picture as words R | G << 8 | B << 16, `cells` at its first pixel, with a border reflected at the edges.
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

// Sums of the cross-bilateral filter over a band of rows: every pair of pixels once, its weight added to both ends.
struct FilterJob {
  Words guide;
  int rows, columns, radius;
  const uint8_t* seen;
  const float *u, *v;
  float color_slope, space_slope;
};
// Where a band's sums go: u, v and weights of a row beside each other, `pitch` floats each, from column -radius on;
// rows from the band's first to radius + 1 beyond its last. Zeroed by the caller.
struct FilterSums {
  float* cells;
  ptrdiff_t pitch;
};

struct Kernels {
  const char* name;  // "NEON with dot products"
  // Rows [begin, end) of the mask's pixels; begin is even.
  void (*search)(const SearchJob& job, int begin, int end);
  // A band of rows [begin, end), an even number of them or up to the last row. Columns a band's pitch must have beyond
  // columns + 2 * radius, and floats of scratch.
  ptrdiff_t (*filter_pitch)(int columns, int radius);
  size_t (*filter_scratch)(int radius);
  void (*filter)(const FilterJob& job, int begin, int end, const FilterSums& sums, float* scratch);
  float (*own_weight)(const FilterJob& job);  // what the weights are scaled by: that of a pixel with itself
};

// Null where the machine or the build lacks it.
const Kernels* dot_product_kernels();  // NEON with UABD and UDOT
const Kernels* portable_kernels();     // Highway

}  // namespace ridge::image::flow
