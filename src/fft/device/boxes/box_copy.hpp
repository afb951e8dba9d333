// Copies lines into longer lines with zeros, or a part of them out, for boxes of lines too long for one work-group.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fft/box_order.hpp"
#include "fft/device/route.hpp"

namespace ridge::fft::on_device {

struct BoxCopy {
  std::string type = {};                   // of a number
  bool reals = false;                      // false: pairs of numbers
  std::vector<std::uint64_t> counts = {};  // batch dimensions
  Address in = {}, out = {};
  bool pads = true;        // from the box to the line; false: from the line to the box
  std::size_t length = 1;  // points of the line
  AxisRange box{};
};
KernelSource box_copy_text(const BoxCopy& copy);
Route box_copy_route(const BoxCopy& copy);

// The copies around the transform of whole lines, and the arrays of whole lines.
struct PaddedAxis {
  BoxCopy pad = {}, crop = {};
  Side from = {}, to = {};
};
PaddedAxis padded_axis(const AxisProblem& boxed, const BoxAxis& axis);

// Factors of the points of whole lines, from those of a box of this shape; zero outside.
FactorTable padded_factors(const FactorTable& factors, const std::array<std::size_t, kMostAxes>& shape,
                           std::size_t axis, const BoxCopy& copy);

}  // namespace ridge::fft::on_device
