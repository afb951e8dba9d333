// Operator rotate: counterclockwise about the centre; multiples of 90 degrees are exact.
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "image/operators/definition.hpp"
#include "image/operators/resize/taps.hpp"
#include "image/operators/rotate/places.hpp"

namespace ridge::image {

RunWhole<Rotate> rotate_image;      // host.cpp
AddTileStages<Rotate> rotate_tile;  // device.cpp
namespace on_device {
StepLister list_transpose;  // transpose/device.cpp
}

std::optional<int> quarter_turns(const Rotate& rotate) {
  const double turns = rotate.degrees / 90;
  if (turns != std::nearbyint(turns)) return {};
  return static_cast<int>(std::fmod(std::fmod(turns, 4) + 4, 4));
}

RotatedPlaces::RotatedPlaces(const Rotate& rotate, const Shape& shape)
    : like_(rotate.like), nearest_(rotate.interpolation == Interpolation::nearest) {
  const double angle = rotate.degrees * std::numbers::pi / 180, cosine = std::cos(angle), sine = std::sin(angle);
  const double middle_y = (static_cast<double>(shape.rows) - 1) / 2,
               middle_x = (static_cast<double>(shape.columns) - 1) / 2;
  x_ = {middle_x - cosine * middle_x + sine * middle_y, cosine, -sine};
  y_ = {middle_y - sine * middle_x - cosine * middle_y, sine, cosine};
}

namespace {

Rotate parse_rotate(Words& words) {
  const Like like = words.like();
  Rotate o{.degrees = words.number("the angle"), .like = like};
  if (words.more()) o.interpolation = interpolation_of(words.next("interpolation"));
  return o;
}

Shape rotated_shape(const Rotate& o, const Shape& in) {
  if (!std::isfinite(o.degrees)) throw refusal(o, fmt::format("needs a finite angle, got {:g}", o.degrees));
  if (o.interpolation == Interpolation::area)
    throw refusal(o, "interpolation area works with resize only; use nearest, bilinear or bicubic");
  const auto turns = quarter_turns(o);
  return turns && *turns % 2 != 0 ? Shape{in.columns, in.rows, in.channels, in.depth} : in;
}

Plain plain_quarter_turns(int turns, const Reference& call) {
  const Plain& in = call.in;
  const auto rows = static_cast<std::ptrdiff_t>(in.rows), columns = static_cast<std::ptrdiff_t>(in.columns);
  const auto pixel = [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
    return in.at(static_cast<std::size_t>(r), static_cast<std::size_t>(c), k);
  };
  const bool swapped = turns % 2 != 0;
  return call.each({swapped ? in.columns : in.rows, swapped ? in.rows : in.columns, in.channels},
                   [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
                     switch (turns) {
                       case 1:
                         return pixel(c, columns - 1 - r, k);
                       case 2:
                         return pixel(rows - 1 - r, columns - 1 - c, k);
                       case 3:
                         return pixel(rows - 1 - c, r, k);
                       default:
                         return pixel(r, c, k);
                     }
                   });
}

Plain plain_rotate(const Rotate& o, const Reference& call) {
  if (const auto turns = quarter_turns(o)) return plain_quarter_turns(*turns, call);
  const Edges at = call.edges();
  const RotatedPlaces places(o, {call.in.rows, call.in.columns, call.in.channels, call.depth});
  return call.each(call.like_input(), [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
    const auto row = static_cast<std::size_t>(r), column = static_cast<std::size_t>(c);
    const double x = places.x(row, column), y = places.y(row, column);
    if (o.interpolation == Interpolation::nearest) {
      return at(static_cast<std::ptrdiff_t>(std::floor(y + 0.5)), static_cast<std::ptrdiff_t>(std::floor(x + 0.5)), k);
    }
    const double whole_y = std::floor(y), whole_x = std::floor(x);
    double wy[4] = {0, 1 - (y - whole_y), y - whole_y, 0}, wx[4] = {0, 1 - (x - whole_x), x - whole_x, 0};
    if (o.interpolation == Interpolation::bicubic) {
      cubic_weights(y - whole_y, wy);
      cubic_weights(x - whole_x, wx);
    }
    double sum = 0;
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        if (wy[i] * wx[j] != 0)
          sum += wy[i] * wx[j] *
                 at(static_cast<std::ptrdiff_t>(whole_y) + i - 1, static_cast<std::ptrdiff_t>(whole_x) + j - 1, k);
      }
    }
    return sum;
  });
}

std::unique_ptr<Native> native_rotate(const Rotate& o, const Shape& in, const Edge&) {
  return quarter_turns(o) == 1 ? native_transpose(in, true) : nullptr;
}

}  // namespace

template <>
const Definition<Rotate>& definition<Rotate>() {
  using Kind = OperatorParameter::Kind;
  static const Definition<Rotate> rotate{
      .info = OperatorInfo{.name = "rotate",
                           .syntax = "rotate DEGREES [nearest|bilinear|bicubic] [opencv]",
                           .help = "counterclockwise about the centre, same size; 90 and 270 exchange the sides",
                           .parameters = {{.name = "DEGREES", .help = "any angle", .least = -180, .most = 180},
                                          {.name = "INTERPOLATION",
                                           .help = "default bilinear",
                                           .kind = Kind::word,
                                           .words = {"nearest", "bilinear", "bicubic"},
                                           .optional = true}},
                           .border = Border::constant,
                           .examples = {"rotate 90"}},
      .parse = parse_rotate,
      .print =
          [](const Rotate& o) {
            return fmt::format("rotate {} {}{}", o.degrees, to_string(o.interpolation), ending(o.like));
          },
      .shape = rotated_shape,
      .reference = plain_rotate,
      .whole = rotate_image,
      .native = native_rotate,
      .tile = rotate_tile,
      .steps = {on_device::list_transpose}};
  return rotate;
}

}  // namespace ridge::image
