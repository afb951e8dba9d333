// Operator box: the mean of a rectangle of pixels.
#include <fmt/format.h>

#include "image/operators/definition.hpp"

namespace ridge::image {

MakeNative<Box> native_box;  // host.cpp
namespace on_device {
StepLister list_sums;  // device.cpp
}

namespace {

constexpr std::size_t kMostSide = 1025;

Product box_product(const Box& o) {
  return {std::vector<double>(o.rows, 1.0 / static_cast<double>(o.rows)),
          std::vector<double>(o.columns, 1.0 / static_cast<double>(o.columns))};
}

}  // namespace

template <>
const Definition<Box>& definition<Box>() {
  using Kind = OperatorParameter::Kind;
  static const Definition<Box> box{
      .info =
          OperatorInfo{
              .name = "box",
              .syntax = "box SIDE [COLUMNS]",
              .help = "mean of SIDE x SIDE pixels, or of SIDE rows and COLUMNS columns",
              .parameters = {{.name = "SIDE", .help = "rows", .kind = Kind::whole, .least = 1, .most = kMostSide},
                             {.name = "COLUMNS",
                              .help = "columns; default SIDE",
                              .kind = Kind::whole,
                              .least = 1,
                              .most = kMostSide,
                              .optional = true}},
              .examples = {"box 9"}},
      .parse =
          [](Words& words) {
            const std::size_t side = words.count("the side");
            return Box{side, words.count_or("columns", side)};
          },
      .print = [](const Box& o) { return fmt::format("box {} {}", o.rows, o.columns); },
      .shape =
          [](const Box& o, const Shape& in) {
            if (o.rows == 0 || o.columns == 0 || o.rows > kMostSide || o.columns > kMostSide) {
              throw refusal(o,
                            fmt::format("needs sides of 1 to {2} pixels, got {0}x{1}", o.columns, o.rows, kMostSide));
            }
            return in;
          },
      .reference =
          [](const Box& o, const Reference& call) {
            const Product weights = box_product(o);
            return call.product(weights.down, weights.across);
          },
      .product = [](const Box& o, Depth) { return std::optional(box_product(o)); },
      .native = native_box,
      .steps = {on_device::list_sums}};
  return box;
}

}  // namespace ridge::image
