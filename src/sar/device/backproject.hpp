// Back-projection on a device, direct or factorized.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <ridge/fft.hpp>
#include <ridge/sar/backprojection.hpp>

#include "device/staging.hpp"

namespace ridge::sar {

inline constexpr std::size_t kFine = 8;                                      // points of a refined pulse per sample
inline constexpr std::size_t kMostSamples = (std::size_t{1} << 22) / kFine;  // kernels split places below 2^22 points
inline constexpr std::size_t kWeights = 4096;   // of the window, between broadside and the edge of the processed band
inline constexpr std::size_t kWeightTerms = 8;  // of the polynomial that devices evaluate instead of the table
inline constexpr std::size_t kPolarFractions = 1024;  // places between two points of a polar grid

inline constexpr std::size_t kMerged = 4;     // groups of a level that become one of the next
inline constexpr std::size_t kRangeRate = 2;  // points of the polar grids per range sample

// Pulses [first, end) around a centre.
struct PulseGroup {
  std::size_t first = 0, end = 0;
  double along = 0, range = 0;  // centre
};

// Points at which the sum of a group's pulses is kept.
struct PolarGrid {
  std::size_t ranges = 0, angles = 0;
  double first_range = 0, range_step = 1, first_sine = 0, sine_step = 1;
  double widest = 0, half_length = 0;  // sine of the processed band; of the group, in metres
  std::size_t size() const { return ranges * angles; }
  double range(std::size_t i) const { return first_range + range_step * static_cast<double>(i); }
  double sine(std::size_t j) const { return first_sine + sine_step * static_cast<double>(j); }
  // Sines that pulses of the group see at a distance from its centre.
  double edge(double radius) const { return std::min(0.95, widest + half_length / radius) + 3 * sine_step; }
  // Angles [first, second) that are filled at a distance.
  std::pair<std::size_t, std::size_t> filled(double radius) const {
    const double reach = std::min(edge(radius), -first_sine);
    const auto first = static_cast<std::size_t>(std::max(0.0, std::floor((-reach - first_sine) / sine_step)));
    return {first, std::min(angles, angles - first)};
  }
};

// The groups of all levels, from the shortest to the longest, and the platform at each pulse.
struct Factorization {
  struct Level {
    std::size_t pulses = 0;  // per group
    PolarGrid grid{};        // around each group
    std::vector<PulseGroup> groups{};
  };
  std::vector<Level> levels{};
  std::vector<Offset> platform{};
  std::vector<std::array<float, 4>> taps{};  // of four neighbours, for kPolarFractions + 1 places between the inner two
};

KernelSource backproject_source();
KernelSource factorized_source();

// Range compression, whose spectrum is stored with negative frequencies first, and the inverse transform of that
// spectrum to kFine points per sample.
fft::Problem compression_problem(const Problem& frame);
fft::Problem refinement_problem(const Problem& frame);

class DeviceBackprojection {
 public:
  struct Geometry {
    double cell, along, turns_per_metre, widest_sine, widest_tangent;
  };
  DeviceBackprojection(const Device& device, const BackprojectionProblem& problem, const Geometry& geometry,
                       const std::vector<float>& weights, const std::vector<float>& norms, Factorization factorization,
                       const planner::Options& options);
  void run(std::span<const Complex> echoes, std::span<Complex> image) const;

 private:
  void add_groups(Queue& queue, const Buffer& image) const;
  void sum_level(Queue& queue, std::size_t level, std::size_t begin, std::size_t end) const;

  Problem frame_;
  Geometry geometry_;
  Factorization factorization_;  // without levels: direct
  Kernel kernel_, fill_{}, merge_{};
  fft::Plan<float> compress_, refine_;
  Buffer spectra_, profiles_, track_, weights_, norms_;
  std::vector<Argument> numbers_;
  std::array<Buffer, 2> sums_{};  // of the groups of even and odd levels
  std::vector<Buffer> apart_{};   // per level: from a group's centre back to its parts
  Buffer taps_{}, centres_{};
  std::size_t at_once_ = 1, reach_ = 0;  // groups of the last level; columns from a group's centre to its last pixel
  Staging staging_;
};

}  // namespace ridge::sar
