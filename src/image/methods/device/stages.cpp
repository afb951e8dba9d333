// Building blocks of tile stages, and the layout of their regions in local memory.
#include "image/methods/device/stages.hpp"

#include <algorithm>

namespace ridge::image::on_device {
namespace {

std::size_t element_bytes(const TileStage* stage, const Shape& input) {
  if (stage == nullptr) return bytes_of(input.depth);
  return stage->rounded ? bytes_of(stage->out.depth) : 4;
}

}  // namespace

AxisTaps centred_taps(std::size_t taps, std::size_t step) {
  const int n = static_cast<int>(taps);
  return {.step = static_cast<int>(step), .before = n / 2, .after = n - 1 - n / 2};
}

TileStage StageList::stage(const Shape& out, std::function<void(StageText& text)> write) const {
  TileStage made;
  made.write = std::move(write);
  made.in = in_;
  made.out = out;
  made.rounded = out.depth != Depth::f32;
  made.border = border_for(operation_, chain_.given);
  made.constant = chain_.constant;
  return made;
}

TileStage StageList::window(std::size_t rows, std::size_t columns, std::function<void(StageText& text)> write) const {
  TileStage made = stage(output_shape(operation_, in_), std::move(write));
  made.has_border = true;
  made.down = centred_taps(rows);
  made.across = centred_taps(columns);
  return made;
}

bool StageList::add(TileStage stage) {
  in_ = stage.out;
  stages_.push_back(std::move(stage));
  return true;
}

bool StageList::add_product(const Product& product) {
  Shape half = in_, out = in_;
  if (product.step == 2) {
    half.rows = (in_.rows + 1) / 2;
    out.rows = half.rows;
    out.columns = (in_.columns + 1) / 2;
  }
  TileStage down = stage(half, write_down), across = stage(out, write_across);
  down.rounded = false;
  down.has_border = true;
  down.down = centred_taps(product.down.size(), product.step);
  down.weights = product.down;
  across.in = half;
  across.across = centred_taps(product.across.size(), product.step);
  across.weights = product.across;
  add(std::move(down));
  return add(std::move(across));
}

int AxisTaps::input(int output) const {
  if (from.empty()) return step * (output - 1) + before + after + 1;
  const int places = static_cast<int>(from.size());
  int most = 0;
  for (int first = 0; first < places; ++first) {
    const int last = std::min(first + output, places) - 1;
    most = std::max(most, from[static_cast<std::size_t>(last)] + taps - from[static_cast<std::size_t>(first)]);
  }
  return most;
}

bool fold_ends(AxisTaps& axis_taps, std::size_t length, Border border, double constant) {
  const auto taps = static_cast<std::size_t>(axis_taps.taps);
  const auto size = static_cast<std::ptrdiff_t>(length);
  AxisTaps folded = axis_taps;
  for (std::size_t i = 0; i < axis_taps.from.size(); ++i) {
    const std::ptrdiff_t from = axis_taps.from[i];
    if (from >= 0 && from + axis_taps.taps <= size) continue;
    if (size < axis_taps.taps) return false;
    const std::ptrdiff_t first = std::clamp<std::ptrdiff_t>(from, 0, size - axis_taps.taps);
    folded.from[i] = static_cast<int>(first);
    float* weights = &folded.weights[i * taps];
    std::fill_n(weights, taps, 0.0f);
    for (std::size_t k = 0; k < taps; ++k) {
      const std::ptrdiff_t place = border_index(border, from + static_cast<std::ptrdiff_t>(k), size);
      if (place < 0 && constant == 0) continue;
      if (place < first || place >= first + axis_taps.taps) return false;
      weights[place - first] += axis_taps.weights[i * taps + k];
    }
  }
  axis_taps = std::move(folded);
  return true;
}

bool never_beyond(const Product& product) {
  double down = 0, across = 0, least = 0;
  for (const double w : product.down) {
    down += w;
    least = std::min(least, w);
  }
  for (const double w : product.across) {
    across += w;
    least = std::min(least, w);
  }
  return least >= 0 && down * across < 1.0001;
}

bool axis_taps_of_resize(const Chain& chain, const Link& link, ResizeAxisTaps& axes) {
  if (link.operations.size() != 1 || !std::holds_alternative<Resize>(link.operations.front())) return false;
  std::vector<TileStage> stages;
  Shape shape = link.in;
  add_stages(link.operations.front(), chain, shape, stages);
  axes = {stages[0].down, stages[1].across};
  return true;
}

TileLayout lay_out(const std::vector<TileStage>& stages, int rows, int columns, bool keep) {
  TileLayout layout{.rows = rows, .columns = columns};
  const std::size_t count = stages.size();
  layout.heights.assign(count + 1, rows);
  layout.widths.assign(count + 1, columns);
  layout.offsets.assign(count + 1, 0);
  layout.kept.assign(count + 1, false);
  for (std::size_t k = count; k-- > 0;) {
    layout.heights[k] = stages[k].down.input(layout.heights[k + 1]);
    layout.widths[k] = stages[k].across.input(layout.widths[k + 1]);
  }
  // Regions alternate between the two ends of local memory: one is read while the next is written.
  std::size_t ends[2] = {0, 0}, side = 0;
  for (std::size_t k = 0; keep && k < count; ++k) {
    if (!stages[k].many()) continue;
    const std::size_t bytes = static_cast<std::size_t>(layout.heights[k]) * static_cast<std::size_t>(layout.widths[k]) *
                              stages[k].in.channels * element_bytes(k == 0 ? nullptr : &stages[k - 1], stages[0].in);
    layout.kept[k] = true;
    layout.offsets[k] = side;  // index of the end, replaced by its offset below
    ends[side] = std::max(ends[side], (bytes + 15) / 16 * 16);
    side = 1 - side;
  }
  for (std::size_t k = 0; k < count; ++k) layout.offsets[k] = layout.offsets[k] == 0 ? 0 : ends[0];
  layout.bytes = ends[0] + ends[1];
  const double out = static_cast<double>(stages.back().out.rows) * static_cast<double>(stages.back().out.columns);
  const double in = static_cast<double>(stages.front().in.rows) * static_cast<double>(stages.front().in.columns);
  layout.again = out / (static_cast<double>(rows) * columns) * layout.heights[0] * layout.widths[0] / in;
  return layout;
}

}  // namespace ridge::image::on_device
