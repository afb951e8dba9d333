// A bitmap font of 5 by 7 pixels for legends.
#pragma once
#include <array>
#include <cstdint>

namespace ridge::io {

inline constexpr std::size_t kGlyphWidth = 5, kGlyphHeight = 7, kGlyphPitch = 6;

// Rows from the top, five bits each, leftmost pixel in the highest bit. Capitals are drawn as small letters; unknown
// characters as a box.
std::array<std::uint8_t, kGlyphHeight> glyph(char letter);

}  // namespace ridge::io
