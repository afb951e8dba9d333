// Acoustic waves in media, with damping or absorbing layers.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/stencil/from_expressions.hpp>
#include <ridge/stencil/problems.hpp>

#include "stencil/problems/cpml.hpp"
#include "stencil/problems/laplacian.hpp"

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;

Expression read_u(const Offset& offset) { return make_read(Kind::read, 0, offset); }

// Sum of the second derivatives: one rounded product, the others added with FMA.
Expression laplacian(const Acoustic& acoustic) {
  const auto& weights = second_difference(acoustic.accuracy);
  const std::size_t dimensions = acoustic.spacing.size();
  Expression sum =
      make_node(Kind::multiply, {make_constant(weights[0] * inverse_squares(acoustic.spacing)), read_u({})});
  for (std::size_t axis = 3 - dimensions; axis < 3; ++axis) {
    const double dx = acoustic.spacing[axis - (3 - dimensions)];
    for (int k = 1; k <= acoustic.accuracy / 2; ++k) {
      Offset up{}, down{};
      up[axis] = k;
      down[axis] = -k;
      const Expression both = make_node(Kind::add, {read_u(up), read_u(down)});
      sum = make_node(Kind::fma, {make_constant(weights[static_cast<std::size_t>(k)] / (dx * dx)), both, sum});
    }
  }
  return sum;
}

}  // namespace

double courant_number(const Acoustic& acoustic, double fastest) {
  return fastest * acoustic.dt * std::sqrt(inverse_squares(acoustic.spacing));
}

// The mode that alternates from cell to cell must not grow: (c dt)^2 times its eigenvalue must stay below 4.
double acoustic_limit(int accuracy) { return std::sqrt(2 * heat_limit(accuracy)); }

template <class T>
Update<T> acoustic(const Acoustic& acoustic) {
  check_spacing(acoustic.spacing);
  if (!std::isfinite(acoustic.dt) || acoustic.dt <= 0) {
    throw Error(ErrorKind::invalid_argument, fmt::format("a time step of {}; it must be above 0", acoustic.dt));
  }
  const Expression u = read_u({}), before = make_read(Kind::read, 1, {});
  const Expression squared = make_read(Kind::coefficient, 0, {});
  Expression next;
  if (acoustic.absorbing) {
    // a (2 u + (c dt)^2 laplacian - 2 before) + before, with a = 1 the same as below.
    const Expression change = make_node(Kind::multiply, {make_constant(2), make_node(Kind::subtract, {u, before})});
    next = make_node(Kind::fma, {make_read(Kind::coefficient, 1, {}),
                                 make_node(Kind::fma, {squared, laplacian(acoustic), change}), before});
  } else {
    next =
        make_node(Kind::fma, {squared, laplacian(acoustic),
                              make_node(Kind::subtract, {make_node(Kind::multiply, {make_constant(2), u}), before})});
  }
  if (acoustic.batch && acoustic.spacing.size() > 2)
    throw Error(ErrorKind::invalid_argument, "acoustic: a batch of grids needs one or two axes, got 3");
  return from_expressions<T>(
      acoustic.spacing.size() + (acoustic.batch ? 1 : 0), {next, u},
      fmt::format("acoustic accuracy {}{}", acoustic.accuracy, acoustic.absorbing ? " absorbing" : ""));
}

namespace {

void check_layers(const Acoustic& acoustic, const AbsorbingLayers& layers) {
  if (acoustic.absorbing)
    throw Error(ErrorKind::invalid_argument, "acoustic: absorbing layers replace the damping: set absorbing to false");
  if (!(layers.fastest > 0) || !(layers.frequency > 0) || !std::isfinite(layers.fastest + layers.frequency))
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("acoustic: absorbing layers need the largest velocity and the source's peak frequency, both "
                    "above 0; got {} and {}",
                    layers.fastest, layers.frequency));
}

// Profiles of a layer: a, its derivative, b a and b. All are zero outside the layer.
enum LayerProfile : std::size_t { kStretch, kSlope, kGain, kDecay, kProfiles };

std::vector<std::vector<double>> layer_profiles(const Acoustic& acoustic, const AbsorbingLayers& layers, double dx,
                                                bool high) {
  const int radius = acoustic.accuracy / 2, cells = static_cast<int>(layers.cells), band = cells + radius;
  const auto& weights = first_difference(acoustic.accuracy);
  const auto at = [&](int depth_index) {  // cells from the inner edge outwards; the outermost is cells - 1
    return cpml_recursion({.cells = layers.cells,
                           .spacing = dx,
                           .dt = acoustic.dt,
                           .fastest = layers.fastest,
                           .frequency = layers.frequency,
                           .power = layers.power,
                           .reflection = layers.reflection},
                          (depth_index + 0.5) / cells);
  };
  std::vector<std::vector<double>> profiles(kProfiles, std::vector<double>(static_cast<std::size_t>(band)));
  for (int i = 0; i < band; ++i) {
    const int deep = high ? i - radius : cells - 1 - i, outwards = high ? 1 : -1;
    const auto place = static_cast<std::size_t>(i);
    const auto [a, b] = at(deep);
    profiles[kStretch][place] = a;
    profiles[kGain][place] = b * a;
    profiles[kDecay][place] = b;
    // The derivative is set to zero inside the inner edge, although the difference of a is not zero there: otherwise
    // the transposed update would read cells further inside.
    for (int k = 1; deep >= 0 && k <= radius; ++k)
      profiles[kSlope][place] +=
          outwards * weights[static_cast<std::size_t>(k)] / dx * (at(deep + k).a - at(deep - k).a);
  }
  return profiles;
}

Expression difference_sum(std::size_t field, std::size_t axis, int radius, const std::array<double, 5>& weights,
                          double unit, bool odd) {
  Expression sum =
      odd ? nullptr : make_node(Kind::multiply, {make_constant(weights[0] * unit), make_read(Kind::read, field, {})});
  for (int k = 1; k <= radius; ++k) {
    Offset up{}, down{};
    up[axis] = k;
    down[axis] = -k;
    const Expression pair = make_node(odd ? Kind::subtract : Kind::add,
                                      {make_read(Kind::read, field, up), make_read(Kind::read, field, down)});
    const Expression weight = make_constant(weights[static_cast<std::size_t>(k)] * unit);
    sum = sum ? make_node(Kind::fma, {weight, pair, sum}) : make_node(Kind::multiply, {weight, pair});
  }
  return sum;
}

// u_tt = c^2 (... + t + zeta), t = d/dx (du/dx + psi), psi = a du/dx + b psi, zeta = a t + b zeta; a and b are the
// recursion's. The memory variables are b psi and b zeta, so that every profile is read at the cell itself.
std::vector<Expression> layer_outputs(const Acoustic& acoustic, std::size_t axis, double dx) {
  const int radius = acoustic.accuracy / 2;
  const auto profile = [](std::size_t k) { return make_read(Kind::coefficient, k, {}); };
  const auto times = [](const Expression& a, const Expression& b) { return make_node(Kind::multiply, {a, b}); };
  const Expression second = difference_sum(0, axis, radius, second_difference(acoustic.accuracy), 1 / (dx * dx), false);
  const Expression slope = difference_sum(0, axis, radius, first_difference(acoustic.accuracy), 1 / dx, true);
  const Expression memory = difference_sum(1, axis, radius, first_difference(acoustic.accuracy), 1 / dx, true);
  const Expression psi = make_read(Kind::read, 1, {}), zeta = make_read(Kind::read, 2, {});
  // Difference between t and the second derivative, which the update has already.
  const Expression more =
      make_node(Kind::fma, {profile(kStretch), second, make_node(Kind::fma, {profile(kSlope), slope, memory})});
  const Expression t = make_node(Kind::add, {second, more});
  const Expression added = make_node(Kind::fma, {profile(kStretch), t, make_node(Kind::add, {more, zeta})});
  return {added, make_node(Kind::fma, {profile(kGain), slope, times(profile(kDecay), psi)}),
          make_node(Kind::fma, {profile(kGain), t, times(profile(kDecay), zeta)})};
}

// Weights of the differences in layer_outputs().
LayerUpdate::Differences layer_differences(const Acoustic& acoustic, double dx) {
  LayerUpdate::Differences made;
  for (std::size_t k = 0; k <= static_cast<std::size_t>(acoustic.accuracy / 2); ++k) {
    made.first.push_back(first_difference(acoustic.accuracy)[k] * (1 / dx));
    made.second.push_back(second_difference(acoustic.accuracy)[k] * (1 / (dx * dx)));
  }
  return made;
}

}  // namespace

template <class T>
Update<T> acoustic(const Acoustic& medium, const AbsorbingLayers& layers) {
  Update<T> made = acoustic<T>(medium);
  made.free_surface = layers.free_surface;
  if (layers.cells == 0) return made;
  check_layers(medium, layers);
  const std::size_t dimensions = medium.spacing.size();
  for (std::size_t i = 0; i < dimensions; ++i) {
    for (const bool high : {false, true}) {
      if (!(high ? layers.high : layers.low)[i] || (i == 0 && !high && layers.free_surface)) continue;
      const std::size_t axis = 3 - dimensions + i;
      made.layers.push_back({.axis = axis,
                             .high = high,
                             .cells = layers.cells,
                             .scale = 0,
                             .profiles = layer_profiles(medium, layers, medium.spacing[i], high),
                             .outputs = layer_outputs(medium, axis, medium.spacing[i]),
                             .differences = layer_differences(medium, medium.spacing[i])});
    }
  }
  return made;
}

template Update<float> acoustic(const Acoustic&, const AbsorbingLayers&);
template Update<double> acoustic(const Acoustic&, const AbsorbingLayers&);
template Update<float> acoustic(const Acoustic&);
template Update<double> acoustic(const Acoustic&);

}  // namespace ridge::stencil
