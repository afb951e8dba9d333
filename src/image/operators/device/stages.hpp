// Operators as stages that a kernel does one after the other on a tile: each makes a pixel from some pixels of what
// came before it. Two passes of a filter are two stages, the first of which is not rounded.
#pragma once
#include <string>
#include <vector>

#include "image/operators/device/steps.hpp"
#include "image/operators/settings.hpp"

namespace ridge::image::on_device {

enum class StageKind { gray, convolve, down, across, gradient, median, bilateral, resize_down, resize_across, rotate };

// What a stage looks at along one axis: step * place - before to step * place + after, or, where `from` is not empty,
// `taps` from from[place] on.
struct Look {
  int step = 1, before = 0, after = 0;
  std::vector<int> from = {};
  int taps = 1;
  std::vector<float> weights = {};  // with `from`: taps a place
  int input(int output) const;      // how many places of the input a stretch of the output needs
};

// Taps beyond the ends of an axis of `length` as weights of what stands there, so that nothing is looked for beyond.
// False where that does not lie among the taps, or is a constant.
bool fold_ends(Look& look, std::size_t length, Border border, double constant);

// What a link that is one resize looks at; false for any other.
struct ResizeLooks {
  Look down = {}, across = {};
};
bool looks_of_resize(const Chain& chain, const Link& link, ResizeLooks& looks);

struct TileStage {
  StageKind kind = StageKind::gray;
  Shape in = {}, out = {};
  bool rounded = false;  // to whole numbers of out.depth; else float
  Look down = {}, across = {};
  bool has_border = false;  // looks beyond its input, as `border` says
  Border border = Border::reflect_101;
  double constant = 0;
  std::vector<double> weights = {};  // of convolve, down, across
  int radius = 0;                    // median, bilateral
  double space = 0, color = 0;       // bilateral: exponents of two, a squared distance
  bool absolute = false;             // bilateral: colours differ by the sum of absolute differences
  bool guided = false;
  Gradient gradient = {};
  Rotate rotate = {};
  bool many() const { return kind != StageKind::gray && kind != StageKind::rotate; }
};

// False for an operator that is none (integral, transpose, turns by quarters). `in` becomes what comes out.
bool add_stages(const Operation& operation, const Chain& chain, Shape& in, std::vector<TileStage>& stages);

// Bytes of local memory, regions by region, of a tile of the last stage's output.
struct TileLayout {
  int rows = 0, columns = 0;                   // of the tile
  std::vector<int> heights = {}, widths = {};  // of the regions, the input's first, the tile last
  std::vector<std::size_t> offsets = {};       // where a region is kept; those that are not have none
  std::vector<bool> kept = {};
  std::size_t bytes = 0;
  double again = 1;  // how often the first region is read, pixels of the input being 1
};
TileLayout lay_out(const std::vector<TileStage>& stages, int rows, int columns, bool keep);

KernelSource tile_source(const std::vector<TileStage>& stages, const TileLayout& layout, const Shape& guide,
                         const Limits& limits);

}  // namespace ridge::image::on_device
