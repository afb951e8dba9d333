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
#include "sar/factorization.hpp"

namespace ridge::sar {

inline constexpr std::size_t kFine = 4;  // points of a refined pulse per sample
static_assert(kFine * (std::size_t{1} << 20) <= std::size_t{1} << 22, "SPLIT() needs positions below 2^22");
inline constexpr std::size_t kWeights = 4096;   // of the window, between broadside and the edge of the processed band
inline constexpr std::size_t kWeightTerms = 8;  // of the polynomial that devices evaluate instead of the table

KernelSource backproject_source();
struct FactorizedShape {
  std::size_t even = 2048,
              odd = 1024;       // points of all groups of even and odd levels that a work-group keeps in local memory
  bool series = true;           // distances to pulses by a series
  bool first_weighted = false;  // the first level is the last one
};
KernelSource factorized_source(const FactorizedShape& shape = {});

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
  // True if the sums of one group of the last level fit the local memory of the device.
  static bool fits(const Device& device, const Factorization& factorization, double near_range);

 private:
  void set_groups(const Device& device, Queue& queue, const BackprojectionProblem& problem);
  void add_rows(Queue& queue, const Buffer& image) const;

  Problem frame_;
  Geometry geometry_;
  Factorization factorization_;      // without levels: direct
  Kernel kernel_, sum_{}, shift_{};  // of pixels; factorized: of the groups on a row, of spectra
  fft::Plan<float> compress_, refine_;
  Buffer spectra_, profiles_, track_, weights_, norms_;
  std::vector<Argument> numbers_;
  Buffer parts_{}, lengths_{}, sums_{};
  std::size_t margin_ = 0;                  // refined points: see fill_groups
  std::size_t segment_ = 0, at_once_ = 1;   // pulses per work-group; rows per launch
  std::size_t most_ = 0, local_bytes_ = 0;  // points of a group's widest grid; per work-group
  Staging staging_;
};

}  // namespace ridge::sar
