// Forward and adjoint runs of one gradient.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <ridge/machine.hpp>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/host_memory.hpp"
#include "base/threads.hpp"
#include "stencil/shots/history.hpp"
#include "stencil/shots/sampled_cells.hpp"
#include "stencil/shots/sampling.hpp"
#include "stencil/shots/saved_run.hpp"
#include "stencil/shots/survey_state.hpp"

namespace ridge::stencil {

constexpr std::size_t kMostSkipped = 32;  // steps per snapshot, at most
constexpr double kRounding = 1e-11;       // energy of residuals that are rounding, of the observed traces' energy

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
        progress_(options.progress),
        checkpoints_(options.checkpoints),
        resumed_(steps) {
    forward_ = start_shot(state.device, *state.forward, state.coefficients, state.spare);
    backward_ = start_shot(state.device, *state.backward, state.coefficients);
    keeps_levels_ = !images_ && forward_->has_levels() && backward_->has_levels();
    if (checkpoints_.resume.empty()) {
      history_ = plan_history(history_problem(options));
    } else {
      read_saved();
    }
    keeps_levels_ = keeps_levels_ && history_.bits == SnapshotBits::whole && history_.slots() > 1;
    sources_ = forward_->attach(shot.sources, steps);
    if (history_.bits != SnapshotBits::whole && !images_) sample_ = sample_cells(state, shot);
    heard_ = forward_->attach(with_cells(shot.receivers, sample_, state), steps);
    forward_->put_rows(sources_, 0, steps, shot.wavelets.data());
    residuals_ = backward_->attach(shot.receivers, steps);
    pulses_ = backward_->attach(with_cells(shot.sources, sample_, state), steps);
    snapshots_ = keeps_levels_ ? forward_->levels(history_.slots())
                               : forward_->snapshots(history_.slots(), history_.bits, history_.streams);
    if (keeps_levels_) backward_->correlate_together(kTogether);
    if (traces_.empty()) traces_.resize(steps * receivers_);
  }

  void run() {
    const double start = base::now();
    if (progress_) progress_(0);
    if (resumed_ < steps_ && images_) forward_->restore_image(saved_light_.data());
    if (history_.rewinds) {
      rewind();
      backward_->wait();
      seconds_ = base::now() - start;
      return;
    }
    const std::size_t blocks = (steps_ + history_.block - 1) / history_.block;
    const std::size_t left = (resumed_ - 1) / history_.block + 1;  // of a continued run: blocks that are not done
    if (blocks > 1 && history_.states + 1 == blocks && forward_->open_states(blocks)) {
      reverse_all(left);
    } else {
      const State first{};  // null: the zero state
      reverse_blocks(*this, 0, left, history_.states, first);
    }
    backward_->wait();
    seconds_ = base::now() - start;
  }
  double seconds() const { return seconds_; }
  const History& history() const { return history_; }
  // Bound of the gradient's error that skipped steps cause, now that the residuals are known too.
  double skipping_error() const {
    const double before = history_.error - error_of(history_.bits);
    if (history_.every == 1) return before;
    std::vector<T> residuals(traces_);
    double left = 0, all = 0;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
      residuals[i] = derivatives_ ? observed_[i] : traces_[i] - observed_[i];
      left += static_cast<double>(residuals[i]) * static_cast<double>(residuals[i]);
      all += static_cast<double>(observed_[i]) * static_cast<double>(observed_[i]);
    }
    if (left <= kRounding * all) return before;
    return std::max(before, sampling_errors(residuals)[history_.every - 1]);
  }
  const std::vector<T>& traces() const { return traces_; }
  double misfit() const { return misfit_; }
  double taken() const { return static_cast<double>(taken_); }
  void read_image(Grid<T>& image) { backward_->read_image(image); }
  void read_rounding(Grid<T>& rounding) { backward_->read_rounding(rounding); }
  void read_illumination(Grid<T>& image) { forward_->read_image(image); }
  std::vector<T> pulses() { return columns(pulse_rows(), pulse_width(), 0, shot_.sources.points); }
  // Estimate of the gradient's error from sampled cells; nothing without snapshots of integers, and for continued runs.
  std::optional<double> measured_error(const Grid<T>& image) {
    if (sample_.cells.empty() || resumed_ < steps_) return std::nullopt;
    const std::vector<T> adjoint = columns(pulse_rows(), pulse_width(), shot_.sources.points, sample_.points());
    return stencil::measured_error(state_, sample_, image, sampled_, adjoint, steps_);
  }

  // For reverse_blocks(). A null state is the initial one, zeros. Memory of states is reused.
  using State = std::shared_ptr<base::AlignedArray<T>>;
  void restore(const State& state) {
    if (state) {
      forward_->restore(state->data());
    } else {
      forward_->clear();
    }
  }
  void advance(std::size_t block, std::size_t blocks) {
    take(block * history_.block, end_of(block + blocks - 1), false);
  }
  State save() {
    auto place = std::find_if(states_.begin(), states_.end(), [](const State& one) { return one.use_count() == 1; });
    if (place == states_.end())
      place = states_.insert(place, std::make_shared<base::AlignedArray<T>>(forward_->state_values()));
    forward_->save((*place)->data());
    return *place;
  }
  void reverse(std::size_t block) {
    backward_->wait();  // on a device it may still read the snapshots of the block before, in a queue of its own
    take(block * history_.block, end_of(block), true);
    reverse_block(block * history_.block, end_of(block));
  }

  // The state before each block is kept, and copied while the run continues.
  void reverse_all(std::size_t blocks) {
    forward_->clear();
    for (std::size_t block = 0; block + 1 < blocks; ++block) {
      advance(block, 1);
      forward_->keep_state(block + 1);
    }
    for (std::size_t block = blocks; block-- > 0;) {
      if (block == 0) {
        forward_->clear();
      } else if (block + 1 < blocks) {
        forward_->put_state(block);
      }
      reverse(block);
    }
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
      if (n >= resumed_) continue;
      if (n + 1 == resumed_) restore_saved();
      backward_->add(residuals_, n);
      backward_->correlate(*snapshots_, 0, 1);
      backward_->take(pulses_, n);
      if (n > 0) backward_->step();
      backward_->wait();  // the snapshot is written again
      save_if_due(n, 0);
    }
  }

  HistoryProblem history_problem(const GradientOptions& options) const {
    const double field = static_cast<double>(forward_->field_values() * sizeof(T));
    const double layers = static_cast<double>((forward_->state_values() - 2 * forward_->field_values()) * sizeof(T));
    const bool here = state_.device.is_host(), exact = options.exact || options.error == 0;
    const double host = static_cast<double>(base::host_memory());
    const double memory = here ? host : static_cast<double>(state_.device.limits().memory);
    const machine::Ceilings ceilings = machine::ceilings(state_.device);
    const double rate = ceilings.memory().all.copy;
    const double link = std::min(ceilings.transfers.upload_pinned, ceilings.transfers.download_pinned);
    const auto small = [&](double bits) { return field / sizeof(T) * (bits / 8 + 4.0 / kSnapshotBlock); };
    return {.steps = steps_,
            .fixed = (static_cast<double>(forward_->held_fields() + backward_->held_fields()) + 1) * field +
                     static_cast<double>((forward_->held_layers() + backward_->held_layers()) *
                                         sizeof(T)),  // both runs and the image
            .whole = field,
            .whole_scratch = keeps_levels_ ? (kTogether - 2) * field : 0,
            .whole_accesses = keeps_levels_ ? 2.0 + 4.0 / kTogether : 10,
            .eighth = small(8),
            .sixteenth = small(16),
            .scratch = field * (1 + 1.0 / kSnapshotBlock),  // one snapshot in cells, and the errors of its rounding
            .state = 2 * field + layers,
            .states_elsewhere = here ? 0 : host / 2,
            .reversible = !options.image,
            .frame = static_cast<double>(frame_size(state_) * sizeof(T)),
            .rewind = static_cast<double>(forward_->held_fields()) * field +
                      static_cast<double>(frame_size(state_) * sizeof(std::uint32_t)),
            .budget = options.memory > 0 ? static_cast<double>(options.memory) : memory / 2,
            .step = 4 * field + 4 * layers,
            .memory_rate = rate,
            .state_rate = here || link <= 0 ? rate / 2 : link,
            .error = exact ? 0 : options.error,
            .only_bits = options.bits,
            .backwards = options.backwards,
            .skipping = exact || options.backwards ? std::vector<double>{} : sampling_errors(observed_)};
  }

  // Of the gradient that these traces cause, for snapshots of every k-th step.
  std::vector<double> sampling_errors(std::span<const T> traces) const {
    const std::vector<double> pulses(shot_.wavelets.begin(), shot_.wavelets.end()),
        values(traces.begin(), traces.end());
    return stencil::sampling_errors(pulses, shot_.sources.points, values, receivers_, steps_,
                                    std::min(kMostSkipped, steps_));
  }

  // `count` columns of rows of `width` values.
  static std::vector<T> columns(const std::vector<T>& rows, std::size_t width, std::size_t begin, std::size_t count) {
    if (count == 0) return {};
    std::vector<T> values;
    values.reserve(rows.size() / width * count);
    for (auto row = rows.begin(); row != rows.end(); row += static_cast<std::ptrdiff_t>(width))
      values.insert(values.end(), row + static_cast<std::ptrdiff_t>(begin),
                    row + static_cast<std::ptrdiff_t>(begin + count));
    return values;
  }
  std::size_t pulse_width() const { return shot_.sources.points + sample_.points(); }
  std::vector<T> pulse_rows() {
    std::vector<T> values(steps_ * pulse_width());
    backward_->get_rows(pulses_, 0, steps_, values.data());
    return values;
  }

  std::size_t end_of(std::size_t block) const { return std::min(steps_, (block + 1) * history_.block); }

  // True if the snapshot of this step, counted in its block, stands for the interval of the step.
  bool is_sampled(std::size_t step, std::size_t length) const {
    return step == sampled_step(step / history_.every, history_.every, length);
  }
  // Number of steps of an interval; the last one may be shorter.
  double steps_of(std::size_t slot, std::size_t length) const {
    return static_cast<double>(std::min(history_.every, length - slot * history_.every));
  }

  void take(std::size_t begin, std::size_t end, bool keep) {
    for (std::size_t n = begin; n < end; ++n, ++taken_) {
      const std::size_t place = (n - begin) / history_.every;
      const bool slot = keep && is_sampled(n - begin, end - begin);
      if (slot) forward_->open(*snapshots_, place);
      forward_->step();
      forward_->add(sources_, n);
      forward_->take(heard_, n);
      if (slot) forward_->close(*snapshots_, place);
      if (slot && images_ && !is_lit(begin, end)) forward_->correlate(*snapshots_, place, steps_of(place, end - begin));
      if (progress_) progress_(taken_ + 1);
    }
  }

  // From the traces of these steps.
  void find_residuals(std::size_t begin, std::size_t end) {
    const std::size_t width = receivers_ + sample_.points();
    base::AlignedArray<T> rows((end - begin) * width), residuals((end - begin) * receivers_);
    forward_->get_rows(heard_, begin, end - begin, rows.data());
    std::vector<double> misfits(end - begin);
    sampled_.resize(steps_ * sample_.points());
    base::parallel(rows.size() < 65536 ? 1 : state_.medium.threads, [&](std::size_t thread, std::size_t threads) {
      const base::Share part = base::share(end - begin, thread, threads);
      for (std::size_t row = part.begin; row < part.end; ++row) {
        const T *const from = rows.data() + row * width, *const given = observed_.data() + (begin + row) * receivers_;
        T* const to = residuals.data() + row * receivers_;
        std::copy_n(from, receivers_, traces_.data() + (begin + row) * receivers_);
        std::copy_n(from + receivers_, sample_.points(), sampled_.data() + (begin + row) * sample_.points());
        for (std::size_t i = 0; i < receivers_; ++i) {
          to[i] = derivatives_ ? given[i] : from[i] - given[i];
          misfits[row] += static_cast<double>(to[i]) * static_cast<double>(to[i]);
        }
      }
    });
    for (const double misfit : misfits) misfit_ += derivatives_ ? 0 : 0.5 * misfit;
    backward_->put_rows(residuals_, begin, end - begin, residuals.data());
  }

  // The block's traces are known now: its residuals drive the adjoint run backwards through it.
  void reverse_block(std::size_t begin, std::size_t end) {
    const double before = misfit_;
    find_residuals(begin, end);
    for (std::size_t n = std::min(end, resumed_); n-- > begin;) {
      if (n + 1 == resumed_) restore_saved();
      backward_->add(residuals_, n);
      const std::size_t place = (n - begin) / history_.every;
      if (is_sampled(n - begin, end - begin)) backward_->correlate(*snapshots_, place, steps_of(place, end - begin));
      backward_->take(pulses_, n);
      if (n > 0) backward_->step();
      save_if_due(n, n == begin ? misfit_ : before);
    }
    if (keeps_levels_) backward_->wait();  // the forward run writes these levels again
  }

  // The illumination of a block that a continued run computes again has been restored.
  bool is_lit(std::size_t begin, std::size_t end) const { return resumed_ > begin && resumed_ < end; }

  // `n` steps are left to go back. `misfit` is that of the steps whose blocks are done.
  void save_if_due(std::size_t n, double misfit) {
    if (!checkpoints_.due || n == 0 || !checkpoints_.due(steps_ - n)) return;
    SavedRun to(identity());
    for (const std::size_t number : {n, static_cast<std::size_t>(history_.bits), std::size_t{history_.rewinds},
                                     std::size_t{history_.streams}, history_.every, history_.block, history_.states})
      to.add(number);
    const double numbers[] = {misfit, history_.recomputation, history_.error, static_cast<double>(taken_)};
    to.add(numbers, std::size(numbers));
    to.add(history_.explain.size());
    to.add(history_.explain.data(), history_.explain.size());
    std::vector<T> values(backward_->state_values());
    backward_->save(values.data());
    to.add(values.data(), values.size());
    values.resize(backward_->image_values());
    backward_->save_image(values.data());
    to.add(values.data(), values.size());
    if (images_) {
      forward_->save_image(values.data());
      to.add(values.data(), values.size());
    }
    values = pulse_rows();
    to.add(traces_.data(), traces_.size());
    to.add(values.data(), values.size());
    checkpoints_.save(to.bytes());
  }
  void read_saved() {
    SavedRunReader from(checkpoints_.resume, identity());
    resumed_ = std::clamp<std::size_t>(from.word(), 1, steps_);
    history_.bits = static_cast<SnapshotBits>(std::min<std::uint64_t>(2, from.word()));
    history_.rewinds = from.word() != 0;
    history_.streams = from.word() != 0;
    for (std::size_t* number : {&history_.every, &history_.block, &history_.states})
      *number = std::clamp<std::size_t>(from.word(), number == &history_.states ? 0 : 1, steps_);
    double numbers[4];
    from.get(numbers, std::size(numbers));
    misfit_ = history_.rewinds ? 0 : numbers[0];
    history_.recomputation = numbers[1];
    history_.error = numbers[2];
    history_.explain.resize(std::min<std::size_t>(from.word(), checkpoints_.resume.size()));
    from.get(history_.explain.data(), history_.explain.size());
    const auto get = [&](std::vector<T>& values, std::size_t count) {
      values.resize(count);
      from.get(values.data(), count);
    };
    get(saved_state_, backward_->state_values());
    get(saved_image_, backward_->image_values());
    if (images_) get(saved_light_, forward_->image_values());
    get(traces_, steps_ * receivers_);
    saved_pulses_.resize(from.left() / sizeof(T));  // also of sampled cells, if there are any
    from.get(saved_pulses_.data(), saved_pulses_.size());
  }
  void restore_saved() {
    if (resumed_ == steps_) return;
    if (saved_pulses_.size() != steps_ * pulse_width()) SavedRunReader::refuse();
    backward_->restore(saved_state_.data());
    backward_->restore_image(saved_image_.data());
    backward_->put_rows(pulses_, 0, steps_, saved_pulses_.data());
  }
  std::vector<std::size_t> identity() const {
    return {kSavedGradient, steps_, receivers_, shot_.sources.points, forward_->state_values(), sizeof(T), images_};
  }

  const SurveyState<T>& state_;
  const Prepared<T>& shot_;
  std::size_t steps_;
  std::span<const T> observed_;
  std::size_t receivers_;
  bool derivatives_, images_;
  bool keeps_levels_ = false;  // exact snapshots are the levels of the forward run
  SurveyProgress progress_;
  const RunCheckpoints& checkpoints_;
  std::size_t resumed_;  // steps that are left to go back
  std::vector<T> saved_state_{}, saved_image_{}, saved_light_{}, saved_pulses_{};
  std::size_t sources_ = 0, heard_ = 0, residuals_ = 0, pulses_ = 0, taken_ = 0;
  std::unique_ptr<ShotRun<T>> forward_{}, backward_{};
  History history_{};
  std::shared_ptr<Snapshots<T>> snapshots_{};
  std::vector<State> states_{};
  std::vector<T> traces_{}, sampled_{};
  SampledCells sample_{};
  double misfit_ = 0, seconds_ = 0;
};

}  // namespace ridge::stencil
