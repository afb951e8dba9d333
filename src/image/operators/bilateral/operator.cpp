// Operators bilateral and cross-bilateral: smoothing that preserves edges, of the image itself or of a guide.
#include <cmath>

#include <fmt/format.h>

#include "image/operators/definition.hpp"

namespace ridge::image {

AddRows<Bilateral> bilateral_rows;  // host.cpp
AddRows<CrossBilateral> cross_bilateral_rows;
AddTileStages<Bilateral> bilateral_tile;  // device.cpp
AddTileStages<CrossBilateral> cross_bilateral_tile;

namespace {

template <class T>
T parse_bilateral(Words& words) {
  const Like like = words.like();
  const std::size_t radius = words.count("radius");
  const double space = words.number("sigma of space");
  return T{radius, space, words.number("sigma of color"), like};
}

template <class T>
Shape check_bilateral(const T& o, const Shape& in) {
  if (o.radius > 64) throw refusal(o, fmt::format("needs a radius of at most 64, got {}", o.radius));
  constexpr double kLeast = 1e-6;  // float arithmetic divides by their squares
  if (!(o.sigma_space >= kLeast) || !(o.sigma_color >= kLeast)) {
    throw refusal(o, fmt::format("needs sigmas of at least 1e-06, got {:g} and {:g}", o.sigma_space, o.sigma_color));
  }
  return in;
}

template <class T>
std::string print_bilateral(const T& o) {
  return fmt::format("{} {} {} {}{}", definition<T>().info.name, o.radius, o.sigma_space, o.sigma_color,
                     ending(o.like));
}

template <class T>
Plain plain_bilateral(const T& o, const Reference& call) {
  const Plain& colors = definition<T>().guided ? call.guide : call.in;
  const Edges at = call.edges(), look{colors, call.border, call.constant};
  const auto radius = static_cast<std::ptrdiff_t>(o.radius);
  const double space = o.sigma_space, color = o.sigma_color;
  return call.each(call.like_input(), [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
    double sum = 0, total = 0;
    for (std::ptrdiff_t i = -radius; i <= radius; ++i) {
      for (std::ptrdiff_t j = -radius; j <= radius; ++j) {
        if (i * i + j * j > radius * radius) continue;
        double apart = 0;
        for (std::size_t m = 0; m < colors.channels; ++m) {
          const double off = std::abs(look(r + i, c + j, m) - look(r, c, m));
          apart += o.like == Like::opencv ? off : off * off;
        }
        if (o.like == Like::opencv) apart *= apart;
        const double w =
            std::exp(-static_cast<double>(i * i + j * j) / (2 * space * space) - apart / (2 * color * color));
        sum += w * at(r + i, c + j, k);
        total += w;
      }
    }
    return sum / total;
  });
}

OperatorInfo bilateral_info(const std::string& name, const std::string& help) {
  return {
      .name = name,
      .syntax = name + " RADIUS SIGMA_SPACE SIGMA_COLOR [opencv]",
      .help = help,
      .parameters = {
          {.name = "RADIUS", .help = "largest distance in pixels", .kind = OperatorParameter::Kind::whole, .most = 64},
          {.name = "SIGMA_SPACE", .help = "standard deviation in pixels, at least 1e-6", .least = 1, .most = 1e6},
          {.name = "SIGMA_COLOR",
           .help = "standard deviation of the colour difference in pixel values, at least 1e-6",
           .least = 1,
           .most = 1e6}}};
}

}  // namespace

template <>
const Definition<Bilateral>& definition<Bilateral>() {
  static const Definition<Bilateral> bilateral = [] {
    Definition<Bilateral> made{.info = bilateral_info("bilateral", "weighted mean of near pixels of similar colour"),
                               .parse = parse_bilateral<Bilateral>,
                               .print = print_bilateral<Bilateral>,
                               .shape = check_bilateral<Bilateral>,
                               .reference = plain_bilateral<Bilateral>,
                               .rows = bilateral_rows,
                               .tile = bilateral_tile};
    made.info.examples = {"bilateral 4 3 25"};
    return made;
  }();
  return bilateral;
}

template <>
const Definition<CrossBilateral>& definition<CrossBilateral>() {
  static const Definition<CrossBilateral> cross{
      .info = bilateral_info("cross-bilateral", "bilateral with the colours of a second image (--guide)"),
      .parse = parse_bilateral<CrossBilateral>,
      .print = print_bilateral<CrossBilateral>,
      .shape = check_bilateral<CrossBilateral>,
      .reference = plain_bilateral<CrossBilateral>,
      .guided = true,
      .rows = cross_bilateral_rows,
      .tile = cross_bilateral_tile};
  return cross;
}

}  // namespace ridge::image
