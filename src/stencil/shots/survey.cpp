// Acoustic surveys: recording, adjoint runs and gradients.
#include <ridge/stencil/survey.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/threads.hpp"
#include "stencil/adjoint/adjoint_update.hpp"
#include "stencil/shots/reversal.hpp"
#include "stencil/shots/saved_run.hpp"

namespace ridge::stencil {
namespace {

// Sets made.wavelets to rows of steps by sources. A shot gives one wavelet per source, or one for all its sources.
template <class T>
void prepare_wavelets(std::span<const Shot> shots, std::size_t axes, std::size_t steps, Prepared<T>& made) {
  made.wavelets.resize(steps * made.sources.points);
  std::size_t source = 0;
  for (const Shot& shot : shots) {
    const std::size_t sources = shot.sources.size() / axes;
    const bool each = shot.wavelets.size() == steps * sources;
    if (!each && shot.wavelets.size() != steps)
      refuse_survey(
          fmt::format("wavelets of {} sources and {} steps need {} values, or {} for all sources together; got {}",
                      sources, steps, steps * sources, steps, shot.wavelets.size()));
    for (std::size_t k = 0; k < sources; ++k, ++source) {
      for (std::size_t step = 0; step < steps; ++step) {
        const double value = shot.wavelets[(each ? k * steps : 0) + step];
        if (!std::isfinite(value))
          refuse_survey(fmt::format("the wavelet of source {} is {} at step {}", k, value, step));
        made.wavelets[step * made.sources.points + source] = static_cast<T>(value);
      }
    }
  }
}

template <class T>
Prepared<T> prepare(const SurveyState<T>& state, std::span<const Shot> shots, std::size_t steps,
                    bool with_wavelets = true) {
  if (steps == 0) refuse_survey("a shot needs at least 1 step, got 0");
  if (shots.empty() || shots.size() > state.medium.batch)
    refuse_survey(fmt::format("this survey computes 1 to {} shots at once, got {}", state.medium.batch, shots.size()));
  Prepared<T> made;
  std::vector<std::vector<double>> sources, receivers;
  for (const Shot& shot : shots) {
    if (shot.sources.empty()) refuse_survey("a shot needs at least 1 source, got 0");
    sources.push_back(shot.sources);
    receivers.push_back(shot.receivers);
    made.counts.push_back(shot.receivers.size() / state.place.shape.size());
  }
  made.sources = point_table(sources, state.place, state.forward->layout, "source");
  made.receivers = point_table(receivers, state.place, state.forward->layout, "receiver");
  if (with_wavelets) prepare_wavelets(shots, state.place.shape.size(), steps, made);
  return made;
}

// Reorders traces: from one block per shot, of steps by its receivers, to one row per step with the receivers of all
// shots (`to_rows`), or back.
template <class T>
std::vector<T> regrouped(std::span<const T> from, std::size_t steps, const std::vector<std::size_t>& counts,
                         bool to_rows) {
  if (counts.size() == 1) return {from.begin(), from.end()};
  std::vector<T> to(from.size());
  const std::size_t all = from.size() / steps;
  std::size_t before = 0;  // receivers of the shots before
  for (const std::size_t count : counts) {
    for (std::size_t step = 0; step < steps; ++step) {
      const std::size_t in_shot = steps * before + step * count, in_row = step * all + before;
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(to_rows ? in_shot : in_row), count,
                  to.begin() + static_cast<std::ptrdiff_t>(to_rows ? in_row : in_shot));
    }
    before += count;
  }
  return to;
}

template <class T>
void check_traces(std::span<const T> traces, std::size_t steps, std::size_t receivers, const char* what) {
  if (traces.size() != steps * receivers)
    refuse_survey(fmt::format("{} traces of {} steps and {} receivers need {} values, got {}", what, steps, receivers,
                              steps * receivers, traces.size()));
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (!std::isfinite(traces[i]))
      refuse_survey(fmt::format("{} traces: the value of receiver {} at step {} is {}", what, i % receivers,
                                i / receivers, traces[i]));
  }
}

template <class T>
std::vector<double> by_source(const std::vector<T>& rows, std::size_t steps, std::size_t sources) {
  std::vector<double> values(rows.size());
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t k = 0; k < sources; ++k) values[k * steps + step] = static_cast<double>(rows[step * sources + k]);
  }
  return values;
}

// u of the last of `shots` shots in the cells of the model.
template <class T>
std::vector<T> field_of(const SurveyState<T>& state, ShotRun<T>& run, std::size_t shots) {
  Grid<T> grid(state.grid_shape(), 2);
  run.read(grid);
  std::vector<T> field;
  const std::size_t first = (shots - 1) * state.cells();
  const std::size_t width = state.shape.back(), begin = state.place.begin.back();
  for (std::size_t row = begin; row < state.cells(); row += width) {  // the row's first cell of the model
    const T* const from = grid.field(0).data() + first + row;
    if (inside_model(state.place, state.shape, row)) field.insert(field.end(), from, from + state.place.shape.back());
  }
  return field;
}

// The image of a migration: per shot, the adjoint run's correlation divided by the forward run's illumination, summed
// over the shots. Integrated by parts, the sum over time of u_tt p is that of -u_t p_t, and of u_tt u that of -u_t^2.
template <class T>
std::vector<double> migrated(const SurveyState<T>& state, Reversal<T>& reversal) {
  Grid<T> image(state.grid_shape()), light(state.grid_shape());
  reversal.read_image(image);
  reversal.read_illumination(light);
  std::vector<double> sum(state.medium.velocity.size());
  for (std::size_t shot = 0; shot < state.medium.batch; ++shot) {
    const std::size_t first = shot * state.cells();
    double most = 0;
    for (std::size_t i = 0; i < state.cells(); ++i) {
      if (inside_model(state.place, state.shape, i))
        most = std::max(most, -static_cast<double>(light.all()[first + i]));
    }
    for (std::size_t i = 0; i < state.cells() && most > 0; ++i) {
      if (!inside_model(state.place, state.shape, i)) continue;
      sum[model_cell(state.place, state.shape, i)] -=
          static_cast<double>(image.all()[first + i]) /
          std::max(1e-3 * most, -static_cast<double>(light.all()[first + i]));
    }
  }
  return sum;
}

// The image is the sum of V adjoint * V w: its quotient by V^2 is the derivative with respect to V = (c dt)^2. A cell
// of a layer has the velocity of the nearest cell of the model, so its derivative is added to that cell. Each thread
// adds to its own part of the model.
template <class T>
void add_image(const SurveyState<T>& state, const Grid<T>& image, std::vector<double>& gradient) {
  const double dt = state.medium.dt;
  const Layout& layout = state.forward->layout;
  const std::size_t width = layout.shape[2], begin = state.place.begin.back(), side = state.place.shape.back();
  const T *const sums = image.data(), *const squares = state.coefficients.data();
  const double* const velocity = state.medium.velocity.data();
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const base::Share part = base::share(gradient.size(), thread, threads, side);
    for (std::size_t row = 0; row < layout.rows(); ++row) {
      const std::size_t first = model_cell(state.place, state.shape, row * width % state.cells());
      if (first < part.begin || first >= part.end || !is_updated(layout, row * width + layout.begin[2])) continue;
      for (std::size_t x = layout.begin[2]; x < layout.end[2]; ++x) {
        const std::size_t cell = first + (x < begin ? 0 : std::min(x - begin, side - 1)), at = row * width + x;
        const auto v = static_cast<double>(squares[at]);
        gradient[cell] += static_cast<double>(sums[at]) / (v * v) * 2 * velocity[cell] * dt * dt;
      }
    }
  });
}

// Bound of the relative error that the rounding of snapshots causes in the gradient. Roundings of different snapshots
// and cells are taken as independent: the square of the error's norm is then the sum of the cells' variances, up to a
// factor that the tests' random models stay below.
template <class T>
double rounding_error(const SurveyState<T>& state, const Grid<T>& rounding, const std::vector<double>& gradient) {
  constexpr double kSafety = 2;
  const double dt = state.medium.dt;
  double squares = 0, whole = 0;
  std::vector<double> parts(base::hardware_threads());
  base::parallel(parts.size(), [&](std::size_t thread, std::size_t threads) {
    const base::Share part = base::share(rounding.cells(), thread, threads);
    double sum = 0;
    for (std::size_t i = part.begin; i < part.end; ++i) {
      if (rounding.all()[i] == T{0} || !is_updated(state.forward->layout, i)) continue;
      const auto v = static_cast<double>(state.coefficients.all()[i]), root = static_cast<double>(rounding.all()[i]);
      sum += root * root / (v * v * v) * 4 * dt * dt;
    }
    parts[thread] = sum;
  });
  for (const double part : parts) squares += part;
  for (const double value : gradient) whole += value * value;
  return squares == 0 ? 0 : whole > 0 ? kSafety * std::sqrt(squares / whole) : 1;
}

}  // namespace

template <class T>
Survey<T>::Survey(const Device& device, const SurveyMedium& medium, const planner::Options& options) {
  check_velocity(medium);
  std::shared_ptr<SurveyState<T>> state(
      new SurveyState<T>{.device = device, .medium = medium, .coefficients = Grid<T>({1})});
  complete_medium(state->medium);
  state->fastest = *std::max_element(medium.velocity.begin(), medium.velocity.end());
  Borders borders;
  place_model(*state, borders);
  Update<T> update = acoustic<T>(acoustic_of(state->medium), {.cells = medium.layer,
                                                              .fastest = state->fastest,
                                                              .frequency = state->medium.frequency,
                                                              .free_surface = medium.free_surface});
  update.equal_planes = medium.batch > 1;
  const Problem problem{.shape = state->grid_shape(), .borders = borders, .threads = medium.threads};
  state->forward = std::make_shared<Chosen<T>>(choose_variant(device, update, problem, options, true));
  AdjointUpdate<T> adjoint = adjoint_update(update, state->forward->layout);
  // The adjoint of leapfrog in a medium is the same update; only what the layers add differs.
  adjoint.update.equal_planes = update.equal_planes;
  Chosen<T> backward = *state->forward;
  backward.layers = make_layers<T>(device, adjoint.update, state->forward->layout, backward.aligned);
  state->backward = std::make_shared<Chosen<T>>(std::move(backward));
  Update<T> plain = update;
  plain.layers.clear();
  Chosen<T> reversed = *state->forward;
  reversed.layers = make_layers<T>(device, plain, state->forward->layout);
  state->reversed = std::make_shared<Chosen<T>>(std::move(reversed));
  fill_coefficients(*state);
  state_ = std::move(state);
}

template <class T>
Survey<T> Survey<T>::with_velocity(std::vector<double> velocity) const {
  auto state = std::make_shared<SurveyState<T>>(*state_);
  state->medium.velocity = std::move(velocity);
  check_velocity(state->medium);
  complete_medium(state->medium);
  fill_coefficients(*state);
  return Survey(std::move(state));
}

template <class T>
std::vector<double> Survey<T>::ricker(std::size_t steps, double shift) const {
  std::vector<double> wavelet(steps);
  for (std::size_t n = 0; n < steps; ++n) {
    const double t = (static_cast<double>(n) + shift) * state_->medium.dt;
    const double a = std::numbers::pi * state_->medium.frequency * (t - 1.5 / state_->medium.frequency);
    wavelet[n] = (1 - 2 * a * a) * std::exp(-a * a);
  }
  return wavelet;
}

template <class T>
std::vector<T> Survey<T>::record(std::span<const Shot> shots, std::size_t steps, std::vector<T>* field,
                                 const SurveyProgress& progress, const SurveySnapshots<T>& snapshots,
                                 const RunCheckpoints& checkpoints) const {
  const SurveyState<T>& state = *state_;
  const Prepared<T> prepared = prepare(state, shots, steps);
  const auto run = start_shot(state.device, *state.forward, state.coefficients);
  const std::size_t sources = run->attach(prepared.sources, steps), heard = run->attach(prepared.receivers, steps);
  run->put_rows(sources, 0, steps, prepared.wavelets.data());
  if (progress) progress(0);
  std::size_t begin = 0;
  std::vector<T> saved, rows(steps * prepared.receivers.points);
  const std::vector<std::size_t> identity{kSavedRecord, steps, prepared.receivers.points, run->state_values(),
                                          sizeof(T)};
  if (!checkpoints.resume.empty()) {
    SavedRunReader from(checkpoints.resume, identity);
    saved.resize(run->state_values());
    begin = std::min<std::size_t>(from.word(), steps);
    from.get(saved.data(), saved.size());
    from.get(rows.data(), begin * prepared.receivers.points);
    run->restore(saved.data());
    run->put_rows(heard, 0, begin, rows.data());
  }
  for (std::size_t n = begin; n < steps; ++n) {
    run->step();
    run->add(sources, n);
    run->take(heard, n);
    if (progress && n + 1 < steps) progress(n + 1);
    if (snapshots.every > 0 && (n + 1) % snapshots.every == 0)
      snapshots.use(n + 1, field_of(state, *run, shots.size()));
    if (!checkpoints.due || n + 1 == steps || !checkpoints.due(n + 1)) continue;
    SavedRun to(identity);
    to.add(n + 1);
    saved.resize(run->state_values());
    run->save(saved.data());
    to.add(saved.data(), saved.size());
    run->get_rows(heard, 0, n + 1, rows.data());
    to.add(rows.data(), (n + 1) * prepared.receivers.points);
    checkpoints.save(to.bytes());
  }
  run->wait();
  if (progress) progress(steps);
  run->get_rows(heard, 0, steps, rows.data());
  std::vector<T> traces = regrouped<T>(rows, steps, prepared.counts, false);
  if (field != nullptr) *field = field_of(state, *run, shots.size());
  return traces;
}

template <class T>
std::vector<double> Survey<T>::adjoint(std::span<const Shot> shots, std::size_t steps,
                                       std::span<const T> traces) const {
  const Prepared<T> prepared = prepare(*state_, shots, steps, false);
  check_traces(traces, steps, prepared.receivers.points, "the adjoint's");
  const auto run = start_shot(state_->device, *state_->backward, state_->coefficients);
  const std::size_t residuals = run->attach(prepared.receivers, steps), pulses = run->attach(prepared.sources, steps);
  run->put_rows(residuals, 0, steps, regrouped(traces, steps, prepared.counts, true).data());
  for (std::size_t n = steps; n-- > 0;) {
    run->add(residuals, n);
    run->take(pulses, n);
    if (n > 0) run->step();
  }
  std::vector<T> rows(steps * prepared.sources.points);
  run->get_rows(pulses, 0, steps, rows.data());
  return by_source(rows, steps, prepared.sources.points);
}

template <class T>
Gradient Survey<T>::gradient(std::span<const Shot> shots, std::size_t steps, std::span<const T> observed,
                             const GradientOptions& options) const {
  const SurveyState<T>& state = *state_;
  if (options.bits != 0 && options.bits != 8 && options.bits != 16)
    refuse_survey(fmt::format("snapshots of {} bits; 8, 16, or 0 for either are possible", options.bits));
  if (!(options.error >= 0) || !(options.error < 1))
    refuse_survey(
        fmt::format("an error of {} for a gradient; it must be at least 0 (exact) and below 1", options.error));
  if (options.image && options.backwards)
    refuse_survey("an image needs the waves of both runs at the same steps: leave out `backwards`");
  const Prepared<T> prepared = prepare(state, shots, steps);
  check_traces(observed, steps, prepared.receivers.points, "observed");
  const std::vector<T> rows = regrouped(observed, steps, prepared.counts, true);
  Reversal<T> reversal(state, prepared, steps, rows, options);
  reversal.run();
  const std::vector<T> traces = regrouped<T>(reversal.traces(), steps, prepared.counts, false);
  Gradient gradient{.misfit = reversal.misfit(),
                    .velocity = std::vector<double>(state.medium.velocity.size()),
                    .wavelets = by_source(reversal.pulses(), steps, prepared.sources.points),
                    .traces = std::vector<double>(traces.begin(), traces.end()),
                    .recomputation = reversal.taken() / static_cast<double>(steps),
                    .seconds = reversal.seconds(),
                    .error = reversal.history().error,
                    .explain = reversal.history().explain};
  Grid<T> image(state.grid_shape());
  const bool rounds = reversal.history().bits != SnapshotBits::whole;
  if (options.image) {
    gradient.image = migrated(state, reversal);
    gradient.error = reversal.skipping_error() + error_of(reversal.history().bits);
  } else {
    reversal.read_image(image);
    add_image(state, image, gradient.velocity);
    gradient.measured = reversal.measured_error(image);
    gradient.error = reversal.skipping_error();
    if (rounds) {
      reversal.read_rounding(image);
      gradient.error += rounding_error(state, image, gradient.velocity);
    }
  }
  if (gradient.error > reversal.history().error)
    gradient.explain +=
        fmt::format("\n  the residuals allow an error up to {:.2g}: with `exact` there is none", gradient.error);
  else if (rounds)
    gradient.explain += fmt::format("\n  error of this run up to {:.2g}", gradient.error);
  if (gradient.measured)
    gradient.explain += fmt::format("\n  error measured in sampled cells: {:.2g}", *gradient.measured);
  return gradient;
}

template <class T>
const SurveyMedium& Survey<T>::medium() const {
  return state_->medium;
}
template <class T>
double Survey<T>::courant() const {
  return courant_number(acoustic_of(state_->medium),
                        *std::max_element(state_->medium.velocity.begin(), state_->medium.velocity.end()));
}
template <class T>
std::string Survey<T>::explain() const {
  return state_->forward->decision.explain() + fmt::format("grid of {} cells: a model of {}, layers of {} cells{}\n",
                                                           fmt::join(state_->grid_shape(), " x "),
                                                           fmt::join(state_->medium.shape, " x "), state_->medium.layer,
                                                           state_->medium.free_surface ? ", a free surface" : "");
}

template <class T>
const planner::Decision& Survey<T>::decision() const {
  return state_->forward->decision;
}

template class Survey<float>;
template class Survey<double>;

}  // namespace ridge::stencil
