// Conversion of operators to tile stages, and the layout of their regions in local memory.
#include "image/operators/device/stages.hpp"

#include <algorithm>

#include "image/flow/weights.hpp"

namespace ridge::image::on_device {
namespace {

AxisTaps centred(std::size_t taps, std::size_t step = 1) {
  const int n = static_cast<int>(taps);
  return {.step = static_cast<int>(step), .before = n / 2, .after = n - 1 - n / 2};
}

AxisTaps by_table(const std::vector<ResizeTap>& taps) {
  AxisTaps axis_taps;
  for (const ResizeTap& tap : taps) axis_taps.taps = std::max(axis_taps.taps, static_cast<int>(tap.weights.size()));
  for (const ResizeTap& tap : taps) {
    axis_taps.from.push_back(static_cast<int>(tap.from));
    for (int k = 0; k < axis_taps.taps; ++k) {
      const auto at = static_cast<std::size_t>(k);
      axis_taps.weights.push_back(at < tap.weights.size() ? static_cast<float>(tap.weights[at]) : 0.0f);
    }
  }
  return axis_taps;
}

struct AddStages {
  const Operation& operation;
  const Chain& chain;
  Shape& in;
  std::vector<TileStage>& stages;

  TileStage stage(StageKind kind, const Shape& out) const {
    TileStage made;
    made.kind = kind;
    made.in = in;
    made.out = out;
    made.rounded = out.depth != Depth::f32;
    made.border = border_for(operation, chain.given);
    made.constant = chain.constant;
    return made;
  }
  bool add(TileStage stage) const {
    in = stage.out;
    stages.push_back(std::move(stage));
    return true;
  }
  bool product(const Product& weights) const {
    Shape half = in, out = in;
    if (weights.step == 2) {
      half.rows = (in.rows + 1) / 2;
      out.rows = half.rows;
      out.columns = (in.columns + 1) / 2;
    }
    TileStage down = stage(StageKind::down, half), across = stage(StageKind::across, out);
    down.rounded = false;
    down.has_border = true;
    down.down = centred(weights.down.size(), weights.step);
    down.weights = weights.down;
    across.in = half;
    across.across = centred(weights.across.size(), weights.step);
    across.weights = weights.across;
    add(std::move(down));
    return add(std::move(across));
  }
  bool operator()(const Convolve& o) const {
    if (Product weights; product_of(operation, in.depth, weights)) return product(weights);
    TileStage made = stage(StageKind::convolve, in);
    made.has_border = true;
    made.down = centred(o.rows);
    made.across = centred(o.columns);
    made.weights.assign(o.kernel.begin(), o.kernel.end());
    return add(std::move(made));
  }
  bool operator()(const Pyramid& o) const {
    for (std::size_t i = 0; i < o.levels; ++i) {
      const std::vector<double> weights(std::begin(kPyramidWeights), std::end(kPyramidWeights));
      product({weights, weights, 2});
    }
    return true;
  }
  bool operator()(const Median& o) const {
    TileStage made = stage(StageKind::median, in);
    made.has_border = true;
    made.radius = static_cast<int>(o.radius);
    made.down = made.across = centred(2 * o.radius + 1);
    return add(std::move(made));
  }
  bool bilateral(std::size_t radius, double space, double color, Like like, bool guided) const {
    TileStage made = stage(StageKind::bilateral, in);
    made.has_border = true;
    made.radius = static_cast<int>(radius);
    made.down = made.across = centred(2 * radius + 1);
    made.space = double{flow::slope_of(space)};
    made.color = double{flow::slope_of(color)};
    made.absolute = like == Like::opencv;
    made.guided = guided;
    return add(std::move(made));
  }
  bool operator()(const Bilateral& o) const { return bilateral(o.radius, o.sigma_space, o.sigma_color, o.like, false); }
  bool operator()(const CrossBilateral& o) const {
    return bilateral(o.radius, o.sigma_space, o.sigma_color, o.like, true);
  }
  bool operator()(const Resize& o) const {
    const Shape out = output_shape(o, in);
    Shape half = in;
    half.rows = out.rows;
    TileStage down = stage(StageKind::resize_down, half), across = stage(StageKind::resize_across, out);
    down.rounded = false;
    down.has_border = true;
    down.border = Border::replicate;
    const ResizeTaps taps = resize_taps(o, in);
    down.down = by_table(taps.down);
    across.in = half;
    across.across = by_table(taps.across);
    add(std::move(down));
    return add(std::move(across));
  }
  bool operator()(const Gradient& o) const {
    TileStage made = stage(StageKind::gradient, output_shape(operation, in));
    made.has_border = true;
    made.gradient = o;
    made.down = made.across = centred(3);
    return add(std::move(made));
  }
  bool operator()(const Rotate& o) const {
    if (quarter_turns(o)) return false;
    TileStage made = stage(StageKind::rotate, in);
    made.has_border = true;
    made.rotate = o;
    return add(std::move(made));
  }
  bool operator()(const Gray&) const { return add(stage(StageKind::gray, output_shape(operation, in))); }
  bool operator()(const Integral&) const { return false; }
  bool operator()(const Transpose&) const { return false; }
  template <class Filter>
  bool operator()(const Filter&) const {
    Product weights;
    product_of(operation, in.depth, weights);
    return product(weights);
  }
};

struct ProductOf {
  Depth depth;
  Product& product;
  bool operator()(const Separable& o) const {
    product = {{o.down.begin(), o.down.end()}, {o.across.begin(), o.across.end()}, 1};
    return true;
  }
  bool operator()(const Convolve& o) const {
    const auto terms = separable_terms(o, 1);
    if (terms.empty()) return false;
    product = {terms[0].down, terms[0].across, 1};
    return true;
  }
  bool operator()(const Gauss& o) const {
    const auto weights = gauss_weights(o.sigma, gauss_radius(o, depth));
    product = {weights, weights, 1};
    return true;
  }
  bool operator()(const Box& o) const {
    product = {std::vector<double>(o.rows, 1.0 / static_cast<double>(o.rows)),
               std::vector<double>(o.columns, 1.0 / static_cast<double>(o.columns)), 1};
    return true;
  }
  bool operator()(const Pyramid& o) const {
    const std::vector<double> weights(std::begin(kPyramidWeights), std::end(kPyramidWeights));
    product = {weights, weights, 2};
    return o.levels == 1;
  }
  template <class Other>
  bool operator()(const Other&) const {
    return false;
  }
};

std::size_t element_bytes(const TileStage* stage, const Shape& input) {
  if (stage == nullptr) return bytes_of(input.depth);
  return stage->rounded ? bytes_of(stage->out.depth) : 4;
}

}  // namespace

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

bool product_of(const Operation& operation, Depth depth, Product& product) {
  return std::visit(ProductOf{depth, product}, operation);
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

bool add_stages(const Operation& operation, const Chain& chain, Shape& in, std::vector<TileStage>& stages) {
  return std::visit(AddStages{operation, chain, in, stages}, operation);
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
