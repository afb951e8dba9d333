// Basis in which a stencil is diagonal, and its symbol.
#include "stencil/leap/modes.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numbers>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace ridge::stencil::leap {
namespace {

constexpr std::array<const char*, 3> kAxes{"z", "y", "x"};
constexpr std::size_t kMostFields = 2;

using Place = std::tuple<std::size_t, std::size_t, Offset>;  // to, from, offset

std::map<Place, double> weights_of(const std::vector<Term>& terms) {
  std::map<Place, double> weights;
  for (const Term& term : terms) weights[{term.to, term.field, term.offset}] += term.weight;
  return weights;
}

bool even_along(const std::map<Place, double>& weights, std::size_t axis) {
  double largest = 0;
  for (const auto& [place, weight] : weights) largest = std::max(largest, std::fabs(weight));
  for (const auto& [place, weight] : weights) {
    Place mirrored = place;
    std::get<2>(mirrored)[axis] *= -1;
    const auto other = weights.find(mirrored);
    if (std::fabs(weight - (other == weights.end() ? 0 : other->second)) > 1e-15 * largest) return false;
  }
  return true;
}

// Angle of mode k in multiples of pi / denominator.
std::uint64_t half_cycles(const Axis& axis, std::size_t mode) {
  return axis.basis == Basis::fourier ? 2 * mode : axis.basis == Basis::cosine ? mode : mode + 1;
}
std::uint64_t denominator(const Axis& axis) { return axis.basis == Basis::sine ? axis.cells + 1 : axis.cells; }

std::string settle_axis(Axis& axis, std::size_t number, const Layout& layout, bool even) {
  const Border low = layout.low[number], high = layout.high[number];
  axis.cells = axis.modes = layout.end[number] - layout.begin[number];
  axis.symmetric = even;
  if (layout.radius[number] == 0) return {};
  if (low != high) {
    return fmt::format("needs the same border on both sides of an axis: along {} one side is {} and the other {}",
                       kAxes[number], to_string(low), to_string(high));
  }
  if (low == Border::periodic) {
    axis.basis = Basis::fourier;
    axis.norm = static_cast<double>(axis.cells);
    return {};
  }
  if (!even) return fmt::format("needs symmetric weights along {}, which is not periodic", kAxes[number]);
  if (low == Border::mirror) {
    axis.basis = Basis::cosine;
    axis.norm = 2 * static_cast<double>(axis.cells);
    return {};
  }
  if (layout.radius[number] > 1) {
    return fmt::format("needs radius 1 along an axis with fixed borders: radius {} along {}", layout.radius[number],
                       kAxes[number]);
  }
  axis.basis = Basis::sine;
  axis.norm = 2 * static_cast<double>(axis.cells + 1);
  return {};
}

}  // namespace

Modes::Factor Modes::factor(const SymbolPart& part, std::size_t z, std::size_t y) const {
  // exp(i angle o), or its real part if the weights are even.
  const auto value = [](const Axis& axis, int offset, std::size_t mode) -> Factor {
    if (offset == 0 || axis.basis == Basis::none) return {1, 0};
    const std::size_t at = static_cast<std::size_t>(std::abs(offset)) * axis.modes + mode;
    if (axis.symmetric) return {axis.cosines[at], 0};
    return {axis.cosines[at], offset > 0 ? axis.sines[at] : -axis.sines[at]};
  };
  Factor sum;
  for (const SymbolPart::Weight& w : part.weights) {
    const Factor a = value(axes[0], w.z, z), b = value(axes[1], w.y, y);
    sum.real += w.weight * (a.real * b.real - a.imaginary * b.imaginary);
    sum.imaginary += w.weight * (a.real * b.imaginary + a.imaginary * b.real);
  }
  return sum;
}

std::string Modes::describe() const {
  std::string text;
  for (const Axis& axis : axes) {
    if (axis.basis == Basis::none) continue;
    const char* name = axis.basis == Basis::fourier ? "Fourier" : axis.basis == Basis::cosine ? "cosine" : "sine";
    text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", name, axis.cells);
  }
  return text.empty() ? "none: no neighbours are read" : text;
}

template <class T>
Modes modes_of(const Update<T>& update, const Layout& layout) {
  Modes modes;
  if (!std::is_floating_point_v<T>) {
    modes.refusal = "needs floating-point cells, got integers";
  } else if (!update.linear || layout.coefficients > 0) {
    modes.refusal = "needs a sum with constant weights (a linear update without coefficients)";
  } else if (layout.fields > kMostFields) {
    modes.refusal = fmt::format("needs at most {1} fields, got {0}", layout.fields, kMostFields);
  }
  if (!modes.refusal.empty()) return modes;
  modes.fields = layout.fields;
  modes.terms = *update.linear;
  const auto weights = weights_of(modes.terms);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    modes.refusal = settle_axis(modes.axes[axis], axis, layout, even_along(weights, axis));
    if (!modes.refusal.empty()) return modes;
    if (modes.axes[axis].basis != Basis::fourier) continue;
    modes.complex = true;
    modes.halved = axis;
    modes.complex_symbol = modes.complex_symbol || !modes.axes[axis].symmetric;
  }
  if (modes.complex) modes.axes[modes.halved].modes = modes.axes[modes.halved].cells / 2 + 1;
  std::map<std::tuple<std::size_t, std::size_t, int>, SymbolPart> parts;
  for (const auto& [place, weight] : weights) {
    const auto& [to, from, offset] = place;
    SymbolPart& part = parts[{to, from, offset[2]}];
    part.to = to, part.from = from, part.x = offset[2];
    part.weights.push_back({offset[0], offset[1], weight});
  }
  for (auto& [key, part] : parts) modes.parts.push_back(std::move(part));
  return modes;
}

void fill_tables(Modes& modes, const Layout& layout) {
  for (std::size_t number = 0; number < 3; ++number) {
    Axis& axis = modes.axes[number];
    if (axis.basis == Basis::none) continue;
    const auto radius = static_cast<std::size_t>(layout.radius[number]);
    axis.cosines.resize((radius + 1) * axis.modes);
    axis.sines.resize(axis.symmetric ? 0 : axis.cosines.size());
    const std::uint64_t whole = denominator(axis);
    for (std::size_t offset = 0; offset <= radius; ++offset) {
      for (std::size_t mode = 0; mode < axis.modes; ++mode) {
        // Whole periods are removed in integer arithmetic.
        const std::uint64_t reduced = half_cycles(axis, mode) % (2 * whole) * offset % (2 * whole);
        const double angle = std::numbers::pi * static_cast<double>(reduced) / static_cast<double>(whole);
        axis.cosines[offset * axis.modes + mode] = std::cos(angle);
        if (!axis.symmetric) axis.sines[offset * axis.modes + mode] = std::sin(angle);
      }
    }
  }
}

template Modes modes_of(const Update<float>&, const Layout&);
template Modes modes_of(const Update<double>&, const Layout&);
template Modes modes_of(const Update<std::int32_t>&, const Layout&);
template Modes modes_of(const Update<std::uint8_t>&, const Layout&);

}  // namespace ridge::stencil::leap
