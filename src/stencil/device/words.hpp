// Small helpers for kernel text.
#pragma once
#include <array>
#include <string>

namespace ridge::stencil {

constexpr std::array<char, 3> kAxisNames{'z', 'y', 'x'};
constexpr std::array<const char*, 3> kSide{"planes", "height", "width"};  // kernel parameters: cells along each axis

// A number as part of a name: m1 is -1.
inline std::string signed_word(int value) {
  return (value < 0 ? "m" : "") + std::to_string(value < 0 ? -value : value);
}

// Number of parts of a given length that cover another length.
inline int pieces(int length, int piece) { return (length + piece - 1) / piece; }

}  // namespace ridge::stencil
