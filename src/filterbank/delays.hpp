// Time-dependent delays of the stations: points in order of time, interpolated linearly.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "filterbank/geometry.hpp"
#include "filterbank/saved_state.hpp"
#include "filterbank/variant.hpp"

namespace ridge::filterbank {

class DelayTrack {
 public:
  DelayTrack(const Geometry& geometry, double frequency) : geometry_(geometry), frequency_(frequency) {}

  // Throws Error{invalid_argument} if `sample` is not after the last point or a delay is out of bounds.
  void add(std::uint64_t sample, std::span<const double> delays);
  // True if a point appended to the track could still change the delays of this spectrum.
  bool open_at(std::uint64_t spectrum) const;
  // Drops the points that no spectrum from `spectrum` on needs.
  void forget_before(std::uint64_t spectrum);
  const std::vector<SavedState::Delays>& points() const { return points_; }
  void restore(std::vector<SavedState::Delays> points);

  // Delay of each station at a spectrum, rounded to whole samples.
  void shifts(std::uint64_t spectrum, std::span<std::int64_t> shifts) const;
  // Phases that remain after those shifts, [polarization][station].
  void phases(std::uint64_t spectrum, std::span<const std::int64_t> shifts, std::span<Phase> phases) const;
  double delay(std::uint64_t spectrum, std::size_t polarization, std::size_t station) const;

 private:
  // The two points around a spectrum and its relative position between them, 0 to 1.
  struct Between {
    std::size_t low, high;
    double share;
  };
  Between find(std::uint64_t spectrum) const;
  double delay(const Between& between, std::size_t index) const;

  const Geometry& geometry_;
  double frequency_;
  std::vector<SavedState::Delays> points_;
};

}  // namespace ridge::filterbank
