// Streaming filter bank: takes bytes in pushes of any size, holds the samples that later spectra need, and can be saved
// and restored.
#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "filterbank/delays.hpp"
#include "filterbank/saved_state.hpp"
#include "filterbank/variant.hpp"
#include "plan/improve.hpp"

namespace ridge::filterbank {

class StreamState {
 public:
  explicit StreamState(const Plan& plan)
      : bank_(planner::current(plan.bank_)),
        weights_(bank_->weights),
        track_(bank_->geometry, bank_->problem.delays.frequency) {
    saved_.problem = bank_->geometry.key();
    saved_.variant = bank_->variant_name;
    saved_.weights = bank_->problem.weights;
  }

  const Geometry& geometry() const { return bank_->geometry; }
  std::uint64_t taken() const { return saved_.held_from + saved_.held.size() - slack_; }
  std::uint64_t written() const { return saved_.spectra; }

  std::size_t due(std::size_t bytes) const {
    const std::uint64_t whole = geometry().spectra_in(taken() + bytes);
    return whole > written() ? static_cast<std::size_t>(whole - written()) : 0;  // 0 while a start is being primed
  }

  std::size_t push(std::span<const std::byte> in, std::span<std::complex<float>> out) {
    const std::size_t spectra = due(in.size());
    if (out.size() / geometry().spectrum_size() < spectra) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("filterbank: {} bytes give {} spectra of {} values; the output holds {} values",
                              in.size(), spectra, geometry().spectrum_size(), out.size()));
    }
    // Large pushes are processed in place; small ones are appended to the held samples.
    const bool large = spectra > 0 && in.size() / 4 > saved_.held.size() - slack_;
    if (!large) saved_.held.insert(saved_.held.end(), in.begin(), in.end());
    const std::span<const std::byte> second = large ? in : std::span<const std::byte>();
    RawView raw(saved_.held_from, saved_.held.data() + slack_, saved_.held.size() - slack_, second.data(),
                second.size());
    run(raw, spectra, out.data());
    if (spectra > 0) keep(raw, large);
    return spectra;
  }

  std::uint64_t start_at(std::uint64_t spectrum) {
    const Geometry& g = geometry();
    if (taken() != 0 || written() != 0) {
      throw Error(ErrorKind::invalid_argument,
                  "filterbank: start_at() needs a new stream, this one has already received samples");
    }
    if (spectrum > (std::uint64_t{1} << 60) / g.hop) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("filterbank: spectrum {} exceeds the largest stream position (2^60 samples)", spectrum));
    }
    if (spectrum % g.times != 0) {
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("filterbank: start_at() needs a multiple of the {} times of an output block, got spectrum {}",
                      g.times, spectrum));
    }
    saved_.spectra = first_ = spectrum;
    saved_.held_from = g.frame_start(g.oldest_row(spectrum) * static_cast<std::int64_t>(g.channels));
    return saved_.held_from / g.frame_bytes() * g.block;
  }

  void replace_weights(std::span<const double> weights, std::uint64_t sample) {
    const std::uint64_t spectrum = sample / geometry().hop;  // the first t with newest(t) = (t + 1) * hop - 1 >= sample
    if (spectrum < written()) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("filterbank: weights from sample {} on come too late: {} spectra of {} samples each are "
                              "already written",
                              sample, written(), geometry().hop));
    }
    Problem problem = bank_->problem;
    problem.weights.assign(weights.begin(), weights.end());
    complete(problem);  // checks their number and values
    // Later calls override earlier ones for the same and later spectra.
    std::erase_if(saved_.waiting, [&](const auto& one) { return one.spectrum >= spectrum; });
    saved_.waiting.push_back({spectrum, problem.weights});
    prepared_.resize(saved_.waiting.size() - 1);
    prepared_.push_back(bank_->variant->prepare(problem.weights));
  }

  void set_delays(std::uint64_t sample, std::span<const double> delays) {
    // A further point changes the delays after the previous point, so those spectra must not have been written.
    if (written() > first_ && track_.open_at(written() - 1)) {
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("filterbank: delays at sample {} come too late: {} spectra are already written, the last of "
                      "them after the last known delays",
                      sample, written()));
    }
    track_.add(sample, delays);
  }

  std::string save() const {
    SavedState state = saved_;
    state.delays = track_.points();
    state.held.erase(state.held.begin(), state.held.begin() + static_cast<std::ptrdiff_t>(slack_));
    return write_state(state);
  }

  void restore(std::string_view text) {
    SavedState state = read_state(text);
    if (state.problem != saved_.problem || state.variant != saved_.variant) {
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format(
              "filterbank: the state was saved for \"{}\" with variant {}, this stream is for \"{}\" with variant {}",
              state.problem, state.variant, saved_.problem, saved_.variant));
    }
    check_consistent(state);
    restore_delays(state);
    std::deque<std::shared_ptr<const Weights>> prepared;
    for (const auto& one : state.waiting) prepared.push_back(bank_->variant->prepare(one.weights));
    auto weights = bank_->variant->prepare(state.weights);
    saved_ = std::move(state);
    memory_.reset();
    first_ = 0;
    prepared_ = std::move(prepared);
    weights_ = std::move(weights);
    slack_ = 0;
  }

 private:
  void restore_delays(const SavedState& state) {
    try {
      track_.restore(state.delays);
    } catch (const Error& error) {
      throw Error(ErrorKind::io, fmt::format("filterbank: the saved state is damaged: {}", error.what()));
    }
  }

  // A state comes from outside: its counts must be ones that pushes can lead to.
  void check_consistent(const SavedState& state) const {
    const auto fail = [](const char* what) {
      throw Error(ErrorKind::io, fmt::format("filterbank: the saved state is damaged: {}", what));
    };
    const Geometry& g = geometry();
    constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
    if (state.spectra > kMost / g.hop || state.held_from > kMost || state.held.size() > kMost)
      fail("its counts are out of range");
    if (state.held_from % g.frame_bytes() != 0) fail("the held samples do not start at a block");
    if (g.spectra_in(state.held_from + state.held.size()) > state.spectra)
      fail("the numbers of spectra and samples do not match");
    const auto oldest = g.oldest_row(state.spectra) * static_cast<std::int64_t>(g.channels);
    if (state.held_from > g.frame_start(oldest)) fail("samples are missing");
    if (state.weights.size() != g.channels * g.taps) fail("the number of weights does not match");
    std::uint64_t before = state.spectra;
    for (const auto& one : state.waiting) {
      if (one.weights.size() != g.channels * g.taps || one.spectrum < before) fail("the pending weights do not match");
      before = one.spectrum;
    }
  }

  // Returns how many spectra from `first` on, at most `most`, have the same whole-sample delays. Stores those delays in
  // shifts_ and the phases in phases_.
  std::size_t follow_delays(std::uint64_t first, std::size_t most) {
    const Geometry& g = geometry();
    const std::size_t each = g.polarizations * g.stations;
    shifts_.resize(g.stations);
    next_shifts_.resize(g.stations);
    track_.forget_before(first);
    track_.shifts(first, shifts_);
    phases_.resize(most * each);
    for (std::size_t t = 0; t < most; ++t) {
      track_.shifts(first + t, next_shifts_);
      if (next_shifts_ != shifts_) return t;
      track_.phases(first + t, shifts_, std::span(phases_).subspan(t * each, each));
    }
    return most;
  }

  // `out` is the output block of the next spectrum. Jobs need not end at a block boundary.
  void run(RawView& raw, std::size_t spectra, std::complex<float>* out) {
    while (spectra > 0) {
      while (!saved_.waiting.empty() && saved_.waiting.front().spectrum <= saved_.spectra) {
        saved_.weights = std::move(saved_.waiting.front().weights);
        weights_ = prepared_.front();
        saved_.waiting.erase(saved_.waiting.begin());
        prepared_.pop_front();
      }
      std::size_t now = spectra;
      if (!saved_.waiting.empty()) {
        now = static_cast<std::size_t>(std::min<std::uint64_t>(now, saved_.waiting.front().spectrum - saved_.spectra));
      }
      const Geometry& g = geometry();
      std::span<const Phase> phases;
      if (g.delayed) {
        now = follow_delays(saved_.spectra, now);
        raw.shift_stations(shifts_);
        phases = std::span(phases_).first(now * g.polarizations * g.stations);
      }
      bank_->variant->run({.raw = raw,
                           .first = saved_.spectra,
                           .spectra = now,
                           .weights = *weights_,
                           .out = out,
                           .phases = phases,
                           .memory = &memory_});
      const std::uint64_t block = saved_.spectra / g.times;
      saved_.spectra += now;
      spectra -= now;
      out += static_cast<std::size_t>(saved_.spectra / g.times - block) * g.times * g.spectrum_size();
    }
  }

  // Drops all bytes that the next spectrum does not need.
  void keep(const RawView& raw, bool large) {
    const Geometry& g = geometry();
    const std::uint64_t from =
        std::max(saved_.held_from, g.frame_start(g.oldest_row(saved_.spectra) * static_cast<std::int64_t>(g.channels)));
    if (large) {
      const auto bytes = static_cast<std::size_t>(raw.end() - from);
      spare_.resize(bytes);
      raw.copy(from, bytes, spare_.data());
      std::swap(saved_.held, spare_);
      slack_ = 0;
    } else {
      slack_ += static_cast<std::size_t>(from - saved_.held_from);
      // The data move to the front only when half of the buffer is unused, so each byte moves about once.
      if (2 * slack_ >= saved_.held.size()) {
        saved_.held.erase(saved_.held.begin(), saved_.held.begin() + static_cast<std::ptrdiff_t>(slack_));
        slack_ = 0;
      }
    }
    saved_.held_from = from;
  }

  std::shared_ptr<const Bank> bank_;
  std::shared_ptr<const Weights> weights_;
  std::shared_ptr<void> memory_;  // owned by the variant
  SavedState saved_;              // except delays, which are in track_
  DelayTrack track_;
  std::vector<std::int64_t> shifts_, next_shifts_;
  std::vector<Phase> phases_;
  std::uint64_t first_ = 0;       // first spectrum set by start_at()
  std::size_t slack_ = 0;         // unused bytes at the front of saved_.held; held_from is the position after them
  std::vector<std::byte> spare_;  // buffer for the next large push
  std::deque<std::shared_ptr<const Weights>> prepared_;  // one per entry of saved_.waiting
};

Stream::Stream(const Plan& plan) : state_(std::make_unique<StreamState>(plan)) {}
Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;

std::size_t Stream::due(std::size_t bytes) const { return state_->due(bytes); }
std::size_t Stream::push(std::span<const std::byte> in, std::span<std::complex<float>> out) {
  return state_->push(in, out);
}
std::uint64_t Stream::start_at(std::uint64_t spectrum) { return state_->start_at(spectrum); }
std::uint64_t Stream::bytes() const { return state_->taken(); }
std::uint64_t Stream::samples() const { return state_->geometry().samples_in(state_->taken()); }
std::uint64_t Stream::spectra() const { return state_->written(); }
void Stream::replace_weights(std::span<const double> weights, std::uint64_t sample) {
  state_->replace_weights(weights, sample);
}
void Stream::set_delays(std::uint64_t sample, std::span<const double> delays) { state_->set_delays(sample, delays); }
std::string Stream::save() const { return state_->save(); }
void Stream::restore(std::string_view state) { state_->restore(state); }

std::string variant_of_state(std::string_view state) { return read_state(state).variant; }

}  // namespace ridge::filterbank
