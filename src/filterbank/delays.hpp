// Delays of the stations along a stream: points in order of time, linear between them.
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

  // Error{invalid_argument} where it is not behind the last, or a delay is not within bounds.
  void add(std::uint64_t sample, std::span<const double> delays);
  // Whether a point at the end of the track would change this spectrum.
  bool open_at(std::uint64_t spectrum) const;
  // Points that no spectrum from `spectrum` on needs.
  void forget_before(std::uint64_t spectrum);
  const std::vector<SavedState::Delays>& points() const { return points_; }
  void restore(std::vector<SavedState::Delays> points);

  // Whole samples of every station at a spectrum.
  void shifts(std::uint64_t spectrum, std::span<std::int64_t> shifts) const;
  // Its phases, [polarization][station], for those shifts.
  void phases(std::uint64_t spectrum, std::span<const std::int64_t> shifts, std::span<Phase> phases) const;
  double delay(std::uint64_t spectrum, std::size_t polarization, std::size_t station) const;

 private:
  // Between which points a spectrum lies and how far behind the first of them, 0 to 1.
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
