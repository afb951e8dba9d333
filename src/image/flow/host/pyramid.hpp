// Frames as words with a border, and their halves.
#pragma once
#include "image/flow/host/workspace.hpp"

namespace ridge::image::flow {

void pack_row(const Image& frame, int r, WordPlane& to);  // 8-bit, 1, 3 or 4 channels
// Row r of the half, by the taps of each output; `lines` holds 4 * its columns.
void halve_row(const WordPlane& in, const std::vector<Tap>& down, const std::vector<Tap>& across, int r, WordPlane& out,
               std::int32_t* lines);
void reflect_sides(WordPlane& plane, int r);  // columns beyond both ends of a row
void reflect_rows(WordPlane& plane);          // rows beyond the first and the last, their sides done

}  // namespace ridge::image::flow
