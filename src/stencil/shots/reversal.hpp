// Forward and adjoint runs of one gradient.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "stencil/shots/history.hpp"
#include "stencil/shots/survey_state.hpp"

namespace ridge::stencil {

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
    backward_->wait();  // on a device it may still read the snapshots of the block before, in a queue of its own
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

}  // namespace ridge::stencil
