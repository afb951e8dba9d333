// Operator gray: weighted sum of red, green and blue.
#include <fmt/format.h>

#include "image/operators/definition.hpp"

namespace ridge::image {

AddRows<Gray> gray_rows;  // host.cpp
MakeNative<Gray> native_gray;
AddTileStages<Gray> gray_tile;  // device.cpp
namespace on_device {
StepLister list_point;
}

template <>
const Definition<Gray>& definition<Gray>() {
  static const Definition<Gray> gray{
      .info = OperatorInfo{.name = "gray",
                           .syntax = "gray",
                           .help = "0.299 red + 0.587 green + 0.114 blue, of 3 or 4 channels",
                           .examples = {"gray"}},
      .parse = [](Words&) { return Gray{}; },
      .print = [](const Gray&) { return std::string("gray"); },
      .shape =
          [](const Gray& o, const Shape& in) {
            if (in.channels != 3 && in.channels != 4)
              throw refusal(o, fmt::format("needs 3 or 4 channels, got {}", in.channels));
            return Shape{in.rows, in.columns, 1, in.depth};
          },
      .reference =
          [](const Gray&, const Reference& call) {
            return call.each({call.in.rows, call.in.columns, 1}, [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t) {
              double sum = 0;
              for (std::size_t k = 0; k < 3; ++k) {
                sum += Gray::kWeights[k] * call.in.at(static_cast<std::size_t>(r), static_cast<std::size_t>(c), k);
              }
              return sum;
            });
          },
      .rows = gray_rows,
      .native = native_gray,
      .tile = gray_tile,
      .steps = {on_device::list_point}};
  return gray;
}

}  // namespace ridge::image
