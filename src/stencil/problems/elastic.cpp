// Elastic waves in 2D on a staggered grid, with absorbing layers and a free surface.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/stencil/from_expressions.hpp>
#include <ridge/stencil/problems.hpp>

#include "stencil/problems/cpml.hpp"

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;
using At = std::function<Expression(const Offset&)>;  // a value at an offset from the cell

enum ElasticField : std::size_t { kVz, kVx, kSzz, kSxx, kSxz };
enum ElasticCoefficient : std::size_t { kBuoyancyZ, kBuoyancyX, kNormal, kLambda, kShear };
// Derivatives, in the order of the memory variables: along z and x, at the cells or half a cell further.
enum ElasticDerivative : std::size_t { kSzzZ, kSxzX, kSxxX, kSxzZ, kVzZ, kVxX, kVxZ, kVzX };
// First memory variable among the fields, first profile among the coefficients, and the number of both.
constexpr std::size_t kMemories = 5, kElasticProfiles = 5, kDerivatives = 8;

[[noreturn]] void refuse_elastic(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, "elastic: " + what);
}

std::vector<double> staggered_weights(int accuracy) {
  if (accuracy == 2) return {1};
  if (accuracy == 4) return {9.0 / 8, -1.0 / 24};
  refuse_elastic(fmt::format("an accuracy of {}; 2 and 4 are possible", accuracy));
}

std::size_t elastic_radius(int accuracy) { return 2 * staggered_weights(accuracy).size() - 1; }

// Expressions of one step, at any offset from the cell.
class ElasticStep {
 public:
  // `inner`: the simpler update of cells that no layer reaches.
  explicit ElasticStep(const Elastic& elastic, bool inner = false)
      : elastic_(elastic), layers_(elastic.layers && !inner), weights_(staggered_weights(elastic.accuracy)) {}

  std::vector<Expression> outputs() const {
    const Offset here{};
    std::vector<Expression> all(layers_ ? kMemories + kDerivatives : kMemories);
    const std::size_t normal_x = elastic_.anisotropic ? kElasticProfiles + layer_count() : std::size_t{kNormal};
    all[kVz] = vz(here);
    all[kVx] = vx(here);
    const Expression dz = derivative(kVzZ, here), dx = derivative(kVxX, here);
    all[kSzz] = fused(coefficient(kNormal, here), dz, fused(coefficient(kLambda, here), dx, read(kSzz, here)));
    all[kSxx] = fused(coefficient(kLambda, here), dz, fused(coefficient(normal_x, here), dx, read(kSxx, here)));
    all[kSxz] = fused(coefficient(kShear, here), add(derivative(kVxZ, here), derivative(kVzX, here)), read(kSxz, here));
    for (std::size_t field = 0; field < kMemories && elastic_.attenuating; ++field) all[field] = decayed(all[field]);
    for (std::size_t k = 0; k < kDerivatives && layers_; ++k) all[kMemories + k] = memory(k, here);
    return all;
  }

 private:
  static Expression read(std::size_t field, const Offset& at) { return make_read(Kind::read, field, at); }
  static Expression coefficient(std::size_t k, const Offset& at) { return make_read(Kind::coefficient, k, at); }
  static Expression add(const Expression& a, const Expression& b) { return make_node(Kind::add, {a, b}); }
  static Expression fused(const Expression& a, const Expression& b, const Expression& c) {
    return make_node(Kind::fma, {a, b, c});
  }

  std::size_t layer_count() const { return elastic_.layers ? kDerivatives : 0; }
  Expression decayed(const Expression& value) const {
    const std::size_t k = kElasticProfiles + layer_count() + (elastic_.anisotropic ? 1 : 0);
    return make_node(Kind::multiply, {coefficient(k, {}), value});
  }

  // The new velocities before attenuation, which the stresses use at their neighbours: with the same quality in all
  // cells, a step with attenuation is one without, times a number.
  Expression vz(const Offset& at) const {
    return fused(coefficient(kBuoyancyZ, at), add(derivative(kSzzZ, at), derivative(kSxzX, at)), read(kVz, at));
  }
  Expression vx(const Offset& at) const {
    return fused(coefficient(kBuoyancyX, at), add(derivative(kSxxX, at), derivative(kSxzZ, at)), read(kVx, at));
  }

  struct Difference {
    std::size_t axis = 2;
    bool half = false;  // the result is half a cell further along the axis than the cell, its operand at the cell
    At of{};
  };
  Difference difference(std::size_t k) const {
    const auto field = [](std::size_t f) { return [f](const Offset& at) { return read(f, at); }; };
    const At new_vz = [this](const Offset&at) { return vz(at); }, new_vx = [this](const Offset&at) { return vx(at); };
    switch (k) {
      case kSzzZ:
        return {1, true, field(kSzz)};
      case kSxzX:
        return {2, false, field(kSxz)};
      case kSxxX:
        return {2, true, field(kSxx)};
      case kSxzZ:
        return {1, false, field(kSxz)};
      case kVzZ:
        return {1, false, new_vz};
      case kVxX:
        return {2, false, new_vx};
      case kVxZ:
        return {1, true, new_vx};
      default:
        return {2, true, new_vz};
    }
  }
  Expression plain(std::size_t k, const Offset& at) const {
    const Difference one = difference(k);
    Expression sum;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const int distance = static_cast<int>(i);
      Offset up = at, down = at;
      up[one.axis] += one.half ? distance + 1 : distance;
      down[one.axis] -= one.half ? distance : distance + 1;
      const Expression pair = make_node(Kind::subtract, {one.of(up), one.of(down)});
      const Expression weight = make_constant(weights_[i] / elastic_.spacing);
      sum = sum ? fused(weight, pair, sum) : make_node(Kind::multiply, {weight, pair});
    }
    return sum;
  }
  // The memory variable's new value: b psi + a times the derivative.
  Expression memory(std::size_t k, const Offset& at) const {
    const Difference one = difference(k);
    const std::size_t profile = kElasticProfiles + (one.axis == 1 ? 0 : 4) + (one.half ? 2 : 0);
    return fused(coefficient(profile, at), plain(k, at),
                 make_node(Kind::multiply, {coefficient(profile + 1, at), read(kMemories + k, at)}));
  }
  Expression derivative(std::size_t k, const Offset& at) const {
    return layers_ ? add(plain(k, at), memory(k, at)) : plain(k, at);
  }

  Elastic elastic_;
  bool layers_;
  std::vector<double> weights_;
};

// Stiffnesses of a medium with a vertical axis of symmetry, from Thomsen's parameters.
struct Stiffness {
  double c33 = 0, c44 = 0, c11 = 0, c13 = 0;
  double c13_slope = 0;  // derivative with respect to c33; c11 / c33 is that of c11
};
Stiffness stiffness(const ElasticModel& model, std::size_t cell) {
  Stiffness made{.c33 = model.density[cell] * model.p_velocity[cell] * model.p_velocity[cell],
                 .c44 = model.density[cell] * model.s_velocity[cell] * model.s_velocity[cell]};
  const double epsilon = model.epsilon.empty() ? 0 : model.epsilon[cell];
  const double delta = model.delta.empty() ? 0 : model.delta[cell];
  const double apart = made.c33 - made.c44;
  const double root = std::sqrt(apart * (2 * delta * made.c33 + apart));  // NaN for a delta that is too small
  made.c11 = made.c33 * (1 + 2 * epsilon);
  made.c13 = delta == 0 ? made.c33 - 2 * made.c44 : root - made.c44;
  made.c13_slope = delta == 0 ? 1 : (delta * (2 * made.c33 - made.c44) + apart) / root;
  return made;
}

bool is_anisotropic(const ElasticModel& model) { return !model.epsilon.empty() || !model.delta.empty(); }

void check_anisotropy(const ElasticModel& model) {
  const std::size_t cells = model.shape[0] * model.shape[1];
  for (const auto& [values, name] : {std::pair(&model.epsilon, "epsilon"), std::pair(&model.delta, "delta")}) {
    if (!values->empty() && values->size() != cells)
      refuse_elastic(fmt::format("a model of {} cells needs {} values of {}, got {}", fmt::join(model.shape, " x "),
                                 cells, name, values->size()));
  }
  for (std::size_t i = 0; i < cells && is_anisotropic(model); ++i) {
    const Stiffness made = stiffness(model, i);
    // Waves grow unless the energy of every deformation is positive; in fluids epsilon must be at least delta.
    if (made.c13 * made.c13 <= made.c11 * made.c33 * (1 + 1e-9)) continue;
    refuse_elastic(
        fmt::format("epsilon {:g} and delta {:g} in cell ({}, {}) describe no stable medium: c13^2 must not exceed "
                    "c11 c33 (in fluids epsilon must be at least delta)",
                    model.epsilon.empty() ? 0 : model.epsilon[i], model.delta.empty() ? 0 : model.delta[i],
                    i / model.shape[1], i % model.shape[1]));
  }
}

// The largest velocity in any direction.
double fastest_of(const ElasticModel& model) {
  double fastest = 0;
  for (std::size_t i = 0; i < model.p_velocity.size(); ++i) {
    const double across = model.epsilon.empty() ? 1 : std::sqrt(std::max(1.0, 1 + 2 * model.epsilon[i]));
    fastest = std::max(fastest, model.p_velocity[i] * across);
  }
  return fastest;
}

void check_model_values(const std::vector<double>& values, const ElasticModel& model, const char* name, bool zero) {
  const std::size_t cells = model.shape[0] * model.shape[1];
  if (values.size() != cells)
    refuse_elastic(fmt::format("a model of {} cells needs {} values of {}, got {}", fmt::join(model.shape, " x "),
                               cells, name, values.size()));
  for (std::size_t i = 0; i < cells; ++i) {
    if (std::isfinite(values[i]) && (values[i] > 0 || (zero && values[i] == 0))) continue;
    refuse_elastic(fmt::format("{} is {} in cell ({}, {}); all values must be {} 0 and finite", name, values[i],
                               i / model.shape[1], i % model.shape[1], zero ? "at least" : "above"));
  }
}

void check_model(const ElasticModel& model) {
  std::size_t cells = 0;
  if (model.shape.size() != 2 || __builtin_mul_overflow(model.shape[0], model.shape[1], &cells) || cells == 0)
    refuse_elastic(
        fmt::format("a model of {} cells; it needs 2 axes of at least 1 cell", fmt::join(model.shape, " x ")));
  check_model_values(model.p_velocity, model, "p_velocity", false);
  check_model_values(model.s_velocity, model, "s_velocity", true);
  check_model_values(model.density, model, "density", false);
  if (!model.quality.empty()) check_model_values(model.quality, model, "quality", false);
  for (std::size_t i = 0; i < cells; ++i) {
    // lambda + mu must not be negative.
    if (model.s_velocity[i] <= 0.866 * model.p_velocity[i]) continue;
    refuse_elastic(
        fmt::format("s_velocity is {:g} in cell ({}, {}), where p_velocity is {:g}; at most 0.866 of it is "
                    "possible",
                    model.s_velocity[i], i / model.shape[1], i % model.shape[1], model.p_velocity[i]));
  }
  if (!(model.spacing > 0) || !std::isfinite(model.spacing))
    refuse_elastic(fmt::format("a spacing of {}; it must be above 0", model.spacing));
  check_anisotropy(model);
}

// Time step and frequency, filled in and checked.
template <class T>
void settle_elastic(const ElasticModel& model, ElasticProblem<T>& made) {
  const double fastest = fastest_of(model);
  double slowest = fastest;
  for (std::size_t i = 0; i < model.p_velocity.size(); ++i)
    slowest = std::min(slowest, model.s_velocity[i] > 0 ? model.s_velocity[i] : model.p_velocity[i]);
  const double limit = elastic_limit(model.accuracy), unit = fastest * std::sqrt(2.0) / model.spacing;
  made.dt = model.dt == 0 ? 0.9 * limit / unit : model.dt;
  made.courant = unit * made.dt;
  if (!(made.dt > 0) || !(made.courant <= limit))
    refuse_elastic(
        fmt::format("the time step {:g} is unstable: c dt sqrt(2) / dx is {:.4g} and must not exceed {:.4g}; "
                    "use a dt up to {:.4g}",
                    made.dt, made.courant, limit, limit / unit));
  made.frequency = model.frequency == 0 ? slowest / (16 * model.spacing) : model.frequency;
  const double most = slowest / (2 * model.spacing);
  if (!(made.frequency > 0) || !(made.frequency <= most))
    refuse_elastic(
        fmt::format("a frequency of {:g}: waves would be shorter than two cells at the lowest velocity {:g}; "
                    "at most {:.4g} here, or a smaller spacing",
                    made.frequency, slowest, most));
}

// The medium on the grid: the model, its edge continued outwards, and nothing above a free surface.
class ElasticCells {
 public:
  ElasticCells(const ElasticModel& model, const std::vector<std::size_t>& begin) : model_(model), begin_(begin) {}
  std::size_t cell(std::size_t z, std::size_t x) const { return nearest(0, z) * model_.shape[1] + nearest(1, x); }
  double density(std::size_t z, std::size_t x) const { return outside(z) ? 0 : model_.density[cell(z, x)]; }
  double mu(std::size_t z, std::size_t x) const {
    const std::size_t i = cell(z, x);
    return outside(z) ? 0 : model_.density[i] * model_.s_velocity[i] * model_.s_velocity[i];
  }
  Stiffness stiff(std::size_t z, std::size_t x) const {
    return outside(z) ? Stiffness{} : stiffness(model_, cell(z, x));
  }
  double buoyancy(std::size_t z, std::size_t x, std::size_t dz, std::size_t dx) const {
    const double both = density(z, x) + density(z + dz, x + dx);
    return both > 0 ? 2 / both : 0;
  }
  // Harmonic mean of the four cells around the corner; 0 beside a fluid or a free surface.
  double corner(std::size_t z, std::size_t x) const {
    double inverse = 0;
    for (const std::size_t dz : {0, 1}) {
      for (const std::size_t dx : {0, 1}) {
        const double one = mu(z + dz, x + dx);
        if (one == 0) return 0;
        inverse += 1 / one;
      }
    }
    return 4 / inverse;
  }

 private:
  bool outside(std::size_t z) const { return model_.free_surface && z < begin_[0]; }
  std::size_t nearest(std::size_t axis, std::size_t at) const {
    return at < begin_[axis] ? 0 : std::min(at - begin_[axis], model_.shape[axis] - 1);
  }

  const ElasticModel& model_;
  const std::vector<std::size_t>& begin_;
};

template <class T>
void fill_profiles(const ElasticModel& model, const CpmlShape& shape, std::size_t radius, ElasticProblem<T>& made) {
  const std::size_t height = made.coefficients.shape()[0], width = made.coefficients.shape()[1];
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::size_t side = axis == 0 ? height : width;
    for (const bool half : {false, true}) {
      std::vector<CpmlRecursion> values;
      for (std::size_t i = 0; i < side; ++i) {
        const double at = static_cast<double>(i) + (half ? 0.5 : 0), cells = static_cast<double>(model.layer);
        const double inner = static_cast<double>(radius + model.layer) - 0.5;
        const bool low = model.low[axis] && !(axis == 0 && model.free_surface);
        const double depth =
            std::max(low ? inner - at : 0.0, model.high[axis] ? at - (static_cast<double>(side - 1) - inner) : 0.0);
        values.push_back(cpml_recursion(shape, depth / cells));
      }
      const std::size_t first = kElasticProfiles + 4 * axis + (half ? 2 : 0);
      for (std::size_t i = 0; i < height * width; ++i) {
        const CpmlRecursion& value = values[axis == 0 ? i / width : i % width];
        made.coefficients.field(first)[i] = static_cast<T>(value.a);
        made.coefficients.field(first + 1)[i] = static_cast<T>(value.b);
      }
    }
  }
}

}  // namespace

double elastic_limit(int accuracy) {
  double sum = 0;
  for (const double weight : staggered_weights(accuracy)) sum += std::fabs(weight);
  return 1 / sum;
}

template <class T>
Update<T> elastic(const Elastic& elastic) {
  if (!(elastic.dt > 0) || !(elastic.spacing > 0) || !std::isfinite(elastic.dt + elastic.spacing))
    refuse_elastic(
        fmt::format("a time step of {} and a spacing of {}; both must be above 0", elastic.dt, elastic.spacing));
  Update<T> made =
      from_expressions<T>(2, ElasticStep(elastic).outputs(),
                          fmt::format("elastic accuracy {}{}", elastic.accuracy, elastic.layers ? " layers" : ""));
  if (!elastic.layers || elastic.layer_cells == 0) return made;
  // One radius for the fixed border, and one for cells whose neighbours are in a layer.
  made.inner = {.margin = elastic.layer_cells + 2 * elastic_radius(elastic.accuracy),
                .outputs = ElasticStep(elastic, true).outputs()};
  for (std::size_t k = 0; k < kDerivatives; ++k) made.inner.zero_coefficients.push_back(kElasticProfiles + k);
  return made;
}

template <class T>
ElasticProblem<T> elastic_problem(const ElasticModel& model) {
  check_model(model);
  const bool layers = model.layer > 0;
  ElasticProblem<T> made{.coefficients = Grid<T>({1})};
  settle_elastic(model, made);
  const bool anisotropic = is_anisotropic(model), attenuating = !model.quality.empty();
  made.update = elastic<T>({.dt = made.dt,
                            .spacing = model.spacing,
                            .accuracy = model.accuracy,
                            .layers = layers,
                            .anisotropic = anisotropic,
                            .attenuating = attenuating,
                            .layer_cells = model.layer});
  const std::size_t radius = elastic_radius(model.accuracy), outside = radius + model.layer;
  std::vector<std::size_t> shape;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    // One row above a free surface stays empty, behind the fixed ones.
    made.begin.push_back(axis == 0 && model.free_surface ? radius + 1 : outside);
    shape.push_back(made.begin[axis] + model.shape[axis] + outside);
  }
  const std::size_t further = kElasticProfiles + (layers ? kDerivatives : 0);
  made.coefficients = Grid<T>(shape, further + (anisotropic ? 1 : 0) + (attenuating ? 1 : 0));
  const ElasticCells cells(model, made.begin);
  for (std::size_t z = 0; z < shape[0]; ++z) {
    for (std::size_t x = 0; x < shape[1]; ++x) {
      const std::size_t i = z * shape[1] + x;
      const Stiffness stiff = cells.stiff(z, x);
      const double values[] = {cells.buoyancy(z, x, 1, 0), cells.buoyancy(z, x, 0, 1), stiff.c33, stiff.c13,
                               cells.corner(z, x)};
      for (std::size_t k = 0; k < kElasticProfiles; ++k)
        made.coefficients.field(k)[i] = static_cast<T>(made.dt * values[k]);
      if (anisotropic) made.coefficients.field(further)[i] = static_cast<T>(made.dt * stiff.c11);
      if (attenuating)
        made.coefficients.field(further + (anisotropic ? 1 : 0))[i] =
            static_cast<T>(std::exp(-std::numbers::pi * made.frequency * made.dt / model.quality[cells.cell(z, x)]));
    }
  }
  const double fastest = fastest_of(model);
  if (layers)
    fill_profiles(model,
                  {.cells = model.layer,
                   .spacing = model.spacing,
                   .dt = made.dt,
                   .fastest = fastest,
                   .frequency = made.frequency},
                  radius, made);
  return made;
}

template <class T>
std::vector<double> p_velocity_gradient(const ElasticModel& model, const ElasticProblem<T>& problem,
                                        const Grid<T>& coefficients) {
  const ElasticCells cells(model, problem.begin);
  const std::size_t width = coefficients.shape()[1];
  std::vector<double> gradient(model.p_velocity.size());
  for (std::size_t i = 0; i < coefficients.cells(); ++i) {
    if (cells.density(i / width, i % width) == 0) continue;
    const std::size_t cell = cells.cell(i / width, i % width);
    const Stiffness stiff = stiffness(model, cell);
    const auto by = [&](std::size_t k) { return static_cast<double>(coefficients.field(k)[i]); };
    double sum = by(kNormal) + stiff.c13_slope * by(kLambda);
    if (is_anisotropic(model))
      sum += stiff.c11 / stiff.c33 * by(kElasticProfiles + (model.layer > 0 ? kDerivatives : 0));
    gradient[cell] += 2 * problem.dt * model.density[cell] * model.p_velocity[cell] * sum;
  }
  return gradient;
}

template std::vector<double> p_velocity_gradient(const ElasticModel&, const ElasticProblem<float>&, const Grid<float>&);
template std::vector<double> p_velocity_gradient(const ElasticModel&, const ElasticProblem<double>&,
                                                 const Grid<double>&);
template Update<float> elastic(const Elastic&);
template Update<double> elastic(const Elastic&);
template ElasticProblem<float> elastic_problem(const ElasticModel&);
template ElasticProblem<double> elastic_problem(const ElasticModel&);

}  // namespace ridge::stencil
