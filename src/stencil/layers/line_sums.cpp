// Weights of a layer's sums, from its expressions and profiles.
#include "stencil/layers/line_sums.hpp"

#include <map>
#include <utility>

#include "stencil/adjoint/linear_map.hpp"

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;

// An expression of profiles and constants at cell `at` of the band; profiles are zero outside it.
double value_at(const Expression& expression, const LayerUpdate& layer, std::size_t axis, std::ptrdiff_t at) {
  const auto operand = [&](std::size_t i) { return value_at(expression->operands[i], layer, axis, at); };
  switch (expression->kind) {
    case Kind::constant:
      return expression->value;
    case Kind::coefficient: {
      const std::vector<double>& profile = layer.profiles[expression->field];
      const std::ptrdiff_t cell = at + expression->offset[axis];
      return cell >= 0 && cell < static_cast<std::ptrdiff_t>(profile.size()) ? profile[static_cast<std::size_t>(cell)]
                                                                             : 0;
    }
    case Kind::add:
      return operand(0) + operand(1);
    case Kind::subtract:
      return operand(0) - operand(1);
    case Kind::multiply:
      return operand(0) * operand(1);
    case Kind::divide:
      return operand(0) / operand(1);
    case Kind::fma:
      return operand(0) * operand(1) + operand(2);
    case Kind::negate:
      return -operand(0);
    default:
      throw Error(ErrorKind::invalid_argument,
                  "stencil: factors of an absorbing layer may have sums, products and quotients of profiles only");
  }
}

}  // namespace

template <class T>
std::vector<LineSums<T>> line_sums(const LayerUpdate& layer, const LayerPlace& place) {
  const LinearMap map = linear_map(layer.outputs, layer.outputs.size());
  std::vector<LineSums<T>> lines(place.extent[place.axis], LineSums<T>(map.outputs.size()));
  for (std::size_t at = 0; at < lines.size(); ++at) {
    for (std::size_t i = 0; i < map.outputs.size(); ++i) {
      std::map<std::pair<std::size_t, int>, double> sum;
      for (const LinearTerm& term : map.outputs[i]) {
        const std::ptrdiff_t cell = static_cast<std::ptrdiff_t>(at) + term.offset[place.axis];
        if (term.input > 0 && (cell < 0 || cell >= static_cast<std::ptrdiff_t>(lines.size()))) continue;  // zeros
        double weight = term.weight;
        for (const Factor& factor : term.factors)
          weight *= value_at(factor.value, layer, place.axis, static_cast<std::ptrdiff_t>(at));
        sum[{term.input, term.offset[place.axis]}] += weight;
      }
      for (const auto& [read, weight] : sum) {
        if (weight != 0) lines[at][i].push_back({read.first, read.second, static_cast<T>(weight)});
      }
    }
  }
  return lines;
}

template std::vector<LineSums<float>> line_sums(const LayerUpdate&, const LayerPlace&);
template std::vector<LineSums<double>> line_sums(const LayerUpdate&, const LayerPlace&);

}  // namespace ridge::stencil
