// Operator median: the median of a square of pixels, per channel.
#include <algorithm>

#include <fmt/format.h>

#include "image/operators/definition.hpp"

namespace ridge::image {

AddRows<Median> median_rows;        // host.cpp
MakeNative<Median> native_median;   // native.cpp: 3x3 and 5x5
AddTileStages<Median> median_tile;  // device.cpp

namespace {

Plain plain_median(const Median& o, const Reference& call) {
  const Edges at = call.edges();
  const auto radius = static_cast<std::ptrdiff_t>(o.radius);
  return call.each(call.like_input(), [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
    std::vector<double> values;
    for (std::ptrdiff_t i = -radius; i <= radius; ++i) {
      for (std::ptrdiff_t j = -radius; j <= radius; ++j) values.push_back(at(r + i, c + j, k));
    }
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  });
}

}  // namespace

template <>
const Definition<Median>& definition<Median>() {
  static const Definition<Median> median{
      .info = OperatorInfo{.name = "median",
                           .syntax = "median RADIUS",
                           .help = "median of (2 RADIUS + 1) x (2 RADIUS + 1) pixels, per channel",
                           .parameters = {{.name = "RADIUS",
                                           .help = "pixels on either side of the centre",
                                           .kind = OperatorParameter::Kind::whole,
                                           .most = 64}},
                           .border = Border::replicate,
                           .examples = {"median 1", "median 2"}},
      .parse = [](Words& words) { return Median{words.count("radius")}; },
      .print = [](const Median& o) { return fmt::format("median {}", o.radius); },
      .shape =
          [](const Median& o, const Shape& in) {
            if (o.radius > 64) throw refusal(o, fmt::format("needs a radius of at most 64, got {}", o.radius));
            return in;
          },
      .reference = plain_median,
      .rows = median_rows,
      .native = native_median,
      .tile = median_tile};
  return median;
}

}  // namespace ridge::image
