// Transforms between samples on a grid of three axes and a list of columns of their spectrum, as in plane-wave codes,
// whose modes fill a sphere. Only the modes of the list are stored; lines without modes are not transformed. Complex or
// real samples, on the host, OpenCL and CUDA; ridge/mpi/columns.hpp distributes both over processes.
//
//   auto columns = ridge::fft::sphere_columns({36, 36, 36}, basis, cutoff);
//   ridge::fft::ColumnTransform<double> transform(ridge::host(), {.shape = {36, 36, 36}, .columns = columns});
//   transform.inverse(modes, samples);
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ridge/fft.hpp>

namespace ridge::fft {

// Modes (x, y, first), (x, y, first + 1), ... of a spectrum; negative frequencies are at the end of an axis.
struct Column {
  std::size_t x = 0, y = 0;
  std::size_t first = 0, count = 0;  // first + count may pass the end of the axis: it continues at its beginning
};

// All modes k with |k[0] basis[0] + k[1] basis[1] + k[2] basis[2]| <= cutoff, in ascending order of the frequencies.
// Kind::real: one of each pair k and -k. Error{invalid_argument} if the shape does not hold them.
std::vector<Column> sphere_columns(const std::vector<std::size_t>& shape,
                                   const std::array<std::array<double, 3>, 3>& basis, double cutoff,
                                   Kind kind = Kind::complex);

struct ColumnsProblem {
  std::vector<std::size_t> shape = {};  // three axes, slowest first; columns are along the last one
  std::vector<Column> columns = {};     // modes are stored in this order, one column after another
  // real: the samples are real, so that modes k and -k are conjugates. The list holds one of them, in at most one of
  // the columns (x, y) and (-x, -y). Imaginary parts of modes that are their own conjugates are ignored.
  Kind kind = Kind::complex;
  double scale_forward = 1, scale_inverse = 1;
  std::size_t threads = 0;  // 0 = all
};

template <class T>
struct ColumnState;  // src/fft/columns.cpp

// Cheap to copy. Any number of threads may run it; on devices their runs are made one after another.
template <class T>
class ColumnTransform {
 public:
  using Complex = std::complex<T>;
  explicit ColumnTransform(const ColumnsProblem& problem, const planner::Options& options = {.effort = Effort::quick})
      : ColumnTransform(host(), problem, options) {}
  ColumnTransform(const Device& device, const ColumnsProblem& problem,
                  const planner::Options& options = {.effort = Effort::quick});
  // Host memory; other devices copy it in both directions.
  void forward(std::span<const Complex> samples, std::span<Complex> modes) const;  // modes of the list only
  void inverse(std::span<const Complex> modes, std::span<Complex> samples) const;  // all other modes are zero
  void forward(std::span<const T> samples, std::span<Complex> modes) const;        // Kind::real
  void inverse(std::span<const Complex> modes, std::span<T> samples) const;        // Kind::real
  // Buffers of a device other than the host, with the contents of the spans; enqueued, not waited for.
  void enqueue_forward(Queue& queue, const Buffer& samples, const Buffer& modes) const;
  void enqueue_inverse(Queue& queue, const Buffer& modes, const Buffer& samples) const;
  // inverse() of the result is the adjoint (conjugate transpose) of forward(), and forward() that of inverse(). For
  // real grids the inner product of modes is Re(sum of a * conj(b)).
  ColumnTransform adjoint(const planner::Options& options = {.effort = Effort::quick}) const;
  std::size_t size() const;     // modes of all columns
  double share() const;         // points of the lines that are transformed, of those of the whole transform
  std::string explain() const;  // lines per axis, and the plans of the lines
  std::vector<KernelSource> kernels() const;  // devices: kernels launched by forward(); empty on the host
  const Device& device() const;
  const ColumnsProblem& problem() const;

 private:
  explicit ColumnTransform(std::shared_ptr<const ColumnState<T>> state) : state_(std::move(state)) {}
  std::shared_ptr<const ColumnState<T>> state_;
};

}  // namespace ridge::fft
