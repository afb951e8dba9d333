// Neumann borders with a flux, as a source term.
#include <ridge/stencil/flux.hpp>

#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::stencil {
namespace {

[[noreturn]] void refuse_flux(const std::string& message) {
  throw Error(ErrorKind::invalid_argument, "flux: " + message);
}

void check_flux(const Problem& problem, const Flux& flux) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const bool high : {false, true}) {
      const double given = (high ? flux.high : flux.low)[axis];
      const char* side = high ? "high" : "low";
      if (!std::isfinite(given)) refuse_flux(fmt::format("must be finite, got {}", given));
      if (given == 0) continue;
      if (axis >= problem.shape.size())
        refuse_flux(fmt::format("axis {} of a grid with {} axes", axis, problem.shape.size()));
      const Border border = (high ? problem.borders.high : problem.borders.low)[axis];
      if (border != Border::mirror)
        refuse_flux(fmt::format("the {} side of axis {} has a {} border: needs mirror", side, axis, to_string(border)));
    }
  }
}

// The difference between cell `at`, outside an axis of `size` cells, and its mirror image.
double beyond(std::ptrdiff_t at, std::ptrdiff_t size, double low, double high) {
  double sum = 0;
  while (at < 0 || at >= size) {
    const std::ptrdiff_t k = at < 0 ? -at : at - size + 1;
    sum += static_cast<double>(2 * k - 1) * (at < 0 ? low : high);
    at = at < 0 ? k - 1 : size - k;
  }
  return sum;
}

}  // namespace

template <class T>
FluxUpdate<T> with_flux(const Update<T>& update, const Problem& problem, const Flux& flux) {
  const std::size_t axes = problem.shape.size();
  if (!update.linear || update.coefficients > 0 || !update.layers.empty())
    refuse_flux(fmt::format("{}: needs a linear update with constant weights", update.name));
  if (axes != update.dimensions)
    refuse_flux(fmt::format("the update has {} axes, the grid {}: they must agree", update.dimensions, axes));
  check_flux(problem, flux);
  FluxUpdate<T> made{.update = update, .coefficients = Grid<T>(problem.shape, update.fields)};
  std::array<std::ptrdiff_t, 3> size{1, 1, 1};
  for (std::size_t a = 0; a < axes; ++a) size[3 - axes + a] = static_cast<std::ptrdiff_t>(problem.shape[a]);
  const std::ptrdiff_t cells = size[0] * size[1] * size[2];
  for (std::ptrdiff_t cell = 0; cell < cells; ++cell) {
    const std::array<std::ptrdiff_t, 3> at{cell / size[2] / size[1], cell / size[2] % size[1], cell % size[2]};
    bool inside = true;
    for (std::size_t i = 3 - axes; i < 3; ++i)
      inside = inside && at[i] >= update.radius[i] && at[i] < size[i] - update.radius[i];
    if (inside) continue;
    std::vector<double> sums(update.fields);
    for (const Term& term : *update.linear) {
      for (std::size_t i = 3 - axes; i < 3; ++i) {
        const std::size_t axis = i + axes - 3;
        sums[term.to] += term.weight * beyond(at[i] + term.offset[i], size[i], flux.low[axis], flux.high[axis]);
      }
    }
    for (std::size_t f = 0; f < update.fields; ++f)
      made.coefficients.field(f)[static_cast<std::size_t>(cell)] = static_cast<T>(sums[f]);
  }
  for (std::size_t f = 0; f < update.fields; ++f) {
    made.update.outputs[f] =
        make_node(Node::Kind::add, {update.outputs[f], make_read(Node::Kind::coefficient, f, Offset{})});
  }
  made.update.sums_terms = false;
  made.update.name = update.name + " with flux";
  detail::complete(made.update);
  made.update.row = [plain = update.row, fields = update.fields, radius = made.update.radius](const Rows<T>& rows) {
    plain(rows);
    const auto depth = 2 * static_cast<std::size_t>(radius[0]) + 1,
               height = 2 * static_cast<std::size_t>(radius[1]) + rows.count;
    for (std::size_t f = 0; f < fields; ++f) {
      for (std::size_t r = 0; r < rows.count; ++r) {
        const std::size_t plane = f * depth + static_cast<std::size_t>(radius[0]);
        const T* source = rows.coefficients[plane * height + static_cast<std::size_t>(radius[1]) + r];
        T* out = rows.out[f * rows.count + r];
        for (std::size_t x = rows.begin; x < rows.end; ++x) out[x] += source[x];
      }
    }
  };
  return made;
}

template FluxUpdate<float> with_flux(const Update<float>&, const Problem&, const Flux&);
template FluxUpdate<double> with_flux(const Update<double>&, const Problem&, const Flux&);

}  // namespace ridge::stencil
