// Fourier transforms of any length in one to three dimensions, complex and real, float and double.
//
//   auto fft = ridge::fft::plan<float>(ridge::host(), {.shape = {1024}, .batch = 4096});
//   fft.forward(in, out);
//   std::cout << fft.explain();
//
// forward: X[k] = scale_forward * sum x[n] exp(-2 pi i k n / N); inverse: the same with exp(+2 pi i k n / N) and
// scale_inverse. Both scales default to 1.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/fft/convolution.hpp>  // convolve, correlate, Convolution
#include <ridge/plan.hpp>
#include <ridge/recording.hpp>
#include <ridge/samples.hpp>

namespace ridge::fft {

enum class Kind {
  complex,  // complex samples <-> complex spectrum
  real,     // real samples <-> the first n/2+1 values along the spectrum's last axis
};

using ridge::Samples;

// Element type of both arrays in memory. 16-bit floats are converted to float on load and rounded on store; all
// arithmetic is in float. Conversions: <ridge/half.hpp>.
enum class Storage {
  same,  // the plan's own type
  float16,
  bfloat16,
};

enum class Directions { both, forward, inverse };

// Distances between neighbours, in elements of that side's type (reals for a real plan's samples). Empty and 0 mean
// packed, last axis fastest.
struct Strides {
  std::vector<std::size_t> axes = {};  // one per axis, in the order of the shape
  std::size_t batch = 0;               // from one transform to the next
};

// A range of points per axis. Empty: everything. first + count may pass the end of an axis: the box then continues at
// its beginning, which describes modes at both ends of a spectrum.
struct Box {
  std::vector<std::size_t> first = {};  // empty: all 0
  std::vector<std::size_t> count = {};
  bool whole() const { return first.empty() && count.empty(); }
};

// Operations fused into the load of a transform, without an extra pass over memory. Each factor holds one value per
// point of that side (of its box), packed, and applies to every transform of the batch. Empty means none.
struct Load {
  Samples samples = Samples::same;  // or int8, int16; forward only
  std::vector<double> window = {};
  std::vector<std::complex<double>> multiply = {};  // complex input only
};

// Operations fused into the store of a transform.
struct Store {
  std::vector<double> window = {};
  std::vector<std::complex<double>> multiply = {};  // complex output only
};

struct Problem {
  std::vector<std::size_t> shape = {};  // one to three axes, slowest first; shape of the real samples for Kind::real
  std::size_t batch = 1;
  Kind kind = Kind::complex;
  Strides input = {}, output = {};  // forward reads input and writes output; inverse reads output and writes input
  bool in_place = false;            // forward(data), inverse(data). Real: rows of samples are padded to 2 (n/2+1)
  double scale_forward = 1, scale_inverse = 1;
  std::size_t threads = 0;  // host: 0 = all
  Load load_forward = {}, load_inverse = {};
  Store store_forward = {}, store_inverse = {};
  Storage storage = Storage::same;           // 16-bit floats: plans of float only
  Directions directions = Directions::both;  // the other direction is not built and throws
  // forward() reads only the samples in `given`, treats the others as zero, and writes only the values in `wanted`;
  // inverse() exchanges the two. The arrays hold the points of the boxes, packed or by the strides above. Lines of
  // zeros and lines without wanted values are not transformed. Out of place only. Kind::real: `wanted` is a box of the
  // half spectrum and must not continue at the beginning of its last axis.
  Box given = {}, wanted = {};
};

// The problem of the adjoint transforms (conjugate transposes) in both directions: forward() of its plan is the adjoint
// of inverse() of the given one, and inverse() the adjoint of forward(). <A x, g> = <x, A^H g> for the inner product
// that counts every stored number once, so half spectra get weights. Error{invalid_argument} for integer samples.
Problem adjoint(const Problem& problem);

template <class T>
class Transform;        // a planned transform on the host
class DeviceTransform;  // a planned transform on another device

// Runs transforms of one problem. On devices other than the host, spans are uploaded, transformed and downloaded, one
// run at a time; buffers stay on the device.
//
// Cheap to copy: copies share tables and scratch memory. Runs are const and may be made by any number of threads at
// once. Up to kPreparedCallers concurrent runs allocate nothing; each further concurrent caller allocates its scratch
// memory once.
template <class T>
class Plan {
 public:
  using Real = T;
  using Complex = std::complex<T>;

  Plan(const Device& device, const Problem& problem, const planner::Options& options = {});

  // Complex plans. Spans may be longer than needed. in == out is allowed only for in-place plans.
  void forward(std::span<const Complex> in, std::span<Complex> out) const;
  void inverse(std::span<const Complex> in, std::span<Complex> out) const;
  void forward(std::span<Complex> data) const { forward(std::span<const Complex>(data), data); }
  void inverse(std::span<Complex> data) const { inverse(std::span<const Complex>(data), data); }

  // Real plans. In place, the samples and the spectrum share memory.
  void forward(std::span<const Real> in, std::span<Complex> out) const;
  void inverse(std::span<const Complex> in, std::span<Real> out) const;

  // Buffers of the plan's device, enqueued on one of its queues without waiting. The buffers have the same contents as
  // the spans above; in and out may be the same buffer only for in-place plans. Not for plans on the host.
  void enqueue_forward(Queue& queue, const Buffer& in, const Buffer& out) const;
  void enqueue_inverse(Queue& queue, const Buffer& in, const Buffer& out) const;
  // The same work recorded, to be enqueued with one call (on CUDA a graph): capture() is the forward transform.
  Recording capture(const Buffer& in, const Buffer& out) const {
    return {device(), [&](Queue& queue) { enqueue_forward(queue, in, out); }};
  }
  Recording capture_inverse(const Buffer& in, const Buffer& out) const {
    return {device(), [&](Queue& queue) { enqueue_inverse(queue, in, out); }};
  }

  // Plans with load_forward.samples int8 or int16: real samples, or interleaved complex samples (re, im, re, im, ...).
  void forward(std::span<const std::int8_t> in, std::span<Complex> out) const;
  void forward(std::span<const std::int16_t> in, std::span<Complex> out) const;

  // Plans with 16-bit storage: reals, or interleaved complex numbers (re, im, re, im, ...). On the host each call
  // allocates memory for the floats.
  void forward(std::span<const std::uint16_t> in, std::span<std::uint16_t> out) const;
  void inverse(std::span<const std::uint16_t> in, std::span<std::uint16_t> out) const;

  // Performs no checks: the caller guarantees kind, sizes, alignment and overlap. Host plans with the plan's own
  // element type.
  void forward_unchecked(const void* in, void* out) const noexcept;
  void inverse_unchecked(const void* in, void* out) const noexcept;

  Plan adjoint(const planner::Options& options = {}) const;  // plan of fft::adjoint(problem())

  // Number of elements of the input and the output of forward(): reals or complex numbers. int8, int16 and 16-bit
  // floats are counted as single values.
  std::size_t input_size() const;
  std::size_t output_size() const;
  double flops() const;  // the conventional count for the whole batch: 5 N log2 N, half of that for real
  double bytes() const;  // least traffic: samples and spectrum once each

  std::string explain() const;  // decisions, passes, executed flops, lower bound on the time
  const std::vector<planner::Decision>& decisions() const;  // one per distinct length among the axes
  std::vector<KernelSource> kernels() const;                // devices: kernels launched by forward(), in order
  const Problem& problem() const;
  const Device& device() const;

 private:
  void check_direction(bool forward) const;
  void run_float16(bool forward, std::span<const std::uint16_t> in, std::span<std::uint16_t> out) const;

  Directions directions_ = Directions::both;
  planner::Exchangeable<Transform<T>> transform_;  // host plans; null otherwise
  planner::Exchangeable<DeviceTransform> on_device_;
};

inline constexpr std::size_t kPreparedCallers = 2;

template <class T>
Plan<T> plan(const Device& device, const Problem& problem, const planner::Options& options = {}) {
  return Plan<T>(device, problem, options);
}

// Every variant for a transform of n points, allowed or not, for `ridge fft explain`, `ridge bench` and the tests. On
// devices: for a large packed batch.
template <class T>
std::vector<planner::Candidate> candidates(const Device& device, std::size_t n);

}  // namespace ridge::fft
