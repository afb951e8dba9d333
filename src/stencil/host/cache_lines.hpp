// Rounding of rows to whole cache lines.
#pragma once
#include <cstddef>

namespace ridge::stencil {

constexpr std::size_t kLine = 64;  // bytes

constexpr std::size_t round_up(std::size_t value, std::size_t grain) { return (value + grain - 1) / grain * grain; }

}  // namespace ridge::stencil
