// Small stages of the flow on the host: selects the pixels to search, and fills the others, some rows per call.
#pragma once
#include "image/flow/host/workspace.hpp"

namespace ridge::image::flow {

// Each processes rows [begin, end); the results equal the reference's.
void mark_regular(LevelFlow& flow, Size size, int radius, float threshold, int begin, int end);
void mark_seen(Level& level, float threshold, int begin, int end);
void select_aligned_rows(const LevelFlow& coarse, Size coarse_size, LevelFlow& fine, Size size, int begin,
                         int end);  // coarse rows
void select_scan_order(const LevelFlow& coarse, Size coarse_size, LevelFlow& fine, Size size);
void fill_aligned_rows(LevelFlow& flow, Size size, int begin, int end);  // begin is a multiple of the largest block
void fill_scan_order(LevelFlow& flow, Size size);

}  // namespace ridge::image::flow
