// Direct back-projection on a device.
#pragma once
#include <vector>

#include <ridge/fft.hpp>
#include <ridge/sar/backprojection.hpp>

#include "device/staging.hpp"

namespace ridge::sar {

inline constexpr std::size_t kFine = 8;        // points of a refined pulse per sample
inline constexpr std::size_t kWeights = 4096;  // of the window, between broadside and the edge of the processed band

KernelSource backproject_source();

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
                       const std::vector<float>& weights, const std::vector<float>& norms,
                       const planner::Options& options);
  void run(std::span<const Complex> echoes, std::span<Complex> image) const;

 private:
  Kernel kernel_;
  Launch launch_;
  fft::Plan<float> compress_, refine_;
  Buffer spectra_, profiles_, track_, weights_, norms_;
  std::vector<Argument> numbers_;
  Staging staging_;
};

}  // namespace ridge::sar
