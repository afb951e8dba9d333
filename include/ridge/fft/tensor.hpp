// Transforms over any number of axes and loops, each with its own signed strides in input and output: complex, real to
// complex, complex to real, and real to real (cosine, sine, Hartley). Covers FFTW's guru interface, on the host.
//
//   auto dct = ridge::fft::tensor_plan<double>(ridge::host(), {.kind = TensorKind::real_to_real,
//                                                              .axes = {{.length = 1000, .input = 1, .output = 1}},
//                                                              .real_kinds = {RealKind::dct2}});
//   dct.run(in, out);
//
// Planning never accesses the arrays. Runs are const and may be made by many threads at once.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

namespace ridge::fft {

// Strides count elements of that side's type: complex numbers, or reals if the side is real or split.
struct Dimension {
  std::size_t length = 1;
  std::ptrdiff_t input = 0, output = 0;
};

enum class TensorKind {
  complex_forward,  // exp(-2 pi i ...)
  complex_inverse,  // exp(+2 pi i ...)
  real_forward,     // real samples to the first n/2+1 values along the last axis
  real_inverse,     // its inverse; imaginary parts that must be zero are read as zero
  real_to_real,
};

// FFTW's definitions, unscaled. N is the length of the axis.
enum class RealKind {
  halfcomplex,          // r0, r1, ..., r(N/2), i((N+1)/2-1), ..., i1 of the spectrum
  halfcomplex_inverse,  // its inverse
  hartley,              // sum x (cos + sin)
  dct1,                 // x[0] + (-1)^k x[N-1] + 2 sum x[j] cos(pi j k / (N-1)); N >= 2
  dct2,                 // 2 sum x[j] cos(pi (j+1/2) k / N)
  dct3,                 // x[0] + 2 sum x[j] cos(pi j (k+1/2) / N)
  dct4,                 // 2 sum x[j] cos(pi (j+1/2) (k+1/2) / N)
  dst1,                 // 2 sum x[j] sin(pi (j+1) (k+1) / (N+1))
  dst2,                 // 2 sum x[j] sin(pi (j+1/2) (k+1) / N)
  dst3,                 // (-1)^k x[N-1] + 2 sum x[j] sin(pi (j+1) (k+1/2) / N)
  dst4,                 // 2 sum x[j] sin(pi (j+1/2) (k+1/2) / N)
};
const char* to_string(RealKind kind);

struct TensorProblem {
  TensorKind kind = TensorKind::complex_forward;
  std::vector<Dimension> axes = {};       // empty: a copy. Real: the last axis has n/2+1 points in the spectrum
  std::vector<Dimension> loops = {};      // batch dimensions; a loop of length 0 makes an empty plan
  std::vector<RealKind> real_kinds = {};  // real_to_real: one per axis
  bool in_place = false;                  // run(data, data); input and output strides may differ
  bool split_input = false, split_output = false;  // complex arrays stored as two real arrays, strides in reals
  double scale = 1;                                // multiplies every output value
  // Real factors along each axis, applied to the input before and to the output after the transform: empty, or one list
  // per axis with one factor per point of that side (n/2+1 on the halved axis) or none. Not for split arrays.
  std::vector<std::vector<double>> load = {}, store = {};
  std::size_t threads = 1;  // 0 = all
};

// The problem of the adjoint (conjugate transpose): <A x, g> = <x, A^H g> for the inner product that counts every
// stored number once. Its input has the strides of the given output, and the other way round. Scale and threads are
// kept.
TensorProblem adjoint(const TensorProblem& problem);

template <class T>
class Tensor;

template <class T>
class TensorPlan {
 public:
  using Real = T;
  using Complex = std::complex<T>;

  // Error{invalid_argument} for axes of length 0, outputs that share elements, and sizes beyond the address space;
  // Error{unavailable} for devices other than the host.
  TensorPlan(const Device& device, const TensorProblem& problem, const planner::Options& options = {});

  // `in` and `out` point to the first elements; negative strides reach lower addresses. Nothing is checked: the caller
  // guarantees the sizes. Complex arrays are interleaved.
  void run(const void* in, void* out) const noexcept;
  // Split arrays where the problem specifies them. The imaginary pointer of a real or interleaved side is ignored.
  void run(const T* in, const T* in_imaginary, T* out, T* out_imaginary) const noexcept;

  TensorPlan adjoint(const planner::Options& options = {}) const;  // plan of fft::adjoint(problem())

  const TensorProblem& problem() const;
  const Device& device() const;
  double flops() const;         // the conventional count
  double done_flops() const;    // actually executed
  double bytes() const;         // input and output once each
  std::string explain() const;  // one line per pass
  const std::vector<planner::Decision>& decisions() const;
  const std::vector<KernelSource>& kernels() const;  // none: the host compiles nothing

 private:
  planner::Exchangeable<Tensor<T>> tensor_;
};

template <class T>
TensorPlan<T> tensor_plan(const Device& device, const TensorProblem& problem, const planner::Options& options = {}) {
  return TensorPlan<T>(device, problem, options);
}

// Returns a cached plan for the same problem and effort, on the host, for callers that plan at every call. Keeps the
// most recently used plans, at most 32 MiB of tables and scratch memory per precision and always the last two.
// Thread-safe.
template <class T>
TensorPlan<T> cached_tensor_plan(const TensorProblem& problem, const planner::Options& options = {});
void forget_cached_plans();  // plans held by callers stay valid

}  // namespace ridge::fft
