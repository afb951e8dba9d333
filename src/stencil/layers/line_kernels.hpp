// Kernel text for layers computed line by line along their axis.
#pragma once
#include <string>

#include "stencil/layers/layers.hpp"

namespace ridge::stencil {

// Numbers of the kernels' table for one side: the band's first cell along the axis, counted from the first changing
// one; the first memory variable and profile; and the cells of the band whose profiles are not all zero.
enum LineNumber : std::size_t { kBegin, kMemory, kProfile, kLiveBegin, kLiveEnd, kLineNumbers };

constexpr std::size_t kLineItems = 128;  // work-items of a group along z and y: one line each
constexpr std::size_t kPart = 4;         // cells of a row that a work-item computes
constexpr std::size_t kWidestLine = 32;  // cells of a line, with what it reads on both sides

inline std::size_t line_cells(const LayerPlace& place) { return place.extent[place.axis] + 2 * place.radius; }
inline std::size_t row_parts(const LayerPlace& place) { return (place.extent[2] + kPart - 1) / kPart; }  // per row
// Work-items and rows of a group along x. ptxas limits larger groups to 40 registers and spills.
constexpr std::size_t kRowItems = 96;
inline std::size_t tile_rows(const LayerPlace& place) { return kRowItems / row_parts(place); }
inline std::size_t row_items(const LayerPlace& place) { return tile_rows(place) * row_parts(place); }
// True if the profiles of a cell are stored together.
template <class T>
bool line_profile_quads(std::size_t profiles) {
  return sizeof(T) == sizeof(float) && profiles == 4;
}

// `aligned`: rows of the grid start at multiples of four cells (padded_layout()).
template <class T>
std::string line_kernel_text(const LoweredLayer<T>& layer, const Layout& layout, bool aligned);
std::string line_kernel_name(std::size_t axis);

}  // namespace ridge::stencil
