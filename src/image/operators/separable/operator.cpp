// Operator separable: correlation with a column of weights and a row of weights.
#include <cmath>

#include <fmt/format.h>

#include "image/operators/definition.hpp"

namespace ridge::image {
namespace {

constexpr std::size_t kMostWeights = 1025;

void check_weights(const Separable& o, const std::vector<float>& weights) {
  if (weights.empty() || weights.size() > kMostWeights)
    throw refusal(o, fmt::format("needs 1 to {1} weights, got {0}", weights.size(), kMostWeights));
  for (const float weight : weights) {
    if (!std::isfinite(weight)) throw refusal(o, fmt::format("needs finite weights, got {:g}", weight));
  }
}

Product product_of_weights(const Separable& o) {
  return {{o.down.begin(), o.down.end()}, {o.across.begin(), o.across.end()}};
}

}  // namespace

template <>
const Definition<Separable>& definition<Separable>() {
  using Kind = OperatorParameter::Kind;
  static const Definition<Separable> separable{
      .info =
          OperatorInfo{
              .name = "separable",
              .syntax = "separable DOWN,... ACROSS,...",
              .help = "correlation with the product of a column and a row of weights",
              .parameters = {{.name = "DOWN,...", .help = "1 to 1025 weights of the column", .kind = Kind::text},
                             {.name = "ACROSS,...", .help = "1 to 1025 weights of the row", .kind = Kind::text}},
              .examples = {"separable 1,2,3,4,5,6,7,8,7,6,5,4,3,2,1 1,2,3,4,5,6,7,8,7,6,5,4,3,2,1"}},
      .parse =
          [](Words& words) {
            Separable o;
            o.down = words.numbers("the column");
            o.across = words.numbers("the row");
            return o;
          },
      .print =
          [](const Separable& o) {
            return fmt::format("separable {} {}", fmt::join(o.down, ","), fmt::join(o.across, ","));
          },
      .shape =
          [](const Separable& o, const Shape& in) {
            check_weights(o, o.down);
            check_weights(o, o.across);
            return in;
          },
      .reference =
          [](const Separable& o, const Reference& call) {
            const Product weights = product_of_weights(o);
            return call.product(weights.down, weights.across);
          },
      .product = [](const Separable& o, Depth) { return std::optional(product_of_weights(o)); },
      .window = [](const Separable& o, Depth) { return std::optional(window_of(product_of_weights(o))); },
      .native = [](const Separable& o, const Shape& in,
                   const Edge& edge) { return native_separable(product_of_weights(o), in, edge); }};
  return separable;
}

}  // namespace ridge::image
