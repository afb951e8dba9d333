// Folds samples at a period: the phase is computed in double once per block and advanced by one 64-bit addition per
// sample.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <ridge/search/fold.hpp>

#include "search/input_block.hpp"
#include "search/layout.hpp"

namespace ridge::search {
namespace {

constexpr std::size_t kFoldBlock = 4096;    // samples whose phase is linear
constexpr std::size_t kFirstBlock = 16384;  // rows of the statistics

[[noreturn]] void refuse_fold(const std::string& message) {
  throw Error(ErrorKind::invalid_argument, "fold: " + message);
}

// Fraction of a cycle as a 64-bit integer, which wraps as phases do.
std::uint64_t fixed_phase(double turns) {
  if (!std::isfinite(turns)) return 0;
  const double fraction = turns - std::floor(turns);
  return static_cast<std::uint64_t>(std::min(fraction * 0x1p64, 0x1.fffffffffffffp63));
}

std::uint64_t fixed_step(double turns) { return turns >= 0 ? fixed_phase(turns) : 0 - fixed_phase(-turns); }

const PolycoBlock& covering(const Rotation& rotation, double seconds, double& minutes) {
  const PolycoBlock* best = nullptr;
  for (const PolycoBlock& block : rotation.polyco) {
    const double since = static_cast<double>(rotation.start_day - block.day) * 1440 +
                         (rotation.start_second - block.second + seconds) / 60;
    if (best == nullptr || std::abs(since) < std::abs(minutes)) best = &block, minutes = since;
  }
  if (best == nullptr || std::abs(minutes) > best->span_minutes / 2 + 1) {
    refuse_fold(
        fmt::format("no block of the polyco file covers {:.1f} s after the start (MJD {}): the nearest is {:.1f} "
                    "minutes away",
                    seconds, rotation.start_day, std::abs(minutes)));
  }
  return *best;
}

}  // namespace

double Rotation::turns(double seconds) const {
  if (polyco.empty()) {
    const double t = seconds - epoch;
    return phase + t * (frequency + t * (derivative / 2 + t * second_derivative / 6));
  }
  double minutes = 0;
  const PolycoBlock& block = covering(*this, seconds, minutes);
  double sum = 0;
  for (std::size_t i = block.coefficients.size(); i-- > 0;) sum = sum * minutes + block.coefficients[i];
  return block.reference_phase + 60 * minutes * block.frequency + sum;
}

double Rotation::frequency_at(double seconds) const {
  if (polyco.empty()) {
    const double t = seconds - epoch;
    return frequency + t * (derivative + t * second_derivative / 2);
  }
  double minutes = 0;
  const PolycoBlock& block = covering(*this, seconds, minutes);
  double slope = 0;
  for (std::size_t i = block.coefficients.size(); i-- > 1;)
    slope = slope * minutes + static_cast<double>(i) * block.coefficients[i];
  return block.frequency + slope / 60;
}

std::vector<double> Profile::mean() const {
  std::vector<double> mean(sum.size());
  for (std::size_t i = 0; i < sum.size(); ++i) mean[i] = hits[i] > 0 ? sum[i] / static_cast<double>(hits[i]) : 0;
  return mean;
}

double Profile::snr() const {
  std::vector<double> power(bins), count(bins);
  double total = 0, all = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    power[i % bins] += sum[i], count[i % bins] += static_cast<double>(hits[i]);
    total += sum[i], all += static_cast<double>(hits[i]);
  }
  if (!(all > 0)) return 0;
  double best = 0;
  for (std::size_t width = 1; width <= bins / 2; width = std::max(width + 1, width * 9 / 8)) {
    for (std::size_t first = 0; first < bins; ++first) {
      double on = 0, n = 0;
      for (std::size_t k = 0; k < width; ++k) on += power[(first + k) % bins], n += count[(first + k) % bins];
      if (n > 0 && n < all) best = std::max(best, (on - total * n / all) / std::sqrt(n * (1 - n / all)));
    }
  }
  return best;
}

struct FolderState {
  Band band;
  Rotation rotation;
  FoldSettings settings;
  Profile profile{};
  std::vector<double> late{};        // seconds per channel
  std::vector<std::byte> pending{};  // rows that are not yet folded
  ChannelStatistics statistics{};
  std::uint64_t folded = 0;

  std::size_t row_bytes() const { return band.channels * settings.bits / 8; }
  void measure();
  void check_turns(double seconds) const;
  void fold_rows(const std::byte* data, std::size_t rows);
};

// Always the same rows, so that the answer does not depend on how the input is cut.
void FolderState::measure() {
  const std::size_t rows = std::min(pending.size() / row_bytes(), kFirstBlock);
  const RawRows raw{.data = pending.data(),
                    .rows = rows,
                    .channels = band.channels,
                    .bits = settings.bits,
                    .is_signed = settings.is_signed};
  Mask mask(rows, band.channels);
  std::uint64_t not_numbers = 0;
  statistics = channel_statistics(raw, part_sums(raw, mask, 0, not_numbers));
}

// Refuses frequencies that are not positive, and more turns since the epoch than a double holds to a bin of the
// profile.
void FolderState::check_turns(double seconds) const {
  const double frequency = rotation.frequency_at(seconds), turns = rotation.turns(seconds);
  if (!(frequency > 0) || !std::isfinite(frequency)) {
    refuse_fold(
        fmt::format("the frequency {:.6g} s after the first sample must be positive, got {:.6g} Hz: give "
                    "another derivative of the period",
                    seconds, frequency));
  }
  const double most = 0x1p51 / static_cast<double>(settings.bins);
  if (!(std::abs(turns) <= most)) {
    refuse_fold(
        fmt::format("{} bins need at most {:.3g} turns between the epoch and the samples, got {:.3g}: give an "
                    "epoch near the first sample",
                    settings.bins, most, turns));
  }
}

void FolderState::fold_rows(const std::byte* data, std::size_t rows) {
  std::vector<float> row(band.channels);
  std::vector<std::uint64_t> offset(band.channels);
  for (std::size_t at = 0; at < rows; at += kFoldBlock) {
    const std::size_t count = std::min(kFoldBlock, rows - at);
    const double begin = static_cast<double>(folded + at) * band.interval,
                 length = static_cast<double>(count) * band.interval;
    const double middle = begin + length / 2;
    check_turns(middle);
    std::uint64_t phase = fixed_phase(rotation.turns(middle) - rotation.frequency_at(middle) * length / 2);
    const std::uint64_t step = fixed_step(rotation.frequency_at(middle) * band.interval);
    for (std::size_t c = 0; c < band.channels; ++c) offset[c] = fixed_step(-rotation.frequency_at(middle) * late[c]);
    for (std::size_t r = 0; r < count; ++r, phase += step) {
      unpack(data + (at + r) * row_bytes(), settings.bits, settings.is_signed, row.data(), band.channels);
      for (std::size_t c = 0; c < band.channels; ++c) {
        if (!(statistics.sigma[c] > 0) || !std::isfinite(row[c])) continue;
        const auto bin = static_cast<std::size_t>(((phase + offset[c]) >> 32) * settings.bins >> 32);
        const std::size_t place = c * settings.subbands / band.channels * settings.bins + bin;
        profile.sum[place] += (row[c] - statistics.mean[c]) / statistics.sigma[c];
        ++profile.hits[place];
      }
    }
  }
  folded += rows;
}

Folder::Folder(const Band& band, const Rotation& rotation, const FoldSettings& settings)
    : state_(std::make_unique<FolderState>(FolderState{band, rotation, settings})) {
  check_band(band);
  check_bits(settings.bits, band.channels);
  if (settings.bins < 2 || settings.bins > 65536)
    refuse_fold(fmt::format("needs 2 to 65536 bins, got {}", settings.bins));
  if (settings.subbands == 0 || settings.subbands > band.channels)
    refuse_fold(fmt::format("needs 1 to {} sub-bands, got {}", band.channels, settings.subbands));
  if (!(settings.dm >= 0) || !std::isfinite(settings.dm))
    refuse_fold(fmt::format("the dispersion measure must not be negative, got {}", settings.dm));
  if (rotation.polyco.empty() && (!(rotation.frequency > 0) || !std::isfinite(rotation.frequency + rotation.derivative +
                                                                              rotation.second_derivative)))
    refuse_fold(fmt::format("needs a positive frequency, got {} Hz", rotation.frequency));
  state_->profile = {.subbands = settings.subbands,
                     .bins = settings.bins,
                     .sum = std::vector<double>(settings.subbands * settings.bins),
                     .hits = std::vector<std::uint64_t>(settings.subbands * settings.bins)};
  for (std::size_t c = 0; c < band.channels; ++c) {
    const double mhz = band.first_mhz + band.step_mhz * static_cast<double>(c);
    state_->late.push_back(delay_seconds(settings.dm, mhz, band.highest_mhz()));
  }
  if (rotation.polyco.empty()) state_->check_turns(0);
}
Folder::~Folder() = default;

void Folder::push(std::span<const std::byte> bytes) {
  FolderState& state = *state_;
  state.pending.insert(state.pending.end(), bytes.begin(), bytes.end());
  const std::size_t rows = state.pending.size() / state.row_bytes();
  if (state.statistics.mean.empty() && rows < kFirstBlock) return;
  if (state.statistics.mean.empty()) state.measure();
  // Whole blocks, so that the answer does not depend on how the input is cut.
  const std::size_t whole = rows / kFoldBlock * kFoldBlock;
  state.fold_rows(state.pending.data(), whole);
  state.pending.erase(state.pending.begin(),
                      state.pending.begin() + static_cast<std::ptrdiff_t>(whole * state.row_bytes()));
}

Profile Folder::profile() {
  FolderState& state = *state_;
  const std::size_t rows = state.pending.size() / state.row_bytes();
  if (state.statistics.mean.empty() && rows > 1) state.measure();
  if (!state.statistics.mean.empty()) state.fold_rows(state.pending.data(), rows);
  state.pending.erase(state.pending.begin(),
                      state.pending.begin() + static_cast<std::ptrdiff_t>(rows * state.row_bytes()));
  return state.profile;
}

std::uint64_t Folder::samples() const { return state_->folded; }

}  // namespace ridge::search
