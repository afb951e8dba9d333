// Weights of a linear stencil for the scatter kernels.
#include "stencil/device/weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "stencil/device/cells/cell_codegen.hpp"

namespace ridge::stencil {
namespace {

std::string argument_name(const Offset& offset, std::size_t dimensions) {
  std::string name = "w";
  for (std::size_t axis = 3 - dimensions; axis < 3; ++axis) name += "_" + signed_word(offset[axis]);
  return name;
}

}  // namespace

bool Weights::star() const {
  return std::all_of(list.begin(), list.end(), [](const Weight& weight) {
    return std::count(weight.offset.begin(), weight.offset.end(), 0) >= 2;
  });
}

std::vector<Weight> Weights::at(int dz, int dy) const {
  std::vector<Weight> found;
  for (const Weight& weight : list) {
    if (weight.offset[0] == dz && weight.offset[1] == dy) found.push_back(weight);
  }
  return found;
}

std::optional<Weights> weights_of(std::size_t dimensions, std::size_t fields,
                                  const std::optional<std::vector<Term>>& terms) {
  if (!terms || fields != 1 || terms->empty()) return std::nullopt;
  std::map<Offset, double> sums;
  for (const Term& term : *terms) sums[term.offset] += term.weight;
  Weights weights;
  for (const auto& [offset, value] : sums) {
    weights.list.push_back({.offset = offset, .value = value, .name = argument_name(offset, dimensions)});
    for (std::size_t axis = 0; axis < 3; ++axis) {
      weights.radius[axis] = std::max(weights.radius[axis], std::abs(offset[axis]));
    }
  }
  return weights;
}

std::string refusal_of_wider_borders(const Weights& weights, const Layout& layout) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool fixed = layout.low[axis] == Border::fixed || layout.high[axis] == Border::fixed;
    if (!fixed || layout.radius[axis] == weights.radius[axis]) continue;
    return fmt::format(
        "needs fixed borders as wide as the terms reach, {} cells along {}, got {}: the update reads cells that its "
        "result does not use",
        weights.radius[axis], "zyx"[axis], layout.radius[axis]);
  }
  return {};
}

Scaling scaling_of(const Weights& weights, int depth, double exponent) {
  double sum = 0;
  int largest = 0;
  for (std::size_t i = 0; i < weights.list.size(); ++i) {
    sum += std::abs(weights.list[i].value);
    if (std::abs(weights.list[i].value) > std::abs(weights.list[static_cast<std::size_t>(largest)].value)) {
      largest = static_cast<int>(i);
    }
  }
  const auto harmless = [&](double divisor) {
    if (!(std::abs(divisor) > 0) || !std::isfinite(divisor)) return false;
    const double growth = std::abs(std::log10(sum / std::abs(divisor))) + std::abs(std::log10(std::abs(divisor)));
    return growth * depth < exponent / 2;
  };
  const Weight& first = weights.list.front();
  const int slow_radius = weights.radius[0] > 0 ? weights.radius[0] : weights.radius[1];
  const int slow = weights.radius[0] > 0 ? first.offset[0] : first.offset[1];
  if (slow_radius == 0) return {};
  // The first term of the first row starts every sum.
  const bool single_first = slow == -slow_radius && first.offset[2] == 0 &&
                            (weights.radius[0] == 0 || first.offset[1] == 0) &&
                            (weights.radius[0] > 0 ? weights.list.size() < 2 || weights.list[1].offset[0] > slow
                                                   : weights.list.size() < 2 || weights.list[1].offset[1] > slow);
  const Weight& big = weights.list[static_cast<std::size_t>(largest)];
  const int big_slow = weights.radius[0] > 0 ? big.offset[0] : big.offset[1];
  if (slow_radius == 1 && single_first && big_slow == 0 && harmless(big.value)) {
    return {.divisor = big.value, .unit = largest, .late_first = true};
  }
  if (slow == -slow_radius && harmless(first.value)) return {.divisor = first.value, .unit = 0, .late_first = false};
  return {};
}

}  // namespace ridge::stencil
