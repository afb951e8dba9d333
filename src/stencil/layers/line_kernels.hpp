// Kernel text for layers computed line by line along their axis.
#pragma once
#include <string>

#include "stencil/layers/layers.hpp"

namespace ridge::stencil {

// Numbers of the kernels' table for one side: the band's first cell along the axis, counted from the first changing
// one; the first memory variable and profile; and the cells of the band whose profiles are not all zero.
enum LineNumber : std::size_t { kBegin, kMemory, kProfile, kLiveBegin, kLiveEnd, kLineNumbers };

constexpr std::size_t kLineItems = 128;  // work-items of a group along z and y: one line each
constexpr std::size_t kRowItems = 256;   // along x: one cell of kRowPasses rows each
constexpr std::size_t kRowPasses = 4;
constexpr std::size_t kWidestLine = 32;  // cells of a line, with what it reads on both sides

inline std::size_t line_cells(const LayerPlace& place) { return place.extent[place.axis] + 2 * place.radius; }
// Rows that a group of a launch along x computes.
inline std::size_t rows_of_group(const LayerPlace& place) { return kRowPasses * (kRowItems / line_cells(place)); }

template <class T>
std::string line_kernel_text(const LoweredLayer<T>& layer, const Layout& layout);
std::string line_kernel_name(std::size_t axis);

}  // namespace ridge::stencil
