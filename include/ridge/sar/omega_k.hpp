// The omega-k algorithm: focuses frames of a straight track exactly, without the approximations of the range-Doppler
// algorithm. The change of variables from range frequencies to wavenumbers (Stolt's interpolation) and the transform to
// ranges are one nonuniform transform per Doppler frequency.
//
//   ridge::sar::OmegaK focus(problem);
//   focus.run(echoes, image);                                      // on the host
//
// Image, peaks and phases are those of ridge/sar.hpp. autofocus() estimates how far the platform left the straight
// track.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/sar/backprojection.hpp>

namespace ridge::sar {

struct OmegaKState;  // src/sar/host/omega_k.cpp

// Cheap to copy. Runs are const; those of one plan are made one after another.
class OmegaK {
 public:
  explicit OmegaK(const Problem& problem, const planner::Options& options = {.effort = Effort::quick});
  void run(std::span<const Complex> echoes, std::span<Complex> image) const;
  std::string explain() const;
  const Problem& problem() const;

 private:
  std::shared_ptr<const OmegaKState> state_;
};

struct AutofocusOptions {
  std::size_t iterations = 4;
  std::size_t targets = 32;  // brightest points that are used
  double width_m = 0;  // of the first window around a point; 0: a quarter of the aperture. Halved by every iteration
};

// Phase-gradient autofocus: the platform's offsets towards the scene, estimated from the brightest points of the scene.
// A constant offset and a linear trend move the image without blurring it and are not estimated. Offsets must be
// smaller than a range cell.
std::vector<Offset> autofocus(const Problem& problem, std::span<const Complex> echoes,
                              const AutofocusOptions& options = {});

}  // namespace ridge::sar
