// Operator transpose: exchanges rows and columns.
#include "image/methods/host/move_pixels.hpp"
#include "image/operators/definition.hpp"

namespace ridge::image {

namespace on_device {
StepLister list_transpose;  // device.cpp
}

template <>
const Definition<Transpose>& definition<Transpose>() {
  static const Definition<Transpose> transpose{
      .info =
          OperatorInfo{
              .name = "transpose", .syntax = "transpose", .help = "rows become columns", .examples = {"transpose"}},
      .parse = [](Words&) { return Transpose{}; },
      .print = [](const Transpose&) { return std::string("transpose"); },
      .shape =
          [](const Transpose&, const Shape& in) {
            return Shape{in.columns, in.rows, in.channels, in.depth};
          },
      .reference =
          [](const Transpose&, const Reference& call) {
            const Plain& in = call.in;
            return call.each({in.columns, in.rows, in.channels},
                             [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
                               return in.at(static_cast<std::size_t>(c), static_cast<std::size_t>(r), k);
                             });
          },
      .whole =
          [](const Transpose&, const Edge&, const Image& in, Image& out, std::size_t threads) {
            move_pixels(in, out, threads, [](std::size_t r, std::size_t c) { return std::pair{c, r}; });
          },
      .native = [](const Transpose&, const Shape& in, const Edge&) { return native_transpose(in, false); },
      .steps = {on_device::list_transpose}};
  return transpose;
}

}  // namespace ridge::image
