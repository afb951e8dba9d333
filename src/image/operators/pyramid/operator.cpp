// Operator pyramid: levels of Gaussian smoothing and downscaling by two.
#include <cmath>

#include <fmt/format.h>

#include "image/operators/definition.hpp"

namespace ridge::image {

MakeNative<Pyramid> native_pyramid;  // host.cpp
namespace on_device {
StepLister list_downscale_by_two;  // resize/device_downscale.cpp
}

namespace {

const std::vector<double> kBinomial = {1 / 16.0, 4 / 16.0, 6 / 16.0, 4 / 16.0, 1 / 16.0};

Product level_product() { return {kBinomial, kBinomial, 2}; }

Shape next_level(const Shape& in) { return {(in.rows + 1) / 2, (in.columns + 1) / 2, in.channels, in.depth}; }

Plain plain_pyramid(const Pyramid& o, const Reference& call) {
  Plain now = call.in;
  for (std::size_t level = 0; level < o.levels; ++level) {
    const Plain before = now;
    const Edges at{before, call.border, call.constant};
    now = Reference::each(
        {(before.rows + 1) / 2, (before.columns + 1) / 2, before.channels}, level + 1 == o.levels ? call.row_step : 1,
        [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
          double sum = 0;
          for (std::size_t i = 0; i < 5; ++i) {
            for (std::size_t j = 0; j < 5; ++j) {
              sum += kBinomial[i] * kBinomial[j] *
                     at(2 * r + static_cast<std::ptrdiff_t>(i) - 2, 2 * c + static_cast<std::ptrdiff_t>(j) - 2, k);
            }
          }
          return sum;
        });
    if (level + 1 < o.levels && call.depth != Depth::f32) {
      for (double& value : now.values) value = std::nearbyint(value);
    }
  }
  return now;
}

void pyramid_rows(const Pyramid& o, const Shape& in, std::size_t, Stages& stages) {
  Shape shape = in;
  for (std::size_t i = 0; i < o.levels; ++i) {
    stages.push_back(separable_stage(level_product(), shape, next_level(shape)));
    shape = next_level(shape);
  }
}

}  // namespace

template <>
const Definition<Pyramid>& definition<Pyramid>() {
  static const Definition<Pyramid> pyramid{
      .info = OperatorInfo{.name = "pyramid",
                           .syntax = "pyramid [LEVELS]",
                           .help = "per level (1 4 6 4 1) / 16 along both axes, then every second pixel",
                           .parameters = {{.name = "LEVELS",
                                           .help = "default 1",
                                           .kind = OperatorParameter::Kind::whole,
                                           .least = 1,
                                           .most = 16,
                                           .optional = true}},
                           .examples = {"pyramid 1"}},
      .parse = [](Words& words) { return Pyramid{words.count_or("levels", 1)}; },
      .print = [](const Pyramid& o) { return fmt::format("pyramid {}", o.levels); },
      .shape =
          [](const Pyramid& o, const Shape& in) {
            if (o.levels == 0 || o.levels > 16) throw refusal(o, fmt::format("needs 1 to 16 levels, got {}", o.levels));
            Shape shape = in;
            for (std::size_t i = 0; i < o.levels; ++i) shape = next_level(shape);
            return shape;
          },
      .reference = plain_pyramid,
      .product = [](const Pyramid& o, Depth) { return o.levels == 1 ? std::optional(level_product()) : std::nullopt; },
      .rows = pyramid_rows,
      .native = native_pyramid,
      .tile =
          [](const Pyramid& o, on_device::StageList& stages) {
            for (std::size_t i = 0; i < o.levels; ++i) stages.add_product(level_product());
            return true;
          },
      .steps = {on_device::list_downscale_by_two}};
  return pyramid;
}

}  // namespace ridge::image
