// Stages of a tile kernel: each stage computes a pixel from a few pixels of the previous stage. The two passes of a
// separable filter are two stages, the first of which is not rounded.
#pragma once
#include <string>
#include <vector>

#include "image/operators/device/steps.hpp"
#include "image/operators/settings.hpp"

namespace ridge::image::on_device {

enum class StageKind { gray, convolve, down, across, gradient, median, bilateral, resize_down, resize_across, rotate };

// Input positions that a stage reads along one axis: step * i - before to step * i + after, or, if `from` is not empty,
// `taps` positions from from[i] on.
struct AxisTaps {
  int step = 1, before = 0, after = 0;
  std::vector<int> from = {};
  int taps = 1;
  std::vector<float> weights = {};  // with `from`: `taps` weights per position
  int input(int output) const;      // input positions needed for `output` neighbouring results, at most
};

// Replaces taps beyond the ends of an axis of `length` by weights of the pixels that the border repeats, so that
// kernels need no bounds checks. Returns false if such a pixel is not among the taps or is a constant other than 0.
bool fold_ends(AxisTaps& axis_taps, std::size_t length, Border border, double constant);

// Input positions of a link that is a single resize; false for other links.
struct ResizeAxisTaps {
  AxisTaps down = {}, across = {};
};
bool axis_taps_of_resize(const Chain& chain, const Link& link, ResizeAxisTaps& axes);

struct TileStage {
  StageKind kind = StageKind::gray;
  Shape in = {}, out = {};
  bool rounded = false;  // to integers of out.depth; otherwise float
  AxisTaps down = {}, across = {};
  bool has_border = false;  // reads beyond its input, with `border`
  Border border = Border::reflect_101;
  double constant = 0;
  std::vector<double> weights = {};  // of convolve, down, across
  int radius = 0;                    // median, bilateral
  double space = 0, color = 0;       // bilateral: exponent of two per squared distance
  bool absolute = false;             // bilateral: the colour distance is the sum of absolute differences
  bool guided = false;
  Gradient gradient = {};
  Rotate rotate = {};
  bool many() const { return kind != StageKind::gray && kind != StageKind::rotate; }
};

// Appends the stages of an operator and sets `in` to its output shape. Returns false if the operator has no per-pixel
// stage (integral, transpose, 90-degree rotations).
bool add_stages(const Operation& operation, const Chain& chain, Shape& in, std::vector<TileStage>& stages);

// Regions of a tile: the part of each stage's input that one tile needs, and its place in local memory.
struct TileLayout {
  int rows = 0, columns = 0;                   // size of the tile
  std::vector<int> heights = {}, widths = {};  // of the regions: first the input, last the tile
  std::vector<std::size_t> offsets = {};       // in local memory, for regions that are kept
  std::vector<bool> kept = {};
  std::size_t bytes = 0;
  double again = 1;  // pixels read by all tiles, divided by the pixels of the input
};
TileLayout lay_out(const std::vector<TileStage>& stages, int rows, int columns, bool keep);

KernelSource tile_source(const std::vector<TileStage>& stages, const TileLayout& layout, const Shape& guide,
                         const Limits& limits);

}  // namespace ridge::image::on_device
