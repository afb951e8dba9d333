// Acoustic surveys: planning, recording, adjoint runs and gradients.
#include <ridge/stencil/survey.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/stencil/problems.hpp>

#include "base/clock.hpp"
#include "base/threads.hpp"
#include "stencil/adjoint/adjoint_update.hpp"
#include "stencil/shots/history.hpp"
#include "stencil/shots/shot_run.hpp"

namespace ridge::stencil {

template <class T>
struct SurveyState {
  Device device;
  SurveyMedium medium;
  ModelPlace place{};
  std::vector<std::size_t> shape{};  // of the grid of one shot, with layers
  double fastest = 0;                // for which the layers were made
  // `reversed` has no layers: leapfrog undoes itself where they add nothing.
  std::shared_ptr<const Chosen<T>> forward{}, backward{}, reversed{};
  Grid<T> coefficients;
  // The shots of a batch are the planes of a grid with one more axis, along which the update does not read.
  std::vector<std::size_t> grid_shape() const {
    std::vector<std::size_t> all = shape;
    if (medium.batch > 1) all.insert(all.begin(), medium.batch);
    return all;
  }
  std::size_t cells() const { return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()); }
};

namespace {

[[noreturn]] void refuse_survey(const std::string& what) { throw Error(ErrorKind::invalid_argument, what); }

Acoustic acoustic_of(const SurveyMedium& medium) {
  return {.dt = medium.dt,
          .spacing = std::vector<double>(medium.shape.size(), medium.spacing),
          .accuracy = medium.accuracy,
          .batch = medium.batch > 1};
}

std::string cell_text(const std::vector<std::size_t>& shape, std::size_t index) {
  std::vector<std::size_t> cell(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; index /= shape[axis]) cell[axis] = index % shape[axis];
  return fmt::format("({})", fmt::join(cell, ", "));
}

void check_velocity(const SurveyMedium& medium) {
  if (medium.shape.size() < 2 || medium.shape.size() > 3)
    refuse_survey(fmt::format("a velocity model needs 2 or 3 axes, got {}", medium.shape.size()));
  if (medium.batch == 0 || (medium.batch > 1 && medium.shape.size() != 2))
    refuse_survey(fmt::format("a batch of {} shots in a model of {} axes: batches need 1 or more shots and 2 axes",
                              medium.batch, medium.shape.size()));
  std::size_t cells = 1;
  for (const std::size_t side : medium.shape) {
    if (side == 0 || __builtin_mul_overflow(cells, side, &cells))
      refuse_survey(fmt::format("a velocity model of {} cells is empty or too large", fmt::join(medium.shape, " x ")));
  }
  if (medium.velocity.size() != cells)
    refuse_survey(fmt::format("a velocity model of {} cells needs {} values, got {}", fmt::join(medium.shape, " x "),
                              cells, medium.velocity.size()));
  for (std::size_t i = 0; i < cells; ++i) {
    if (!std::isfinite(medium.velocity[i]) || medium.velocity[i] <= 0)
      refuse_survey(fmt::format("the velocity is {} in cell {}; all velocities must be above 0 and finite",
                                medium.velocity[i], cell_text(medium.shape, i)));
  }
  if (!(medium.spacing > 0) || !std::isfinite(medium.spacing))
    refuse_survey(fmt::format("a spacing of {}; it must be above 0", medium.spacing));
}

// Fills in the time step and the frequency, and checks both.
void settle(SurveyMedium& medium) {
  const auto [slowest, fastest] = std::minmax_element(medium.velocity.begin(), medium.velocity.end());
  const double limit = acoustic_limit(medium.accuracy);
  Acoustic acoustic = acoustic_of(medium);
  acoustic.dt = 1;
  if (medium.dt == 0) medium.dt = 0.9 * limit / courant_number(acoustic, *fastest);
  const double number = courant_number(acoustic, *fastest) * medium.dt;
  if (!(number <= limit) || !(medium.dt > 0))
    refuse_survey(
        fmt::format("the time step {:g} is unstable: c dt sqrt(sum of 1/dx^2) is {:.4g} and must not exceed "
                    "{:.4g}; use a dt up to {:.4g}",
                    medium.dt, number, limit, limit / courant_number(acoustic, *fastest)));
  if (medium.frequency == 0) medium.frequency = *slowest / (16 * medium.spacing);
  const double most = *slowest / (2 * medium.spacing);
  if (!(medium.frequency > 0) || !(medium.frequency <= most))
    refuse_survey(
        fmt::format("a frequency of {:g}: waves would be shorter than two cells at the lowest velocity {:g}; "
                    "at most {:.4g} here, or a smaller spacing",
                    medium.frequency, *slowest, most));
}

// The grid: the model with layers and the fixed cells behind them. At a free surface the model's first cells are on the
// surface, which is the innermost fixed cell.
template <class T>
void place_model(SurveyState<T>& state, Borders& borders) {
  const SurveyMedium& medium = state.medium;
  const auto radius = static_cast<std::size_t>(medium.accuracy / 2);
  state.place = {.shape = medium.shape, .layers = medium.layer > 0, .free_surface = medium.free_surface};
  borders = medium.layer > 0 ? Borders::all(Border::fixed) : medium.borders;
  for (std::size_t i = 0; i < medium.shape.size(); ++i) {
    const bool surface = medium.free_surface && i == 0;
    if (surface) borders.low[i] = Border::fixed;
    const std::size_t outside = medium.layer > 0 ? medium.layer + radius : 0;
    state.place.begin.push_back(surface ? radius - 1 : outside);
    state.shape.push_back(state.place.begin[i] + medium.shape[i] + outside);
  }
  if (medium.batch == 1) return;
  for (auto* sides : {&borders.low, &borders.high}) *sides = {Border::fixed, (*sides)[0], (*sides)[1]};
}

// Index of the nearest cell of the model.
std::size_t model_cell(const ModelPlace& place, const std::vector<std::size_t>& shape, std::size_t index) {
  std::size_t cell = 0, stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::size_t at = index % shape[axis];
    index /= shape[axis];
    const std::size_t begin = place.begin[axis], side = place.shape[axis];
    cell += stride * (at < begin ? 0 : std::min(at - begin, side - 1));
    stride *= side;
  }
  return cell;
}

bool inside_model(const ModelPlace& place, const std::vector<std::size_t>& shape, std::size_t index) {
  for (std::size_t axis = shape.size(); axis-- > 0; index /= shape[axis]) {
    const std::size_t at = index % shape[axis];
    if (at < place.begin[axis] || at >= place.begin[axis] + place.shape[axis]) return false;
  }
  return true;
}

bool changes(const Layout& layout, std::size_t index) {
  for (std::size_t axis = 3; axis-- > 0; index /= layout.shape[axis]) {
    const std::size_t at = index % layout.shape[axis];
    if (at < layout.begin[axis] || at >= layout.end[axis]) return false;
  }
  return true;
}

// Cells to which layers add something: those of the layers, and as many next to them as the radius.
template <class T>
std::vector<std::uint32_t> frame_cells(const SurveyState<T>& state) {
  std::vector<std::uint32_t> cells;
  const Layout& layout = state.forward->layout;
  if (state.medium.layer == 0 || layout.cells() > std::numeric_limits<std::uint32_t>::max()) return cells;
  const std::size_t missing = 3 - state.shape.size();
  for (std::size_t i = 0; i < layout.cells(); ++i) {
    if (!changes(layout, i)) continue;
    bool inside = true;
    std::size_t index = i;
    for (std::size_t axis = 3; axis-- > missing; index /= layout.shape[axis]) {
      const std::size_t at = index % layout.shape[axis], band = state.medium.layer + layout.radius[axis];
      const bool surface = state.medium.free_surface && axis == missing;
      inside = inside && (surface || at >= layout.begin[axis] + band) && at + band < layout.end[axis];
    }
    if (!inside) cells.push_back(static_cast<std::uint32_t>(i));
  }
  return cells;
}

// Number of frame_cells().
template <class T>
std::size_t frame_size(const SurveyState<T>& state) {
  const Layout& layout = state.forward->layout;
  if (state.medium.layer == 0 || layout.cells() > std::numeric_limits<std::uint32_t>::max()) return 0;
  const std::size_t missing = 3 - state.shape.size();
  std::size_t inside = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t band = axis < missing ? 0 : state.medium.layer + static_cast<std::size_t>(layout.radius[axis]);
    const std::size_t sides = state.medium.free_surface && axis == missing ? 1 : 2;
    inside *= layout.end[axis] - layout.begin[axis] - sides * band;
  }
  return layout.changing() - inside;
}

template <class T>
void fill_coefficients(SurveyState<T>& state) {
  state.coefficients = Grid<T>(state.grid_shape());
  const auto cells = state.coefficients.all();
  const std::size_t one = state.cells(), width = state.shape.back();
  const std::size_t begin = state.place.begin.back(), side = state.place.shape.back();
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const base::Share rows = base::share(one / width, thread, threads);
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
      const double* const velocity = state.medium.velocity.data() + model_cell(state.place, state.shape, row * width);
      for (std::size_t x = 0; x < width; ++x) {
        const double reach = velocity[x < begin ? 0 : std::min(x - begin, side - 1)] * state.medium.dt;
        cells[row * width + x] = static_cast<T>(reach * reach);
      }
    }
  });
  for (std::size_t k = 1; k < state.medium.batch; ++k)
    std::copy_n(cells.begin(), one, cells.begin() + static_cast<std::ptrdiff_t>(k * one));
}

template <class T>
struct Prepared {
  PointTable sources{}, receivers{};
  std::vector<std::size_t> counts{};  // receivers of each shot
  std::vector<T> wavelets{};          // steps by sources
};

// A value per step and source.
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

// Between traces shot after shot, each steps by its receivers, and rows of steps by all receivers.
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

// Forward and adjoint runs of one gradient.
template <class T>
class Reversal {
 public:
  Reversal(const SurveyState<T>& state, const Prepared<T>& shot, std::size_t steps, std::span<const T> observed,
           const GradientOptions& options)
      : state_(state),
        shot_(shot),
        steps_(steps),
        observed_(observed),
        receivers_(shot.receivers.points),
        derivatives_(options.derivatives || options.image),
        images_(options.image),
        progress_(options.progress) {
    forward_ = start_shot(state.device, *state.forward, state.coefficients);
    backward_ = start_shot(state.device, *state.backward, state.coefficients);
    history_ = plan_history(history_problem(options));
    sources_ = forward_->attach(shot.sources, steps);
    heard_ = forward_->attach(shot.receivers, steps);
    forward_->put_rows(sources_, 0, steps, shot.wavelets.data());
    residuals_ = backward_->attach(shot.receivers, steps);
    pulses_ = backward_->attach(shot.sources, steps);
    snapshots_ = forward_->snapshots(history_.slots(), history_.bits);
    traces_.resize(steps * receivers_);
  }

  void run() {
    const double start = base::now();
    if (progress_) progress_(0);
    if (history_.rewinds) {
      rewind();
      backward_->wait();
      seconds_ = base::now() - start;
      return;
    }
    const std::size_t blocks = (steps_ + history_.block - 1) / history_.block;
    std::vector<T> first;  // empty: the zero state
    reverse_blocks(*this, 0, blocks, history_.states, first);
    backward_->wait();
    seconds_ = base::now() - start;
  }
  double seconds() const { return seconds_; }
  const History& history() const { return history_; }
  const std::vector<T>& traces() const { return traces_; }
  double misfit() const { return misfit_; }
  double taken() const { return static_cast<double>(taken_); }
  void read_image(Grid<T>& image) { backward_->read_image(image); }
  void read_illumination(Grid<T>& image) { forward_->read_image(image); }
  std::vector<T> pulses(std::size_t sources) {
    std::vector<T> values(steps_ * sources);
    backward_->get_rows(pulses_, 0, steps_, values.data());
    return values;
  }

  // For reverse_blocks(). An empty state is that of the start: zeros.
  void restore(const std::vector<T>& state) {
    if (state.empty()) {
      forward_->clear();
    } else {
      forward_->restore(state.data());
    }
  }
  void advance(std::size_t block, std::size_t blocks) {
    take(block * history_.block, end_of(block + blocks - 1), false);
  }
  std::vector<T> save() {
    std::vector<T> kept(forward_->state_values());
    forward_->save(kept.data());
    return kept;
  }
  void reverse(std::size_t block) {
    take(block * history_.block, end_of(block), true);
    reverse_block(block * history_.block, end_of(block));
  }

 private:
  // Takes all steps, then undoes one after another: with both levels exchanged, leapfrog goes back in time. Cells of
  // the frame, to which layers add something, are put back.
  void rewind() {
    forward_->clear();
    const auto frames = forward_->frames(frame_cells(state_), steps_ + 1);  // slot n: the state after n steps
    forward_->keep_frame(*frames, 0);
    for (std::size_t n = 0; n < steps_; ++n, ++taken_) {
      forward_->step();
      forward_->add(sources_, n);
      forward_->take(heard_, n);
      forward_->keep_frame(*frames, n + 1);
      if (progress_) progress_(taken_ + 1);
    }
    const std::size_t field = forward_->field_values();
    std::vector<T> state(forward_->state_values());
    forward_->save(state.data());
    std::rotate(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(field),
                state.begin() + static_cast<std::ptrdiff_t>(2 * field));
    const auto back = start_shot(state_.device, *state_.reversed, state_.coefficients);
    back->restore(state.data());
    const std::size_t sources = back->attach(shot_.sources, steps_);
    back->put_rows(sources, 0, steps_, shot_.wavelets.data());
    find_residuals(0, steps_);
    for (std::size_t n = steps_; n-- > 0; ++taken_) {
      back->open(*snapshots_, 0);
      back->step();
      back->add(sources, n);
      back->put_frame(*frames, std::max<std::size_t>(1, n) - 1);
      back->close(*snapshots_, 0);
      back->wait();
      backward_->add(residuals_, n);
      backward_->correlate(*snapshots_, 0, 1);
      backward_->take(pulses_, n);
      if (n > 0) backward_->step();
      backward_->wait();  // the snapshot is written again
    }
  }

  HistoryProblem history_problem(const GradientOptions& options) const {
    const double field = static_cast<double>(forward_->field_values() * sizeof(T));
    const double layers = static_cast<double>((forward_->state_values() - 2 * forward_->field_values()) * sizeof(T));
    const double memory = state_.device.is_host() ? static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                                                        static_cast<double>(::sysconf(_SC_PAGESIZE))
                                                  : static_cast<double>(state_.device.limits().memory);
    // Half a period of twice the peak frequency must not be skipped: a fifth of that period is safe.
    const double period = 1 / (2 * state_.medium.frequency * state_.medium.dt);
    return {.steps = steps_,
            .fixed = 11 * field + 5 * layers,  // two runs of two levels of two fields and the medium; the image
            .whole = field,
            .bits = options.bits == 8 ? SnapshotBits::eight : SnapshotBits::sixteen,
            .small = field / sizeof(T) * (options.bits / 8.0 + 4.0 / kSnapshotBlock),
            .scratch = field,
            .state = 2 * field + layers,
            .reversible = !options.image,
            .frame = static_cast<double>(frame_size(state_) * sizeof(T)),
            .rewind = 5 * field + static_cast<double>(frame_size(state_) * sizeof(std::uint32_t)),
            .budget = options.memory > 0 ? static_cast<double>(options.memory) : memory / 2,
            .exact = options.exact,
            .backwards = options.backwards,
            .most_every = static_cast<std::size_t>(std::max(1.0, period / 5))};
  }

  std::size_t end_of(std::size_t block) const { return std::min(steps_, (block + 1) * history_.block); }

  void take(std::size_t begin, std::size_t end, bool keep) {
    const std::size_t first = begin;
    for (std::size_t n = begin; n < end; ++n, ++taken_) {
      const bool slot = keep && (n - first) % history_.every == 0;
      if (slot) forward_->open(*snapshots_, (n - first) / history_.every);
      forward_->step();
      forward_->add(sources_, n);
      forward_->take(heard_, n);
      if (slot) forward_->close(*snapshots_, (n - first) / history_.every);
      if (slot && images_)
        forward_->correlate(*snapshots_, (n - first) / history_.every,
                            static_cast<double>(std::min(history_.every, end - n)));
      if (progress_) progress_(taken_ + 1);
    }
  }

  // From the traces of these steps.
  void find_residuals(std::size_t begin, std::size_t end) {
    const std::size_t count = (end - begin) * receivers_;
    T* const traces = traces_.data() + begin * receivers_;
    forward_->get_rows(heard_, begin, end - begin, traces);
    std::vector<T> residual(count);
    for (std::size_t i = 0; i < count; ++i) {
      const T given = observed_[begin * receivers_ + i];
      residual[i] = derivatives_ ? given : traces[i] - given;
      if (!derivatives_) misfit_ += 0.5 * static_cast<double>(residual[i]) * static_cast<double>(residual[i]);
    }
    backward_->put_rows(residuals_, begin, end - begin, residual.data());
  }

  // The block's traces are known now: its residuals drive the adjoint run backwards through it.
  void reverse_block(std::size_t begin, std::size_t end) {
    find_residuals(begin, end);
    for (std::size_t n = end; n-- > begin;) {
      backward_->add(residuals_, n);
      // The last interval may be shorter.
      const std::size_t first = n - begin;
      if (first % history_.every == 0)
        backward_->correlate(*snapshots_, first / history_.every,
                             static_cast<double>(std::min(history_.every, end - n)));
      backward_->take(pulses_, n);
      if (n > 0) backward_->step();
    }
  }

  const SurveyState<T>& state_;
  const Prepared<T>& shot_;
  std::size_t steps_;
  std::span<const T> observed_;
  std::size_t receivers_;
  bool derivatives_, images_;
  SurveyProgress progress_;
  std::size_t sources_ = 0, heard_ = 0, residuals_ = 0, pulses_ = 0, taken_ = 0;
  std::unique_ptr<ShotRun<T>> forward_{}, backward_{};
  History history_{};
  std::shared_ptr<Snapshots<T>> snapshots_{};
  std::vector<T> traces_{};
  double misfit_ = 0, seconds_ = 0;
};

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

// The sum over shots of what both runs of a migration have summed, the one divided by the other. The sum over time of
// u_tt p is that of -u_t p_t, and the sum of u_tt u that of -u_t^2.
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

}  // namespace

template <class T>
Survey<T>::Survey(const Device& device, const SurveyMedium& medium, const planner::Options& options) {
  check_velocity(medium);
  std::shared_ptr<SurveyState<T>> state(
      new SurveyState<T>{.device = device, .medium = medium, .coefficients = Grid<T>({1})});
  settle(state->medium);
  state->fastest = *std::max_element(medium.velocity.begin(), medium.velocity.end());
  Borders borders;
  place_model(*state, borders);
  const Update<T> update = acoustic<T>(acoustic_of(state->medium), {.cells = medium.layer,
                                                                    .fastest = state->fastest,
                                                                    .frequency = state->medium.frequency,
                                                                    .free_surface = medium.free_surface});
  const Problem problem{.shape = state->grid_shape(), .borders = borders, .threads = medium.threads};
  state->forward = std::make_shared<Chosen<T>>(choose_variant(device, update, problem, options, true));
  const AdjointUpdate<T> adjoint = adjoint_update(update, state->forward->layout);
  // The adjoint of leapfrog in a medium is the same update; only what the layers add differs.
  Chosen<T> backward = *state->forward;
  backward.layers = make_layers<T>(device, adjoint.update, state->forward->layout);
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
  settle(state->medium);
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
                                 const SurveyProgress& progress, const SurveySnapshots<T>& snapshots) const {
  const SurveyState<T>& state = *state_;
  const Prepared<T> prepared = prepare(state, shots, steps);
  const auto run = start_shot(state.device, *state.forward, state.coefficients);
  const std::size_t sources = run->attach(prepared.sources, steps), heard = run->attach(prepared.receivers, steps);
  run->put_rows(sources, 0, steps, prepared.wavelets.data());
  if (progress) progress(0);
  for (std::size_t n = 0; n < steps; ++n) {
    run->step();
    run->add(sources, n);
    run->take(heard, n);
    if (progress && n + 1 < steps) progress(n + 1);
    if (snapshots.every > 0 && (n + 1) % snapshots.every == 0)
      snapshots.use(n + 1, field_of(state, *run, shots.size()));
  }
  run->wait();
  if (progress) progress(steps);
  std::vector<T> rows(steps * prepared.receivers.points);
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
  if (options.bits != 8 && options.bits != 16)
    refuse_survey(fmt::format("snapshots of {} bits; 8 and 16 are possible", options.bits));
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
                    .wavelets = by_source(reversal.pulses(prepared.sources.points), steps, prepared.sources.points),
                    .traces = std::vector<double>(traces.begin(), traces.end()),
                    .recomputation = reversal.taken() / static_cast<double>(steps),
                    .seconds = reversal.seconds(),
                    .explain = reversal.history().explain};
  if (options.image) {
    gradient.image = migrated(state, reversal);
    return gradient;
  }
  // The image is the sum of V adjoint * V w: its quotient by V^2 is the derivative with respect to V = (c dt)^2. Cells
  // of the layers have the velocity of the model's edge, to which they add.
  Grid<T> image(state.grid_shape());
  reversal.read_image(image);
  const double dt = state.medium.dt;
  const Layout& layout = state.forward->layout;
  const std::size_t width = layout.shape[2], begin = state.place.begin.back(), side = state.place.shape.back();
  for (std::size_t row = 0; row < layout.rows(); ++row) {
    if (!changes(layout, row * width + layout.begin[2])) continue;
    const std::size_t first = model_cell(state.place, state.shape, row * width % state.cells());
    for (std::size_t x = layout.begin[2]; x < layout.end[2]; ++x) {
      const std::size_t cell = first + (x < begin ? 0 : std::min(x - begin, side - 1));
      const double v = static_cast<double>(state.coefficients.all()[row * width + x]);
      gradient.velocity[cell] +=
          static_cast<double>(image.all()[row * width + x]) / (v * v) * 2 * state.medium.velocity[cell] * dt * dt;
    }
  }
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
