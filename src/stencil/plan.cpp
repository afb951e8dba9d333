// Planning a stencil: checks the problem, lists the variants, chooses one, starts sessions.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "plan/arguments.hpp"
#include "plan/improve.hpp"
#include "stencil/chosen.hpp"
#include "stencil/leap/leap.hpp"
#include "stencil/trials.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {

template <class T>
struct PlanState {
  Device device;
  Update<T> update;
  Problem problem;
  Layout layout;
  std::vector<planner::Decision> decisions{};
  std::vector<KernelSource> kernels{};
  std::shared_ptr<const Variant<T>> variant{};
  std::shared_ptr<const Layers<T>> layers{};  // null: none
  LeapChoice leap_choice{};
  Effort effort = Effort::quick;
  mutable std::once_flag leap_once{};
  mutable std::unique_ptr<const Leap<T>> leap_made{};

  bool leaps(std::size_t steps) const { return leap_choice.from > 0 && steps >= leap_choice.from; }
  // Created on first use: most plans never run that many steps.
  const Leap<T>& leap() const {
    if constexpr (std::is_floating_point_v<T>) {
      std::call_once(leap_once, [this] {
        leap_made = device.is_host() ? host_leap<T>(update, layout) : device_leap<T>(device, update, layout, effort);
      });
    }
    return *leap_made;
  }
};

template <class T>
struct SessionState {
  std::shared_ptr<const PlanState<T>> plan;
  std::unique_ptr<Running<T>> running;
  std::unique_ptr<LayerState<T>> layers;
  std::size_t steps = 0;
  bool no_leap = false;   // a leap was refused because the grid grows
  std::vector<T> kept{};  // recorded boxes if the variant does not record them itself
};

namespace {

[[noreturn]] void refuse_call(const std::string& what) { throw Error(ErrorKind::invalid_argument, "stencil: " + what); }

template <class T>
bool has_layers(const Update<T>& update) {
  return !update.layers.empty() || update.free_surface;
}

// Layers, sources and receivers are computed after every step, so temporal blocking does not apply.
template <class T>
std::vector<Entry<T>> listed_entries(const Device& device, const Update<T>& update, const Layout& layout,
                                     bool single_steps) {
  std::vector<Entry<T>> entries = list_variants(device, update, layout);
  if (!single_steps) return entries;
  std::erase_if(entries, [](const Entry<T>& entry) {
    return depth_of(entry.candidate) > 1 || entry.candidate.variant == "overlapped_tiles";
  });
  return entries;
}

template <class T>
planner::Problem describe(const Device& device, const Update<T>& update, const Layout& layout, bool single_steps) {
  std::string key = layout.key();
  if (single_steps) key += " in single steps";
  if (device.is_host()) key += fmt::format(" threads {}", layout.threads);
  if (device.is_host() && layout.schedule != Schedule::automatic) key += " schedule " + to_string(layout.schedule);
  const planner::Cost least = step_cost(update, layout, 2, 1);
  return {.workload = "stencil", .key = key, .flops = least.flops, .bytes = least.bytes};
}

template <class T>
void check_grid(const PlanState<T>& state, const Grid<T>& grid) {
  if (grid.shape() != state.problem.shape)
    refuse_call(fmt::format("the grid has {} cells, the plan needs {}", fmt::join(grid.shape(), " x "),
                            fmt::join(state.problem.shape, " x ")));
  if (grid.fields() != state.layout.fields)
    refuse_call(fmt::format("the grid has {} fields, the update needs {}", grid.fields(), state.layout.fields));
}

void check_coefficients_given(const Layout& layout, bool given) {
  if (given == (layout.coefficients > 0)) return;
  if (given) refuse_call("the update reads no coefficients: pass none");
  refuse_call(fmt::format("the update reads {} coefficient {}: pass a grid of them", layout.coefficients,
                          layout.coefficients == 1 ? "field" : "fields"));
}

template <class T>
void check_coefficients(const PlanState<T>& state, const Grid<T>* coefficients) {
  check_coefficients_given(state.layout, coefficients != nullptr);
  if (coefficients == nullptr) return;
  if (coefficients->shape() != state.problem.shape || coefficients->fields() != state.layout.coefficients)
    refuse_call(fmt::format("the coefficients have {} cells and {} fields, the plan needs {} and {}",
                            fmt::join(coefficients->shape(), " x "), coefficients->fields(),
                            fmt::join(state.problem.shape, " x "), state.layout.coefficients));
}

// Starts from grids with any strides.
template <class T>
std::unique_ptr<Running<T>> start_from(const Variant<T>& variant, const Grid<T>& grid, const Grid<T>* coefficients) {
  if (variant.takes_strides()) return variant.start(grid, coefficients);
  if (!grid.packed()) return start_from(variant, Grid<T>(grid), coefficients);
  if (coefficients == nullptr || coefficients->packed()) return variant.start(grid, coefficients);
  const Grid<T> packed = *coefficients;
  return variant.start(grid, &packed);
}

template <class T>
bool leapt_over(const Leap<T>& leap, Grid<T>& grid, const leap::Reach& reach) {
  if (grid.packed()) return leap.run(grid, reach);
  Grid<T> packed = grid;
  if (!leap.run(packed, reach)) return false;
  grid.copy(packed);
  return true;
}

// A convergence check costs up to one step and interrupts temporal blocking.
std::size_t checking_interval(std::size_t depth) { return std::max<std::size_t>(32, 4 * depth); }

}  // namespace

// One clear message instead of every variant's own failure.
template <class T>
void check_memory(const Device& device, const Layout& layout) {
  const double cells = static_cast<double>(layout.cells()) * sizeof(T);
  const double needed = cells * static_cast<double>(2 * layout.fields + layout.coefficients);
  const auto there = static_cast<double>(device.limits().memory);
  if (there == 0 || needed <= there) return;
  throw Error(ErrorKind::out_of_memory,
              fmt::format("stencil: two time levels of {} cells need {}, more than the {} of {}",
                          fmt::join(layout.shape.begin() + static_cast<std::ptrdiff_t>(3 - layout.dimensions),
                                    layout.shape.end(), " x "),
                          base::human_bytes(needed), base::human_bytes(there), device.id()));
}

template <class T>
Chosen<T> choose_variant(const Device& device, const Update<T>& update, const Problem& problem,
                         const planner::Options& options, bool single_steps) {
  Chosen<T> chosen{.layout = resolve(update, problem)};
  single_steps = single_steps || has_layers(update);
  check_memory<T>(device, chosen.layout);
  const std::vector<Entry<T>> entries = listed_entries(device, update, chosen.layout, single_steps);
  Trials<T> trials(device, update, problem, chosen.layout, entries);
  auto choice =
      planner::choose(device, describe(device, update, chosen.layout, single_steps), entries, options, trials);
  chosen.kernels = planner::kernels_of(entries[choice.decision.winner]);
  chosen.aligned = entries[choice.decision.winner].candidate.variant == "system_planes";
  chosen.layers = make_layers<T>(device, update, chosen.layout, chosen.aligned);
  if (chosen.layers) {
    for (KernelSource& kernel : chosen.layers->kernels()) chosen.kernels.push_back(std::move(kernel));
  }
  chosen.variant = std::move(choice.winner);
  chosen.decision = std::move(choice.decision);
  return chosen;
}

namespace {

template <class T>
std::shared_ptr<const PlanState<T>> made_plan(const Device& device, const Update<T>& update, const Problem& problem,
                                              const planner::Options& options) {
  std::shared_ptr<PlanState<T>> state(new PlanState<T>{device, update, problem, resolve(update, problem)});
  Chosen<T> chosen = choose_variant(device, update, problem, options);
  state->kernels = std::move(chosen.kernels);
  state->layers = std::move(chosen.layers);
  state->variant = std::move(chosen.variant);
  const planner::Trial& winner = chosen.decision.trials[chosen.decision.winner];
  state->effort = options.effort;
  state->leap_choice = choose_leap(device, update, problem, state->layout,
                                   winner.measured_seconds > 0 ? winner.measured_seconds : winner.predicted_seconds);
  state->decisions.push_back(std::move(chosen.decision));
  return state;
}

}  // namespace

template <class T>
Plan<T>::Plan(const Device& device, const Update<T>& update, const Problem& problem, const planner::Options& options)
    : state_(made_plan(device, update, problem, options)) {
  planner::improve<PlanState<T>>(state_, options, [device, update, problem](const planner::Options& measuring) {
    return made_plan(device, update, problem, measuring);
  });
}

template <class T>
Session<T> Plan<T>::start(const Grid<T>& grid, const Grid<T>* coefficients) const {
  const std::shared_ptr<const PlanState<T>> plan = planner::current(state_);
  check_grid(*plan, grid);
  check_coefficients(*plan, coefficients);
  return Session<T>(std::make_shared<SessionState<T>>(
      SessionState<T>{plan, start_from(*plan->variant, grid, coefficients),
                      plan->layers ? plan->layers->start() : std::unique_ptr<LayerState<T>>()}));
}

template <class T>
void Plan<T>::run(Grid<T>& grid, std::size_t steps, const Grid<T>* coefficients) const {
  check_grid(*state_, grid);
  check_coefficients(*state_, coefficients);
  if (steps == 0) return;
  const PlanState<T>& plan = *state_;  // state_ may be exchanged during the run
  if (plan.device.is_host() && plan.leaps(steps) && leapt_over(plan.leap(), grid, reach_of(plan.layout, steps))) return;
  Session<T> session = start(grid, coefficients);
  session.run(steps);
  session.read(grid);
}

template <class T>
void Plan<T>::enqueue(Queue& queue, const Buffer& in, const Buffer& out, std::size_t steps,
                      const Buffer& coefficients) const {
  if (state_->device.is_host()) no_buffers();
  if (state_->layers) refuse_call("enqueue() of buffers is not available with absorbing layers: use start()");
  const Layout& layout = state_->layout;
  const std::size_t field = layout.cells() * sizeof(T);
  planner::check_queue("stencil", queue, state_->device);
  planner::check_buffer("stencil", "input", in, state_->device, layout.fields * field);
  planner::check_buffer("stencil", "output", out, state_->device, layout.fields * field);
  check_coefficients_given(layout, static_cast<bool>(coefficients));
  if (coefficients) {
    planner::check_buffer("stencil", "coefficients", coefficients, state_->device, layout.coefficients * field);
  }
  state_->variant->enqueue(queue, in, out, coefficients, steps);
}

template <class T>
void Plan<T>::steady(Grid<T>& grid) const {
  check_grid(*state_, grid);
  if (!state_->leap_choice.refusal.empty())
    refuse_call("the steady state cannot be computed directly: " + state_->leap_choice.refusal);
  if (state_->layout.fields > 1)
    refuse_call(fmt::format("the steady state cannot be computed directly: it needs a single field, got {}",
                            state_->layout.fields));
  if constexpr (std::is_floating_point_v<T>) {
    double weights = 0;
    for (const Term& term : *state_->update.linear) weights += std::fabs(term.weight);
    leap::Reach reach{.forever = true, .still = 4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * weights};
    const std::unique_ptr<const Leap<T>> made = host_leap<T>(state_->update, state_->layout);
    if (!leapt_over(*made, grid, reach)) refuse_call("the update has no steady state, or a cell is NaN");
  }
}

template <class T>
std::size_t Plan<T>::leaps_from() const {
  return state_->leap_choice.from;
}

template <class T>
Stop Plan<T>::run_until(Grid<T>& grid, double tolerance, Norm norm, std::size_t most_steps, std::size_t check_every,
                        const Grid<T>* coefficients) const {
  Session<T> session = start(grid, coefficients);
  const Stop stop = session.run_until(tolerance, norm, most_steps, check_every);
  session.read(grid);
  return stop;
}

template <class T>
std::string Plan<T>::explain() const {
  const PlanState<T>& plan = *state_;
  std::string text = plan.decisions.front().explain() + plan.leap_choice.explain();
  const Update<T>& update = plan.update;
  if (!update.layers.empty())
    text += fmt::format("absorbing layers of {} cells at {} sides, computed after each step\n",
                        update.layers.front().cells, update.layers.size());
  if (update.free_surface) text += "free surface at the low side of the first axis\n";
  return text;
}
template <class T>
const std::vector<planner::Decision>& Plan<T>::decisions() const {
  return state_->decisions;
}
template <class T>
const std::vector<KernelSource>& Plan<T>::kernels() const {
  return state_->kernels;
}
template <class T>
double Plan<T>::flops() const {
  return state_->decisions.front().problem.flops;
}
template <class T>
double Plan<T>::bytes() const {
  return state_->decisions.front().problem.bytes;
}
template <class T>
const Update<T>& Plan<T>::update() const {
  return state_->update;
}
template <class T>
const Problem& Plan<T>::problem() const {
  return state_->problem;
}
template <class T>
const Device& Plan<T>::device() const {
  return state_->device;
}

namespace {

// A leap needs memory for a spectrum; steps do not.
template <class T>
bool leapt(const PlanState<T>& plan, Running<T>& running, std::size_t steps) {
  try {
    return plan.leap().run(running, steps);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::out_of_memory) throw;
    return false;
  }
}

}  // namespace

template <class T>
void Session<T>::run(std::size_t steps) {
  if (steps == 0) return;
  const PlanState<T>& plan = *state_->plan;
  if (state_->layers) {
    for (std::size_t step = 0; step < steps; ++step) step_with_layers(*state_->running, state_->layers.get());
    state_->steps += steps;
    return;
  }
  const bool leap = plan.leaps(steps) && !state_->no_leap && state_->running->has_boxes();
  if (!leap || !leapt(plan, *state_->running, steps)) {
    state_->no_leap = state_->no_leap || leap;
    state_->running->run(steps);
  }
  state_->steps += steps;
}

template <class T>
std::size_t Session<T>::leaps_from() const {
  return state_->no_leap ? 0 : state_->plan->leap_choice.from;
}

template <class T>
void Session<T>::prepare(std::size_t steps) {
  if (state_->plan->leaps(steps)) {
    state_->plan->leap().prepare(*state_->running, steps);
  } else {
    state_->running->prepare(steps);
  }
}

template <class T>
double Session<T>::change(Norm norm) {
  if (state_->layers) {
    Grid<T> before(state_->plan->problem.shape, state_->plan->layout.fields), after = before;
    read(before);
    run(1);
    read(after);
    return change_between(before, after, norm);
  }
  const double change = state_->running->change(norm);
  ++state_->steps;
  return change;
}

template <class T>
Stop Session<T>::run_until(double tolerance, Norm norm, std::size_t most_steps, std::size_t check_every) {
  if (!(tolerance >= 0)) refuse_call(fmt::format("the tolerance must be 0 or more, got {}", tolerance));
  const std::size_t every = check_every == 0 ? checking_interval(state_->plan->variant->depth()) : check_every;
  Stop stop;
  while (stop.steps < most_steps) {
    const std::size_t steps = std::min(every, most_steps - stop.steps);
    run(steps - 1);
    stop.change = change(norm);
    stop.steps += steps;
    stop.converged = stop.change <= tolerance;
    if (stop.converged || std::isnan(stop.change)) break;
  }
  return stop;
}

template <class T>
void Session<T>::read(Grid<T>& grid) {
  check_grid(*state_->plan, grid);
  if (grid.packed() || state_->plan->variant->takes_strides()) return state_->running->read(grid);
  Grid<T> packed(grid.shape(), grid.fields());
  state_->running->read(packed);
  grid.copy(packed);
}
template <class T>
void Session<T>::wait() {
  state_->running->wait();
}
template <class T>
std::size_t Session<T>::steps() const {
  return state_->steps;
}

namespace {

// Throws unless the box is inside the grid and `values` is its number of values in all fields.
void check_box(const Layout& layout, const Box& box, std::size_t values) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (box.begin[axis] > layout.shape[axis] || box.extent[axis] > layout.shape[axis] - box.begin[axis]) {
      refuse_call(fmt::format("a box of {} cells from cell {} exceeds the grid of {}", fmt::join(box.extent, " x "),
                              fmt::join(box.begin, ", "), fmt::join(layout.shape, " x ")));
    }
  }
  if (values != box.cells() * layout.fields) {
    refuse_call(fmt::format("a box of {} cells and {} fields needs one value for each, got {} values", box.cells(),
                            layout.fields, values));
  }
}

// Copies a box to or from a whole grid.
template <class T, class Move>
void move_box(const Layout& layout, const Box& box, T* grid, const Move& move) {
  for (std::size_t field = 0; field < layout.fields; ++field) {
    for (std::size_t z = box.begin[0]; z < box.begin[0] + box.extent[0]; ++z) {
      for (std::size_t y = box.begin[1]; y < box.begin[1] + box.extent[1]; ++y) {
        const std::size_t row = (field * layout.shape[0] + z) * layout.shape[1] + y;
        move(grid + row * layout.shape[2] + box.begin[2], box.extent[2]);
      }
    }
  }
}

}  // namespace

void no_buffers() { refuse_call("this plan runs on the host: pass grids, buffers need a plan for their device"); }

void no_boxes() { throw Error(ErrorKind::internal, "stencil: a variant without box access was asked for a box"); }

template <class T>
void Session<T>::get(const Box& box, std::span<T> cells) {
  const PlanState<T>& plan = *state_->plan;
  check_box(plan.layout, box, cells.size());
  if (state_->running->has_boxes()) {
    state_->running->get(box, cells.data());
    return;
  }
  Grid<T> whole(plan.problem.shape, plan.layout.fields);
  state_->running->read(whole);
  T* to = cells.data();
  move_box(plan.layout, box, whole.all().data(),
           [&](const T* row, std::size_t count) { to = std::copy_n(row, count, to); });
}

template <class T>
void Session<T>::put(const Box& box, std::span<const T> cells) {
  const PlanState<T>& plan = *state_->plan;
  check_box(plan.layout, box, cells.size());
  if (state_->running->has_boxes()) {
    state_->running->put(box, cells.data());
    return;
  }
  if (plan.layout.coefficients > 0)
    refuse_call("put() of a box is not supported by this variant with coefficients: start a new session");
  Grid<T> whole(plan.problem.shape, plan.layout.fields);
  state_->running->read(whole);
  const T* from = cells.data();
  move_box(plan.layout, box, whole.all().data(), [&](T* row, std::size_t count) {
    std::copy_n(from, count, row);
    from += count;
  });
  state_->running = plan.variant->start(whole, nullptr);
}

template <class T>
void Session<T>::add(const std::array<std::size_t, 3>& cell, std::size_t field, T value) {
  const Layout& layout = state_->plan->layout;
  const Box box{cell, {1, 1, 1}};
  check_box(layout, box, layout.fields);
  if (field >= layout.fields)
    refuse_call(fmt::format("field {} does not exist: the grid has {}", field, layout.fields));
  if (state_->running->add(cell, field, value)) return;
  std::vector<T> values(layout.fields);
  get(box, std::span<T>(values));
  values[field] = static_cast<T>(values[field] + value);
  put(box, std::span<const T>(values));
}

template <class T>
void Session<T>::keep(const Box& box) {
  const std::size_t values = box.cells() * state_->plan->layout.fields;
  check_box(state_->plan->layout, box, values);
  if (state_->running->keep(box)) return;
  state_->kept.resize(state_->kept.size() + values);
  get(box, std::span<T>(state_->kept).last(values));
}

template <class T>
std::vector<T> Session<T>::kept() {
  std::vector<T> cells = std::exchange(state_->kept, {});
  state_->running->kept(cells);
  return cells;
}

template <class T>
std::vector<planner::Candidate> candidates(const Device& device, const Update<T>& update, const Problem& problem) {
  return planner::candidates_of(list_variants(device, update, resolve(update, problem)));
}

template Chosen<float> choose_variant(const Device&, const Update<float>&, const Problem&, const planner::Options&,
                                      bool);
template Chosen<double> choose_variant(const Device&, const Update<double>&, const Problem&, const planner::Options&,
                                       bool);
template class Plan<float>;
template class Plan<double>;
template class Plan<std::int32_t>;
template class Plan<std::uint8_t>;
template class Session<float>;
template class Session<double>;
template class Session<std::int32_t>;
template class Session<std::uint8_t>;
template std::vector<planner::Candidate> candidates(const Device&, const Update<float>&, const Problem&);
template std::vector<planner::Candidate> candidates(const Device&, const Update<double>&, const Problem&);
template std::vector<planner::Candidate> candidates(const Device&, const Update<std::int32_t>&, const Problem&);
template std::vector<planner::Candidate> candidates(const Device&, const Update<std::uint8_t>&, const Problem&);

}  // namespace ridge::stencil
