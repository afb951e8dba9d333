// Stages of a tile kernel: each stage computes a pixel from a few pixels of the previous stage. The two passes of a
// separable filter are two stages, the first of which is not rounded.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "image/methods/device/steps.hpp"

namespace ridge::image::on_device {

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

// Pixels of its input that a stage reads for one result: the one at the same position, a window around it, or any.
enum class Reads { pixel, window, anywhere };

struct StageText;

struct TileStage {
  std::function<void(StageText& text)> write = {};  // writes the statements that compute v[] of one pixel
  Reads reads = Reads::window;
  double operations = 1;  // per pixel read, relative to a multiplication by a weight
  Shape in = {}, out = {};
  bool rounded = false;  // to integers of out.depth; otherwise float
  AxisTaps down = {}, across = {};
  bool has_border = false;  // reads beyond its input, with `border`
  Border border = Border::reflect_101;
  double constant = 0;
  std::vector<double> weights = {};  // the table weights_k of the kernel
  bool guided = false;               // reads the second image too
  bool many() const { return reads == Reads::window; }
};

// Text of one stage: statements that compute the channels v[] of the result at position (y, x) of its region.
struct StageText {
  template <class... Parts>
  void line(fmt::format_string<Parts...> format, Parts&&... parts) {
    text += fmt::format(format, std::forward<Parts>(parts)...) + "\n";
  }
  // Reads the input's channels at a position of its region to the array `to`: at_3(PASSED, y + i, x + j, s);
  std::string read(const std::string& y, const std::string& x, const char* to) const {
    return fmt::format("at_{}(PASSED, {}, {}, {});", number, y, x, to);
  }
  void clear() { line("  UNROLL\n  for (int c = 0; c < {}; ++c) v[c] = 0.0f;", channels); }

  std::string& text;
  const TileStage& stage;
  std::size_t number = 1;                         // of the stage in the kernel, from 1 on
  std::size_t channels = 1;                       // of the stage's input, also in the array s[]
  Shape guide = {};                               // shape of the second image
  bool private_arrays_in_registers;               // of the device
  bool nested = false;                            // the input is computed where it is read
  std::size_t first_place = 0, first_weight = 0;  // of the stage's tables in places[] and weights[]
};

// Weighted sums: down a column or along a row (positions come from a table or have a constant step), or over a window.
void write_down(StageText& text);
void write_across(StageText& text);
void write_window(StageText& text);

AxisTaps centred_taps(std::size_t taps, std::size_t step = 1);

// Appends the stages of one operator to those of the operators before it.
class StageList {
 public:
  StageList(const Operation& operation, const Chain& chain, Shape& in, std::vector<TileStage>& stages)
      : operation_(operation), chain_(chain), in_(in), stages_(stages) {}
  const Shape& in() const { return in_; }
  // A stage from the present shape to `out`, with the operator's border.
  TileStage stage(const Shape& out, std::function<void(StageText& text)> write) const;
  // A stage of the input's shape that reads `rows` x `columns` pixels around each result.
  TileStage window(std::size_t rows, std::size_t columns, std::function<void(StageText& text)> write) const;
  bool add(TileStage stage);                 // returns true
  bool add_product(const Product& product);  // the stages of a separable filter; returns true

 private:
  const Operation& operation_;
  const Chain& chain_;
  Shape& in_;
  std::vector<TileStage>& stages_;
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

// Stage results are kept in local memory, or recomputed where they are read (`keep` false).
struct TileDesign {
  int rows = 32, columns = 32;
  bool keep = true;
};

// Cost and refusal of computing these stages in one launch.
StepPlan tile_plan(const Device& device, const Chain& chain, const std::vector<TileStage>& stages,
                   const TileDesign& design);
// Stages of all operations; false if one has no stages.
bool stages_of(const Chain& chain, const std::vector<Operation>& operations, const Shape& in,
               std::vector<TileStage>& stages);

}  // namespace ridge::image::on_device
