// Operator resize: to a size or by a scale, with nearest, bilinear, bicubic or area interpolation.
#include <cmath>

#include <fmt/format.h>

#include "base/number.hpp"
#include "image/operators/definition.hpp"
#include "image/operators/resize/taps.hpp"

namespace ridge::image {

AddRows<Resize> resize_rows;        // host.cpp
MakeNative<Resize> native_resize;   // native.cpp
AddTileStages<Resize> resize_tile;  // device.cpp
namespace on_device {
StepLister list_downscale_by_two, list_phases, list_blend, list_resample, list_enlarge;  // device_*.cpp
}

namespace {

// In text a larger number is a size without its rows.
constexpr double kMostScale = 64;

Resize parse_resize(Words& words) {
  Resize o{.like = words.like()};
  const std::string size = words.next("the size");
  if (!read_size(size, o.columns, o.rows)) {
    o.rows = o.columns = 0;
    o.scale = base::number_of(size).value_or(0);
    if (!(o.scale > 0)) words.refuse("size \"" + size + "\" is neither COLUMNSxROWS nor a scale above 0");
    if (o.scale > kMostScale) {
      words.refuse(fmt::format("scale {} is above {:g}; for {} columns give the rows too, as in {}x{:.0f}", size,
                               kMostScale, size, size, o.scale * 3 / 4));
    }
  }
  if (words.more()) o.interpolation = interpolation_of(words.next("interpolation"));
  return o;
}

std::string print_resize(const Resize& o) {
  const std::string size =
      o.rows != 0 && o.columns != 0 ? fmt::format("{}x{}", o.columns, o.rows) : fmt::format("{}", o.scale);
  return fmt::format("resize {} {}{}", size, to_string(o.interpolation), ending(o.like));
}

Shape resized(const Resize& o, const Shape& in) {
  const auto side = [&](std::size_t given, std::size_t from) {
    const double wanted = given != 0 ? static_cast<double>(given) : std::nearbyint(o.scale * static_cast<double>(from));
    if (!(wanted <= 1e6)) throw refusal(o, fmt::format("needs at most 1000000 pixels per side, got {:g}", wanted));
    return static_cast<std::size_t>(std::fmax(1, wanted));
  };
  if ((o.rows == 0 || o.columns == 0) && !(o.scale > 0)) {
    throw refusal(o, fmt::format("needs a size, for example 640x480, or a scale above 0, got scale {:g}", o.scale));
  }
  Shape shape = in;
  shape.rows = side(o.rows, in.rows);
  shape.columns = side(o.columns, in.columns);
  return shape;
}

Plain plain_resize(const Resize& o, const Reference& call) {
  const Plain& in = call.in;
  const Shape before{in.rows, in.columns, in.channels, call.depth}, shape = output_shape(o, before);
  const ResizeTaps taps = resize_taps(o, before);
  const Edges at{in};
  return call.each({shape.rows, shape.columns, in.channels}, [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
    const ResizeTap &y = taps.down[static_cast<std::size_t>(r)], &x = taps.across[static_cast<std::size_t>(c)];
    double sum = 0;
    for (std::size_t i = 0; i < y.weights.size(); ++i) {
      for (std::size_t j = 0; j < x.weights.size(); ++j) {
        sum += y.weights[i] * x.weights[j] *
               at(y.from + static_cast<std::ptrdiff_t>(i), x.from + static_cast<std::ptrdiff_t>(j), k);
      }
    }
    return sum;
  });
}

}  // namespace

template <>
const Definition<Resize>& definition<Resize>() {
  using Kind = OperatorParameter::Kind;
  static const Definition<Resize> resize{
      .info =
          {.name = "resize",
           .syntax = "resize SCALE|COLUMNSxROWS [nearest|bilinear|bicubic|area] [opencv]",
           .help = "another size; only area antialiases",
           .parameters = {{.name = "SCALE|COLUMNSxROWS", .help = "0.5 (at most 64), or 640x480", .kind = Kind::text},
                          {.name = "INTERPOLATION",
                           .help = "default bilinear",
                           .kind = Kind::word,
                           .words = {"nearest", "bilinear", "bicubic", "area"},
                           .optional = true}},
           .examples = {"resize 0.5", "resize 0.5 bicubic", "resize 0.3 area", "resize 1.6", "resize 1.6 bicubic"}},
      .parse = parse_resize,
      .print = print_resize,
      .shape = resized,
      .reference = plain_resize,
      .rows = resize_rows,
      .native = native_resize,
      .tile = resize_tile,
      .steps = {on_device::list_downscale_by_two, on_device::list_phases, on_device::list_blend,
                on_device::list_resample, on_device::list_enlarge}};
  return resize;
}

}  // namespace ridge::image
