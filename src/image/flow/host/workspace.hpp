// Memory of one run of the flow on the host: allocated with the plan, used by one caller at a time.
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "base/aligned.hpp"
#include "image/flow/host/kernels.hpp"
#include "image/flow/plane.hpp"
#include "image/flow/reference.hpp"

namespace ridge::image::flow {

struct WordPlane {
  Size size = {};
  int border = 0;
  base::AlignedArray<std::uint32_t> cells = {};
  WordPlane() = default;
  WordPlane(Size size_, int border_);
  std::size_t pitch() const { return static_cast<std::size_t>(size.columns + 2 * border); }
  std::uint32_t* row(int r) {  // starting at column 0
    return cells.data() + static_cast<std::size_t>(r + border) * pitch() + border;
  }
  const std::uint32_t* row(int r) const { return const_cast<WordPlane*>(this)->row(r); }
  Words words() const { return {row(0), static_cast<std::ptrdiff_t>(pitch())}; }
};

// The flow of one direction at one level.
struct LevelFlow {
  base::AlignedArray<float> u, v;
  base::AlignedArray<std::uint8_t> mask,
      level;  // mask: pixels to search; level: block sizes from which the others are filled
  base::AlignedArray<std::uint8_t> regular;  // of this level's flow
};

struct Level {
  Size size = {};
  std::array<WordPlane, 2> frames;
  std::array<LevelFlow, 2> flows;  // forward and backward
  base::AlignedArray<std::uint8_t> seen;
};

// Layout of the cross-bilateral filter's sums: one part per band of rows, with space for the `reach` rows below the
// band that its pixels contribute to.
struct Bands {
  int rows = 0;  // of a band
  int reach = 0;
  std::ptrdiff_t pitch = 0;
  std::size_t each = 0;  // floats per band
  int count(Size size) const { return (size.rows + rows - 1) / rows; }
};

struct Workspace {
  std::vector<Level> levels;  // finest first
  std::array<base::AlignedArray<float>, 2> sums;
  std::vector<base::AlignedArray<float>> scratch;       // one per thread
  std::array<base::AlignedArray<float>, 2> smooth;      // of the finest level, before the last Gaussian
  std::vector<base::AlignedArray<std::int32_t>> lines;  // one per thread: rows of the pyramid
};

// Small stages of the flow on the host: selects the pixels to search, and fills the others, some rows per call.

// Each processes rows [begin, end); the results equal the reference's.
void mark_regular(LevelFlow& flow, Size size, int radius, float threshold, int begin, int end);
void mark_seen(Level& level, float threshold, int begin, int end);
void select_aligned_rows(const LevelFlow& coarse, Size coarse_size, LevelFlow& fine, Size size, int begin,
                         int end);  // coarse rows
void select_scan_order(const LevelFlow& coarse, Size coarse_size, LevelFlow& fine, Size size);
void fill_aligned_rows(LevelFlow& flow, Size size, int begin, int end);  // begin is a multiple of the largest block
void fill_scan_order(LevelFlow& flow, Size size);

// Image pyramid of the flow on the host: frames as words with a border, downscaled by two per level.
void pack_row(const Image& frame, int r, WordPlane& to);  // 8-bit, 1, 3 or 4 channels
// Computes row r of the downscaled picture from the taps of each output; `lines` holds 4 * its columns.
void halve_row(const WordPlane& in, const std::vector<Tap>& down, const std::vector<Tap>& across, int r, WordPlane& out,
               std::int32_t* lines);
void reflect_sides(WordPlane& plane, int r);  // fills the border columns on both sides of a row
void reflect_rows(WordPlane& plane);          // fills the border rows; the rows' sides must be filled before

}  // namespace ridge::image::flow
