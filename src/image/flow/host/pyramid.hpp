// Image pyramid of the flow on the host: frames as words with a border, downscaled by two per level.
#pragma once
#include "image/flow/host/workspace.hpp"

namespace ridge::image::flow {

void pack_row(const Image& frame, int r, WordPlane& to);  // 8-bit, 1, 3 or 4 channels
// Computes row r of the downscaled picture from the taps of each output; `lines` holds 4 * its columns.
void halve_row(const WordPlane& in, const std::vector<Tap>& down, const std::vector<Tap>& across, int r, WordPlane& out,
               std::int32_t* lines);
void reflect_sides(WordPlane& plane, int r);  // fills the border columns on both sides of a row
void reflect_rows(WordPlane& plane);          // fills the border rows; the rows' sides must be filled before

}  // namespace ridge::image::flow
