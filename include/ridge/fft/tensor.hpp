// Transforms over any number of axes and loops, each with signed strides of its own on both sides: complex, real to
// complex and back, and real to real (cosine, sine, Hartley). What FFTW's guru interface describes, on the host.
//
//   auto dct = ridge::fft::tensor_plan<double>(ridge::host(), {.kind = TensorKind::real_to_real,
//                                                              .axes = {{.length = 1000, .input = 1, .output = 1}},
//                                                              .real_kinds = {RealKind::dct2}});
//   dct.run(in, out);
//
// Planning never touches the arrays. A run is const and may be made by many threads at once.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

namespace ridge::fft {

// Strides count elements of that side's type: complex numbers, or reals where the side is real (or split).
struct Dimension {
  std::size_t length = 1;
  std::ptrdiff_t input = 0, output = 0;
};

enum class TensorKind {
  complex_forward,  // exp(-2 pi i ...)
  complex_inverse,  // exp(+2 pi i ...)
  real_forward,     // real samples to the n/2+1 first values along the last axis
  real_inverse,     // and back; imaginary parts that must be zero are taken for zero
  real_to_real,
};

// As FFTW defines them, none scaled. N is the length of the axis.
enum class RealKind {
  halfcomplex,          // r0, r1, ..., r(N/2), i((N+1)/2-1), ..., i1 of the spectrum
  halfcomplex_inverse,  // from there back
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
  std::vector<Dimension> axes = {};       // none: a copy. Real: the last one is halved in the spectrum
  std::vector<Dimension> loops = {};      // repeated over these; a loop of length 0 makes a plan that does nothing
  std::vector<RealKind> real_kinds = {};  // real_to_real: one an axis
  bool in_place = false;                  // run(data, data); the sides may have different strides
  bool split_input = false, split_output = false;  // complex sides as two arrays of reals, strides in reals
  double scale = 1;                                // every value of the output is multiplied by it
  std::size_t threads = 1;                         // 0 = all
};

template <class T>
class Tensor;

template <class T>
class TensorPlan {
 public:
  using Real = T;
  using Complex = std::complex<T>;

  // Error{invalid_argument} for lengths of 0 along an axis, outputs that share elements, sizes beyond the address
  // space; Error{unavailable} for another device than the host.
  TensorPlan(const Device& device, const TensorProblem& problem, const planner::Options& options = {});

  // The arrays' first elements (strides may lead to lower addresses too). Nothing is checked: the caller knows the
  // shape. Complex arrays are interleaved.
  void run(const void* in, void* out) const noexcept;
  // Split arrays on the sides the problem says; the imaginary part of a real or interleaved side is ignored.
  void run(const T* in, const T* in_imaginary, T* out, T* out_imaginary) const noexcept;

  const TensorProblem& problem() const;
  const Device& device() const;
  double flops() const;         // by the usual count
  double done_flops() const;    // really done
  double bytes() const;         // input and output once each
  std::string explain() const;  // the passes, a line each
  const std::vector<planner::Decision>& decisions() const;
  const std::vector<KernelSource>& kernels() const;  // none: the host compiles nothing

 private:
  std::shared_ptr<const Tensor<T>> tensor_;
};

template <class T>
TensorPlan<T> tensor_plan(const Device& device, const TensorProblem& problem, const planner::Options& options = {}) {
  return TensorPlan<T>(device, problem, options);
}

// The same plan for the same problem and effort, on the host: for callers that plan at every call. The most recently
// used plans are kept, at most 32 MiB of tables and scratch for each precision, and always the last two; the rest is
// freed. Thread-safe.
template <class T>
TensorPlan<T> cached_tensor_plan(const TensorProblem& problem, const planner::Options& options = {});
void forget_cached_plans();  // plans that are held live on

}  // namespace ridge::fft
