// Adjoint updates and plans of them.
#include <ridge/stencil/adjoint.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <ridge/stencil/from_expressions.hpp>

#include "stencil/adjoint/adjoint_update.hpp"
#include "stencil/adjoint/linear_map.hpp"

namespace ridge::stencil {
namespace {

[[noreturn]] void refuse_adjoint(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, "stencil: " + what);
}

template <class T>
void transpose_layers(Update<T>& update) {
  for (LayerUpdate& layer : update.layers) {
    layer.outputs = to_expressions(transposed(linear_map(layer.outputs, layer.outputs.size())));
    layer.differences.transposed = !layer.differences.transposed;
  }
}

// Sides with mirror borders that need more than mirrored reads.
template <class T>
void find_continued(AdjointUpdate<T>& made, const LinearMap& map, const Layout& layout) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool low = layout.low[axis] == Border::mirror, high = layout.high[axis] == Border::mirror;
    if (layout.radius[axis] == 0 || (!low && !high) || is_symmetric(map, axis)) continue;
    made.continue_low[axis] = low;
    made.continue_high[axis] = high;
  }
}

}  // namespace

template <class T>
AdjointUpdate<T> adjoint_update(const Update<T>& update, const Layout& layout) {
  const LinearMap forward = linear_map(update.outputs, update.fields), back = transposed(forward);
  const bool layered = !update.layers.empty() || update.free_surface;
  for (std::size_t i = 0; i <= update.coefficients; ++i) {
    const std::optional<LinearMap> map = i == 0 ? back : scaled_by(back, i - 1);
    if (!map) continue;
    const auto signs = signs_between(*map, forward);
    if (!signs) continue;
    const bool fits = std::all_of(update.layers.begin(), update.layers.end(),
                                  [&](const LayerUpdate& layer) { return i > 0 && layer.scale == i - 1; });
    if (!fits) continue;
    AdjointUpdate<T> made{.update = update, .signs = *signs};
    if (i > 0) made.scale = i - 1;
    transpose_layers(made.update);
    find_continued(made, *map, layout);
    return made;
  }
  if (layered)
    refuse_adjoint("the adjoint of an update with layers or a free surface needs leapfrog in a medium, as acoustic()");
  AdjointUpdate<T> made{.signs = std::vector<int>(update.fields, 1)};
  made.update = from_expressions<T>(update.dimensions, to_expressions(back),
                                    update.name.empty() ? "" : "adjoint of " + update.name);
  find_continued(made, back, layout);
  return made;
}

template <class T>
struct AdjointState {
  Plan<T> forward;
  AdjointUpdate<T> made;
  Layout layout;                        // of the forward problem
  std::array<std::size_t, 3> before{};  // cells by which the grid is continued
  std::vector<std::size_t> shape{};     // of the adjoint's grid
  std::optional<Plan<T>> plan{};
  bool continued = false;
};

namespace {

// Shape and borders of the adjoint's grid. A continued side has as many cells as the forward radius, and fixed ones
// behind them. A fixed side has as many fixed cells as the adjoint's radius, which may be larger.
template <class T>
Problem adjoint_problem(AdjointState<T>& state) {
  Problem problem = state.forward.problem();
  const std::size_t missing = 3 - state.layout.dimensions;
  state.shape = problem.shape;
  for (std::size_t axis = missing; axis < 3; ++axis) {
    const auto radius = static_cast<std::size_t>(state.layout.radius[axis]);
    const auto reach = static_cast<std::size_t>(state.made.update.radius[axis]);
    const std::size_t i = axis - missing;
    const auto more = [&](Border& border, bool continues) -> std::size_t {
      if (!continues) return border == Border::fixed ? reach - std::min(reach, radius) : 0;
      border = Border::fixed;
      return radius + reach;
    };
    state.before[axis] = more(problem.borders.low[i], state.made.continue_low[axis]);
    state.shape[i] += state.before[axis] + more(problem.borders.high[i], state.made.continue_high[axis]);
    state.continued = state.continued || state.made.continue_low[axis] || state.made.continue_high[axis];
  }
  problem.shape = state.shape;
  return problem;
}

// Calls work(index in the forward grid, index in the adjoint's grid, is inside) for every cell of the latter.
template <class T, class Work>
void for_cells(const AdjointState<T>& state, const Work& work) {
  const Layout& layout = state.layout;
  std::array<std::size_t, 3> sides{1, 1, 1};
  std::copy(state.shape.begin(), state.shape.end(), sides.begin() + static_cast<std::ptrdiff_t>(3 - layout.dimensions));
  std::size_t there = 0;
  std::array<std::size_t, 3> at{};
  for (at[0] = 0; at[0] < sides[0]; ++at[0]) {
    for (at[1] = 0; at[1] < sides[1]; ++at[1]) {
      for (at[2] = 0; at[2] < sides[2]; ++at[2], ++there) {
        std::array<std::size_t, 3> cell{};
        bool inside = true, changes = true;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const auto index = static_cast<std::ptrdiff_t>(at[axis]) - static_cast<std::ptrdiff_t>(state.before[axis]);
          inside = inside && index >= 0 && index < static_cast<std::ptrdiff_t>(layout.shape[axis]);
          cell[axis] = layout.source(axis, index);
          changes = changes && cell[axis] >= layout.begin[axis] && cell[axis] < layout.end[axis];
        }
        work((cell[0] * layout.shape[1] + cell[1]) * layout.shape[2] + cell[2], there, inside, changes);
      }
    }
  }
}

template <class T>
Grid<T> continued_coefficients(const AdjointState<T>& state, const Grid<T>& coefficients) {
  Grid<T> result(state.shape, coefficients.fields());
  const Grid<T> packed = coefficients;
  for_cells(state, [&](std::size_t here, std::size_t there, bool, bool) {
    for (std::size_t field = 0; field < packed.fields(); ++field)
      result.field(field)[there] = packed.field(field)[here];
  });
  return result;
}

// Adds the values of ghost cells beyond mirror borders to the cells that they mirror, one axis after another.
template <class T>
void fold(const AdjointState<T>& state, Session<T>& session) {
  const Layout& layout = state.layout;
  std::array<std::size_t, 3> sides{1, 1, 1};
  std::copy(state.shape.begin(), state.shape.end(), sides.begin() + static_cast<std::ptrdiff_t>(3 - layout.dimensions));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto radius = static_cast<std::ptrdiff_t>(layout.radius[axis]);
    const auto size = static_cast<std::ptrdiff_t>(layout.shape[axis]);
    const auto move = [&](std::ptrdiff_t from) {
      const std::size_t to = layout.source(axis, from);
      Box slice{.begin = {0, 0, 0}, .extent = sides};
      slice.extent[axis] = 1;
      std::vector<T> extra(slice.cells() * layout.fields), sum(extra.size());
      slice.begin[axis] = static_cast<std::size_t>(from + static_cast<std::ptrdiff_t>(state.before[axis]));
      session.get(slice, std::span<T>(extra));
      const std::vector<T> zeros(extra.size());
      session.put(slice, std::span<const T>(zeros));
      if (to < layout.begin[axis] || to >= layout.end[axis]) return;  // a fixed cell
      slice.begin[axis] = to + state.before[axis];
      session.get(slice, std::span<T>(sum));
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += extra[i];
      session.put(slice, std::span<const T>(sum));
    };
    for (std::ptrdiff_t k = 1; k <= radius; ++k) {
      if (state.made.continue_low[axis]) move(-k);
      if (state.made.continue_high[axis]) move(size - 1 + k);
    }
  }
}

}  // namespace

template <class T>
Adjoint<T>::Adjoint(const Plan<T>& forward, const planner::Options& options) {
  const Layout layout = resolve(forward.update(), forward.problem());
  auto state = std::make_shared<AdjointState<T>>(
      AdjointState<T>{.forward = forward, .made = adjoint_update(forward.update(), layout), .layout = layout});
  const Problem problem = adjoint_problem(*state);
  state->plan.emplace(forward.device(), state->made.update, problem, options);
  state_ = std::move(state);
}

template <class T>
void Adjoint<T>::run(Grid<T>& grid, std::size_t steps, const Grid<T>* coefficients) const {
  const AdjointState<T>& state = *state_;
  const Update<T>& update = state.forward.update();
  if (grid.shape() != state.forward.problem().shape || grid.fields() != update.fields)
    refuse_adjoint(fmt::format("the adjoint needs a grid of {} cells and {} fields, got {} and {}",
                               fmt::join(state.forward.problem().shape, " x "), update.fields,
                               fmt::join(grid.shape(), " x "), grid.fields()));
  if ((coefficients != nullptr) != (update.coefficients > 0))
    refuse_adjoint(fmt::format("the update reads {} coefficients: pass {}", update.coefficients,
                               update.coefficients > 0 ? "a grid of them" : "none"));
  if (coefficients != nullptr &&
      (coefficients->shape() != grid.shape() || coefficients->fields() != update.coefficients))
    refuse_adjoint(fmt::format("the coefficients need {} cells and {} fields, got {} and {}",
                               fmt::join(grid.shape(), " x "), update.coefficients,
                               fmt::join(coefficients->shape(), " x "), coefficients->fields()));
  std::optional<Grid<T>> media;
  if (coefficients != nullptr) media.emplace(continued_coefficients(state, *coefficients));
  const auto factor = [&](std::size_t field, std::size_t there) {
    const T scale = state.made.scale ? media->field(*state.made.scale)[there] : T{1};
    if (scale == T{0}) refuse_adjoint("the adjoint divides by a coefficient, which must not be 0");
    return scale * static_cast<T>(state.made.signs[field]);
  };
  Grid<T> packed = grid, back(state.shape, update.fields);
  for_cells(state, [&](std::size_t here, std::size_t there, bool inside, bool changes) {
    for (std::size_t field = 0; field < update.fields && inside && changes; ++field)
      back.field(field)[there] = packed.field(field)[here] * factor(field, there);
  });
  Session<T> session = state.plan->start(back, media ? &*media : nullptr);
  if (!state.continued) {
    session.run(steps);
  } else {
    for (std::size_t step = 0; step < steps; ++step) {
      session.run(1);
      fold(state, session);
    }
  }
  session.read(back);
  std::fill(packed.all().begin(), packed.all().end(), T{});
  for_cells(state, [&](std::size_t here, std::size_t there, bool inside, bool changes) {
    for (std::size_t field = 0; field < update.fields && inside && changes; ++field)
      packed.field(field)[here] = back.field(field)[there] / factor(field, there);
  });
  grid.copy(packed);
}

template <class T>
const Plan<T>& Adjoint<T>::plan() const {
  return *state_->plan;
}

template <class T>
std::string Adjoint<T>::explain() const {
  const AdjointUpdate<T>& made = state_->made;
  std::string text = made.update.name == state_->forward.update().name
                         ? "the adjoint runs by the kernels of the update itself"
                         : "the adjoint is an update of its own";
  if (made.scale) text += fmt::format(", for fields times coefficient {}", *made.scale);
  if (state_->continued) text += "; mirror borders are continued by ghost cells";
  return text + "\n" + state_->plan->explain();
}

template AdjointUpdate<float> adjoint_update(const Update<float>&, const Layout&);
template AdjointUpdate<double> adjoint_update(const Update<double>&, const Layout&);
template class Adjoint<float>;
template class Adjoint<double>;

}  // namespace ridge::stencil
