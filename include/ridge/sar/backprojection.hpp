// Back-projection: focuses echoes of any track by adding, for every pixel, the echo of every pulse at the pixel's
// distance. The platform may leave the straight line.
//
//   ridge::sar::Backprojection focus({.frame = problem, .track = offsets});
//   focus.run(echoes, image);
//
// Image, peaks and phases are those of ridge/sar.hpp.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/sar.hpp>

namespace ridge::sar {

enum class Method {
  direct,      // adds every pulse of the aperture to every pixel
  factorized,  // adds groups of pulses on coarse grids of ranges and angles, and merges the groups level by level
};

// Position of the platform at a pulse, relative to the straight track: along it, and towards the scene.
struct Offset {
  double along_m = 0, range_m = 0;
};

struct BackprojectionProblem {
  Problem frame = {};
  Method method = Method::direct;
  std::vector<Offset> track = {};  // one per pulse; empty: the straight track
  std::size_t group = 0;           // factorized: pulses per group of the first level; 0: the cheapest
  // Factorized, on devices: points of the polar grids of a level that are kept at a time, at least those of one group.
  std::size_t most_sums = std::size_t{1} << 26;
  std::function<void(double share)> progress = {};  // called by run() on the host, in the calling thread
};

// Echoes of point targets for a track.
std::vector<Complex> simulate(const Problem& problem, const std::vector<Target>& targets,
                              const std::vector<Offset>& track);

struct BackprojectionState;  // src/sar/host/backprojection.cpp

// Cheap to copy. Runs are const; those of one plan are made one after another.
class Backprojection {
 public:
  explicit Backprojection(const BackprojectionProblem& problem,
                          const planner::Options& options = {.effort = Effort::quick});
  Backprojection(const Device& device, const BackprojectionProblem& problem,
                 const planner::Options& options = {.effort = Effort::quick});
  void run(std::span<const Complex> echoes, std::span<Complex> image) const;
  std::string explain() const;
  double updates() const;  // of the direct method: pixels x pulses of their apertures
  const BackprojectionProblem& problem() const;

 private:
  std::shared_ptr<const BackprojectionState> state_;
};

}  // namespace ridge::sar
