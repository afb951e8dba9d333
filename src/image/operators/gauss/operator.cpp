// Operator gauss: Gaussian filter, separable.
#include <cmath>

#include <fmt/format.h>

#include "image/operators/definition.hpp"
#include "image/operators/gauss/gauss.hpp"

namespace ridge::image {
namespace {

constexpr std::size_t kMostRadius = 512;

std::vector<double> gauss_weights(double sigma, std::size_t radius) {  // their sum is 1
  std::vector<double> weights;
  double sum = 0;
  for (std::size_t i = 0; i <= 2 * radius; ++i) {
    const double d = static_cast<double>(i) - static_cast<double>(radius);
    // 1 in the centre even if sigma^2 underflows.
    weights.push_back(d == 0 ? 1 : std::exp(-d * d / (2 * sigma * sigma)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

Product gauss_product(const Gauss& o, Depth depth) {
  const std::vector<double> weights = gauss_weights(o.sigma, gauss_radius(o, depth));
  return {weights, weights};
}

}  // namespace

std::size_t gauss_radius(const Gauss& gauss, Depth depth) {
  if (gauss.radius != 0) return gauss.radius;
  const double side = std::nearbyint((depth == Depth::u8 ? 6 : 8) * gauss.sigma + 1);
  return side < 2e6 ? static_cast<std::size_t>(std::fmax(1, std::floor(side / 2))) : std::size_t{1000000};
}

template <>
const Definition<Gauss>& definition<Gauss>() {
  using Kind = OperatorParameter::Kind;
  static const Definition<Gauss> gauss{
      .info =
          OperatorInfo{
              .name = "gauss",
              .syntax = "gauss SIGMA [RADIUS]",
              .help = "Gaussian filter; without RADIUS as cv::GaussianBlur",
              .parameters =
                  {{.name = "SIGMA", .help = "standard deviation in pixels, above 0", .least = 0.1, .most = 100},
                   {.name = "RADIUS",
                    .help = "weights on either side of the centre; 0: 3 SIGMA for 8 bits, else 4 SIGMA",
                    .kind = Kind::whole,
                    .most = kMostRadius,
                    .optional = true}},
              .examples = {"gauss 1 2", "gauss 5"}},
      .parse =
          [](Words& words) {
            const double sigma = words.number("sigma");
            return Gauss{sigma, words.count_or("radius", 0)};
          },
      .print =
          [](const Gauss& o) {
            return o.radius == 0 ? fmt::format("gauss {}", o.sigma) : fmt::format("gauss {} {}", o.sigma, o.radius);
          },
      .shape =
          [](const Gauss& o, const Shape& in) {
            if (!(o.sigma > 0) || gauss_radius(o, in.depth) > kMostRadius) {
              throw refusal(o, fmt::format("needs sigma above 0 and a radius of at most {1}, got sigma {0:g}", o.sigma,
                                           kMostRadius));
            }
            return in;
          },
      .reference =
          [](const Gauss& o, const Reference& call) {
            const Product weights = gauss_product(o, call.depth);
            return call.product(weights.down, weights.across);
          },
      .product = [](const Gauss& o, Depth depth) { return std::optional(gauss_product(o, depth)); },
      .window = [](const Gauss& o, Depth depth) { return std::optional(window_of(gauss_product(o, depth))); },
      .native = [](const Gauss& o, const Shape& in,
                   const Edge& edge) { return native_separable(gauss_product(o, in.depth), in, edge); }};
  return gauss;
}

}  // namespace ridge::image
