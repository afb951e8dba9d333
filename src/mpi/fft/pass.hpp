// Transforms some axes of a box with plans of ridge::fft, a range of slices at a time.
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <optional>
#include <string>

#include <ridge/fft.hpp>

namespace ridge::mpi::fft {

using Points = std::array<std::size_t, 3>;  // one value per axis: z, y, x

struct PassProblem {
  Points samples{}, extent{};  // extents of all samples; extents of this process's part of the spectrum
  std::array<bool, 3> axes{};  // axes to transform
  bool real = false;           // x is transformed and its samples are real
  bool inverse = false;
  double scale = 1;
  std::size_t axis = 0;   // slices are taken along this axis
  std::size_t chunk = 1;  // indices per call; the last call may have fewer
  Points in{}, out{};     // strides; those of real samples count reals
};

// Number of indices of `axis` per slice. The result depends only on the arguments, so all processes agree.
std::size_t chunk_for(const Points& extent, std::size_t axis, std::size_t point_bytes, const Device& device);

template <class T>
class Pass {
 public:
  Pass(const PassProblem& problem, const Device& device, const planner::Options& options);
  // Transforms slices [begin, end); begin is a multiple of the chunk. in and out point to the first of them.
  void run(const void* in, void* out, std::size_t begin, std::size_t end) const;
  std::string explain() const;

 private:
  using Plan = ridge::fft::Plan<T>;
  Plan make(std::size_t batch, const Device& device, const planner::Options& options) const;
  void call(const Plan& plan, const void* in, void* out) const;

  PassProblem problem_;
  std::size_t batch_axis_ = 0, loop_axis_ = 0;
  std::optional<Plan> whole_, tail_;
};

}  // namespace ridge::mpi::fft
