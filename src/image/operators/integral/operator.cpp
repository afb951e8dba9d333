// Operator integral: summed-area table with an extra zero row and column.
#include <cmath>

#include "image/operators/definition.hpp"

namespace ridge::image {

RunWhole<Integral> integral_image;  // host.cpp
MakeNative<Integral> native_integral;
namespace on_device {
StepLister list_corner_sums;  // device.cpp
}

namespace {

// Computes all rows: each needs the rows above it.
Plain plain_integral(const Integral&, const Reference& call) {
  const Plain& in = call.in;
  Plain out{in.rows + 1, in.columns + 1, in.channels};
  out.values.assign(out.rows * out.columns * out.channels, 0.0);
  for (std::size_t r = 0; r < in.rows; ++r) {
    for (std::size_t k = 0; k < in.channels; ++k) {
      double row = 0;
      for (std::size_t c = 0; c < in.columns; ++c) {
        row += in.at(r, c, k);
        out.at(r + 1, c + 1, k) = out.at(r, c + 1, k) + row;
      }
    }
  }
  if (call.depth == Depth::u8) {
    for (double& value : out.values) value = std::fmod(value, 4294967296.0);
  }
  return out;
}

}  // namespace

template <>
const Definition<Integral>& definition<Integral>() {
  static const Definition<Integral> integral{
      .info = OperatorInfo{.name = "integral",
                           .syntax = "integral",
                           .help = "summed-area table with a zero row and column in front; last in a chain",
                           .examples = {"integral"}},
      .parse = [](Words&) { return Integral{}; },
      .print = [](const Integral&) { return std::string("integral"); },
      .shape =
          [](const Integral&, const Shape& in) {
            return Shape{in.rows + 1, in.columns + 1, in.channels, in.depth == Depth::u8 ? Depth::u32 : Depth::f64};
          },
      .reference = plain_integral,
      .gain = [](const Integral&,
                 const Shape& out) { return static_cast<double>(out.rows) * static_cast<double>(out.columns); },
      .whole = integral_image,
      .native = native_integral,
      .steps = {on_device::list_corner_sums}};
  return integral;
}

}  // namespace ridge::image
