// Cosine, sine and Hartley transforms of arrays of which only a box is given, or only a box of the values wanted. The
// other samples are zero. Zeros and unwanted values are not stored; lines of zeros and lines without wanted values are
// not transformed. On the host, OpenCL and CUDA.
//
//   ridge::fft::RealBoxes<double> transform(ridge::host(), {.shape = {256, 256}, .kinds = {RealKind::dct2,
//   RealKind::dst1}, .given = {.count = {64, 64}}});
//   transform.run(samples, values);                   // 64 x 64 samples, 256 x 256 values
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/fft.hpp>
#include <ridge/fft/tensor.hpp>

namespace ridge::fft {

struct RealBoxesProblem {
  std::vector<std::size_t> shape = {};  // any number of axes, slowest first
  std::vector<RealKind> kinds = {};     // one per axis
  Box given = {}, wanted = {};          // as in fft::Problem
  double scale = 1;                     // multiplies every value
  std::size_t threads = 0;              // 0 = all
};

template <class T>
struct RealBoxesState;  // src/fft/real_boxes.cpp

// Cheap to copy. Any number of threads may run it; on devices their runs are made one after another.
template <class T>
class RealBoxes {
 public:
  explicit RealBoxes(const RealBoxesProblem& problem, const planner::Options& options = {.effort = Effort::quick})
      : RealBoxes(host(), problem, options) {}
  RealBoxes(const Device& device, const RealBoxesProblem& problem,
            const planner::Options& options = {.effort = Effort::quick});
  // The points of the boxes, packed. Host memory; other devices copy it in both directions.
  void run(std::span<const T> samples, std::span<T> values) const;
  // Buffers of a device other than the host, with the contents of the spans; enqueued, not waited for.
  void enqueue(Queue& queue, const Buffer& samples, const Buffer& values) const;
  RealBoxes adjoint() const;  // the transpose: from the wanted values to the given samples
  std::size_t input_size() const;
  std::size_t output_size() const;
  double share() const;         // points of the lines that are transformed, of those of the whole transform
  std::string explain() const;  // order of the axes, lines per axis
  std::vector<KernelSource> kernels() const;  // devices; empty on the host
  const Device& device() const;
  const RealBoxesProblem& problem() const;

 private:
  std::shared_ptr<const RealBoxesState<T>> state_;
};

}  // namespace ridge::fft
