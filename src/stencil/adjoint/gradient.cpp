// Gradients of runs by reverse runs of the update's transposed derivative.

#include <algorithm>

#include <fmt/format.h>
#include <ridge/stencil/adjoint.hpp>

#include "base/host_memory.hpp"
#include "stencil/adjoint/adjoint_update.hpp"
#include "stencil/layout.hpp"
#include "stencil/shots/history.hpp"
#include "stencil/shots/saved_run.hpp"

namespace ridge::stencil {

template <class T>
struct PlanGradientState {
  Plan<T> forward;
  Layout layout;  // of the forward problem
  // The reverse run's grid: the forward one, continued beyond mirror borders by the radius, with fixed cells behind all
  // borders that are not periodic. The forward grid's own fixed cells change in it: they receive derivatives.
  std::array<std::size_t, 3> before{}, sides{1, 1, 1};
  std::vector<std::size_t> shape{};
  std::optional<Plan<T>> plan{};

  std::size_t mask() const { return layout.coefficients + layout.fields; }  // its number among the coefficients
};

namespace {

[[noreturn]] void refuse_gradient(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, "stencil: " + what);
}

template <class T>
Problem reverse_problem(PlanGradientState<T>& state, const Update<T>& update) {
  Problem problem = state.forward.problem();
  const std::size_t missing = 3 - state.layout.dimensions;
  problem.leap = LeapUse::never;
  for (std::size_t axis = missing; axis < 3; ++axis) {
    const auto more = [&](Border& border) -> std::size_t {
      if (border == Border::periodic) return 0;
      const int ghosts = border == Border::mirror ? state.layout.radius[axis] : 0;
      border = Border::fixed;
      return static_cast<std::size_t>(ghosts + update.radius[axis]);
    };
    const std::size_t i = axis - missing;
    state.before[axis] = more(problem.borders.low[i]);
    state.sides[axis] = state.before[axis] + problem.shape[i] + more(problem.borders.high[i]);
    problem.shape[i] = state.sides[axis];
  }
  state.shape = problem.shape;
  return problem;
}

// Calls work(cell of the forward grid, cell of the reverse grid, is inside the forward grid, changes in a step) for
// every cell of the reverse grid. Cells outside have the cell that is read for them, or the nearest one.
template <class T, class Work>
void for_reverse_cells(const PlanGradientState<T>& state, const Work& work) {
  const Layout& layout = state.layout;
  std::array<std::vector<std::size_t>, 3> sources;
  std::array<std::vector<int>, 3> kinds;  // 0: outside, 1: inside, 2: inside and changing
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto size = static_cast<std::ptrdiff_t>(layout.shape[axis]), radius = std::ptrdiff_t{layout.radius[axis]};
    for (std::size_t at = 0; at < state.sides[axis]; ++at) {
      const auto index = static_cast<std::ptrdiff_t>(at) - static_cast<std::ptrdiff_t>(state.before[axis]);
      const bool inside = index >= 0 && index < size;
      const std::size_t cell = index >= -radius && index < size + radius
                                   ? layout.source(axis, index)
                                   : static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(index, 0, size - 1));
      sources[axis].push_back(cell);
      kinds[axis].push_back(!inside ? 0 : cell >= layout.begin[axis] && cell < layout.end[axis] ? 2 : 1);
    }
  }
  std::size_t there = 0;
  for (std::size_t z = 0; z < state.sides[0]; ++z) {
    for (std::size_t y = 0; y < state.sides[1]; ++y) {
      for (std::size_t x = 0; x < state.sides[2]; ++x, ++there) {
        const int kind = std::min({kinds[0][z], kinds[1][y], kinds[2][x]});
        work((sources[0][z] * layout.shape[1] + sources[1][y]) * layout.shape[2] + sources[2][x], there, kind > 0,
             kind == 2);
      }
    }
  }
}

// Adds the values of ghost cells beyond mirror borders to the cells that they mirror, one axis after another.
template <class T>
void fold_ghosts(const PlanGradientState<T>& state, Grid<T>& grid) {
  const Layout& layout = state.layout;
  const std::array<std::size_t, 3> steps{state.sides[1] * state.sides[2], state.sides[2], 1};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto radius = std::ptrdiff_t{layout.radius[axis]}, size = static_cast<std::ptrdiff_t>(layout.shape[axis]);
    const auto move = [&](std::ptrdiff_t from) {
      const std::size_t source = static_cast<std::size_t>(from + static_cast<std::ptrdiff_t>(state.before[axis]));
      const std::size_t image = layout.source(axis, from) + state.before[axis];
      const std::size_t one = axis == 0 ? 1 : 0, two = axis == 2 ? 1 : 2;
      for (std::size_t field = 0; field < grid.fields(); ++field) {
        T* const cells = grid.field(field).data();
        for (std::size_t i = 0; i < state.sides[one]; ++i) {
          for (std::size_t k = 0; k < state.sides[two]; ++k) {
            const std::size_t line = i * steps[one] + k * steps[two];
            cells[line + image * steps[axis]] += cells[line + source * steps[axis]];
            cells[line + source * steps[axis]] = T{};
          }
        }
      }
    };
    for (std::ptrdiff_t k = 1; k <= radius; ++k) {
      if (layout.low[axis] == Border::mirror) move(-k);
      if (layout.high[axis] == Border::mirror) move(size - 1 + k);
    }
  }
}

// A forward run and its reverse run; the functions that reverse_blocks() calls are public.
template <class T>
class ReverseRun {
 public:
  ReverseRun(const PlanGradientState<T>& state, const Grid<T>& start, std::size_t steps, const Grid<T>* coefficients,
             const typename PlanGradient<T>::Misfit& misfit, std::size_t memory,
             const typename PlanGradient<T>::Sources& sources, const RunCheckpoints& checkpoints)
      : state_(state),
        steps_(steps),
        left_(steps),
        media_(coefficients),
        misfit_(misfit),
        sources_(sources),
        checkpoints_(checkpoints),
        owed_(state.shape, state.plan->update().fields),
        values_(state.shape, state.plan->update().coefficients),
        fixed_(state.forward.problem().shape, state.layout.fields),
        derivative_(fixed_),
        session_(state.forward.start(start, coefficients)) {
    const auto bytes = [](const Grid<T>& grid) { return static_cast<double>(grid.all().size() * sizeof(T)); };
    const double one = bytes(fixed_), all = static_cast<double>(base::host_memory());
    history_ = plan_history({.steps = steps,
                             .fixed = 4 * bytes(owed_) + 3 * bytes(values_) + 6 * one,
                             .whole = one,
                             .state = one,
                             .budget = memory > 0 ? static_cast<double>(memory) : all / 2});
    for_reverse_cells(state, [&](std::size_t here, std::size_t there, bool, bool changes) {
      for (std::size_t m = 0; m < state.layout.coefficients; ++m)
        values_.field(m)[there] = coefficients->field(m)[here];
      values_.field(state.mask())[there] = changes ? T{1} : T{0};
    });
    if (!checkpoints.resume.empty()) {
      SavedRunReader from(checkpoints.resume, identity());
      left_ = std::clamp<std::size_t>(from.word(), 1, steps);
      from.get(owed_.data(), owed_.all().size());
      from.get(fixed_.data(), fixed_.all().size());
    }
  }

  FoundGradient<T> run(const Grid<T>& start) {
    reverse_blocks(*this, 0, (left_ + history_.block - 1) / history_.block, history_.states, start);
    FoundGradient<T> found{.state = fixed_,
                           .recomputation = static_cast<double>(taken_) / static_cast<double>(steps_),
                           .explain = history_.explain};
    if (state_.layout.coefficients > 0)
      found.coefficients.emplace(state_.forward.problem().shape, state_.layout.coefficients);
    for_reverse_cells(state_, [&](std::size_t here, std::size_t there, bool inside, bool changes) {
      for (std::size_t k = 0; k < state_.layout.fields && changes; ++k)
        found.state.field(k)[here] = owed_.field(k)[there];
      for (std::size_t m = 0; m < state_.layout.coefficients && inside; ++m)
        found.coefficients->field(m)[here] = owed_.field(state_.layout.fields + m)[there];
    });
    return found;
  }

  void restore(const Grid<T>& state) { session_ = state_.forward.start(state, media_); }
  void advance(std::size_t block, std::size_t blocks) {
    for (std::size_t n = block * history_.block; n < end_of(block + blocks - 1); ++n) step(n);
  }
  Grid<T> save() {
    Grid<T> kept = fixed_;
    session_.read(kept);
    return kept;
  }
  void reverse(std::size_t block) {
    const std::size_t begin = block * history_.block, end = std::min(left_, end_of(block));
    std::vector<Grid<T>> states;
    for (std::size_t n = begin; n < end; ++n) {
      states.push_back(save());
      step(n);
    }
    states.push_back(save());
    for (std::size_t n = end; n-- > begin;) {
      add_misfit(n + 1, states.back());
      states.pop_back();
      step_back(states.back());
      save_if_due(n);
    }
  }

 private:
  void step(std::size_t n) {
    session_.run(1);
    if (sources_) sources_(n + 1, session_);
    ++taken_;
  }
  std::size_t end_of(std::size_t block) const { return std::min(steps_, (block + 1) * history_.block); }

  void add_misfit(std::size_t step, const Grid<T>& state) {
    std::fill(derivative_.all().begin(), derivative_.all().end(), T{});
    misfit_(step, state, derivative_);
    for_reverse_cells(state_, [&](std::size_t here, std::size_t there, bool inside, bool changes) {
      for (std::size_t k = 0; k < state_.layout.fields && inside; ++k)
        (changes ? owed_.field(k)[there] : fixed_.field(k)[here]) += derivative_.field(k)[here];
    });
  }

  void step_back(const Grid<T>& state) {
    for_reverse_cells(state_, [&](std::size_t here, std::size_t there, bool, bool) {
      for (std::size_t k = 0; k < state_.layout.fields; ++k)
        values_.field(state_.layout.coefficients + k)[there] = state.field(k)[here];
    });
    state_.plan->run(owed_, 1, &values_);
    fold_ghosts(state_, owed_);
    // Fixed cells keep their values in a step, so their derivatives of all steps are added.
    for_reverse_cells(state_, [&](std::size_t here, std::size_t there, bool inside, bool changes) {
      for (std::size_t k = 0; k < state_.layout.fields && inside && !changes; ++k)
        fixed_.field(k)[here] += owed_.field(k)[there];
    });
  }

  // `n` steps are left to go back.
  void save_if_due(std::size_t n) {
    if (!checkpoints_.due || n == 0 || !checkpoints_.due(steps_ - n)) return;
    SavedRun to(identity());
    to.add(n);
    to.add(owed_.data(), owed_.all().size());
    to.add(fixed_.data(), fixed_.all().size());
    checkpoints_.save(to.bytes());
  }
  std::vector<std::size_t> identity() const {
    return {kSavedPlanGradient, steps_, owed_.all().size(), fixed_.all().size(), sizeof(T)};
  }

  const PlanGradientState<T>& state_;
  std::size_t steps_, left_, taken_ = 0;
  const Grid<T>* media_;
  const typename PlanGradient<T>::Misfit& misfit_;
  const typename PlanGradient<T>::Sources& sources_;
  const RunCheckpoints& checkpoints_;
  Grid<T> owed_, values_, fixed_, derivative_;
  Session<T> session_;
  History history_{};
};

}  // namespace

template <class T>
PlanGradient<T>::PlanGradient(const Plan<T>& forward, const planner::Options& options) {
  auto state = std::make_shared<PlanGradientState<T>>(
      PlanGradientState<T>{.forward = forward, .layout = resolve(forward.update(), forward.problem())});
  const Update<T> update = derivative_update(forward.update());
  const Problem problem = reverse_problem(*state, update);
  state->plan.emplace(forward.device(), update, problem, options);
  state_ = std::move(state);
}

template <class T>
FoundGradient<T> PlanGradient<T>::run(const Grid<T>& start, std::size_t steps, const Grid<T>* coefficients,
                                      const Misfit& misfit, std::size_t memory, const Sources& sources,
                                      const RunCheckpoints& checkpoints) const {
  if (steps == 0) refuse_gradient("a gradient needs at least 1 step, got 0");
  if (!misfit) refuse_gradient("a gradient needs a function that gives the derivative of the misfit");
  const Grid<T> packed = start;
  std::optional<Grid<T>> media;
  if (coefficients != nullptr) media.emplace(*coefficients);
  return ReverseRun<T>(*state_, packed, steps, media ? &*media : nullptr, misfit, memory, sources, checkpoints)
      .run(packed);
}

template <class T>
const Plan<T>& PlanGradient<T>::plan() const {
  return *state_->plan;
}

template class PlanGradient<float>;
template class PlanGradient<double>;

}  // namespace ridge::stencil
