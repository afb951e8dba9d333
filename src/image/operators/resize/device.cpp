// Stages of a tile kernel that resize: vertically, then horizontally, with tables of positions and weights.
#include <algorithm>

#include "image/methods/device/stages.hpp"
#include "image/operators/resize/taps.hpp"

namespace ridge::image {
namespace {

on_device::AxisTaps by_table(const std::vector<ResizeTap>& taps) {
  on_device::AxisTaps axis_taps;
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

}  // namespace

bool resize_tile(const Resize& o, on_device::StageList& stages) {
  const Shape in = stages.in(), out = output_shape(o, in);
  Shape half = in;
  half.rows = out.rows;
  on_device::TileStage down = stages.stage(half, on_device::write_down),
                       across = stages.stage(out, on_device::write_across);
  down.rounded = false;
  down.has_border = true;
  down.border = Border::replicate;
  const ResizeTaps taps = resize_taps(o, in);
  down.down = by_table(taps.down);
  across.in = half;
  across.across = by_table(taps.across);
  stages.add(std::move(down));
  return stages.add(std::move(across));
}

}  // namespace ridge::image
