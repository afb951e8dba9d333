// Interpolated station delays, split into whole samples and a phase.
#include "filterbank/delays.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace ridge::filterbank {

void DelayTrack::add(std::uint64_t sample, std::span<const double> delays) {
  const Geometry& g = geometry_;
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::invalid_argument, "filterbank: " + what); };
  if (!g.delayed) refuse("this problem has no delays: set Problem::delays.wanted");
  if (delays.size() != g.polarizations * g.stations) {
    refuse(fmt::format("got {} delays; {} polarizations x {} stations need {}", delays.size(), g.polarizations,
                       g.stations, g.polarizations * g.stations));
  }
  if (!points_.empty() && sample <= points_.back().sample) {
    refuse(fmt::format("delays need increasing sample numbers: sample {} is not after sample {}", sample,
                       points_.back().sample));
  }
  for (const double delay : delays) {
    if (!(delay > -0.5) || !(delay < static_cast<double>(g.longest) + 0.5)) {
      refuse(fmt::format("delays must round to 0 .. {} samples (Problem::delays.longest), got {}", g.longest, delay));
    }
  }
  points_.push_back({sample, {delays.begin(), delays.end()}});
}

bool DelayTrack::open_at(std::uint64_t spectrum) const {
  return points_.empty() || geometry_.middle(spectrum) > static_cast<double>(points_.back().sample);
}

void DelayTrack::forget_before(std::uint64_t spectrum) {
  const double middle = geometry_.middle(spectrum);
  const auto behind = std::find_if(points_.begin(), points_.end(), [&](const SavedState::Delays& point) {
    return static_cast<double>(point.sample) > middle;
  });
  // The last point at or before the spectrum is still needed for interpolation.
  if (behind - points_.begin() > 1) points_.erase(points_.begin(), behind - 1);
}

void DelayTrack::restore(std::vector<SavedState::Delays> points) {
  DelayTrack checked(geometry_, frequency_);
  for (const auto& point : points) checked.add(point.sample, point.delays);
  points_ = std::move(points);
}

DelayTrack::Between DelayTrack::find(std::uint64_t spectrum) const {
  const double middle = geometry_.middle(spectrum);
  const auto behind = std::find_if(points_.begin(), points_.end(), [&](const SavedState::Delays& point) {
    return static_cast<double>(point.sample) > middle;
  });
  const auto high = static_cast<std::size_t>(behind - points_.begin());
  if (high == 0) return {0, 0, 0};
  if (high == points_.size()) return {high - 1, high - 1, 0};
  const auto from = static_cast<double>(points_[high - 1].sample), to = static_cast<double>(points_[high].sample);
  return {high - 1, high, (middle - from) / (to - from)};
}

double DelayTrack::delay(const Between& between, std::size_t index) const {
  if (points_.empty()) return 0;
  const double low = points_[between.low].delays[index], high = points_[between.high].delays[index];
  return low + between.share * (high - low);
}

double DelayTrack::delay(std::uint64_t spectrum, std::size_t polarization, std::size_t station) const {
  return delay(find(spectrum), polarization * geometry_.stations + station);
}

// Both polarizations are read from the same sample, that of the first polarization's delay.
void DelayTrack::shifts(std::uint64_t spectrum, std::span<std::int64_t> shifts) const {
  const Between between = find(spectrum);
  for (std::size_t s = 0; s < geometry_.stations; ++s) shifts[s] = std::llround(delay(between, s));
}

void DelayTrack::phases(std::uint64_t spectrum, std::span<const std::int64_t> shifts, std::span<Phase> phases) const {
  const Geometry& g = geometry_;
  const Between between = find(spectrum);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const double tau = delay(between, i);
    const double cycles = frequency_ * tau;
    const double rest = tau - static_cast<double>(shifts[i % g.stations]);
    phases[i] = {static_cast<float>(cycles - std::rint(cycles)),
                 static_cast<float>(rest / static_cast<double>(g.channels))};
  }
}

}  // namespace ridge::filterbank
