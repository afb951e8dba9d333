// Fourier transforms of any length in one to three dimensions, complex and real, float and double.
//
//   auto fft = ridge::fft::plan<float>(ridge::host(), {.shape = {1024}, .batch = 4096});
//   fft.forward(in, out);
//   std::cout << fft.explain();
//
// forward: X[k] = scale_forward * sum x[n] exp(-2 pi i k n / N); inverse: the same with exp(+2 pi i k n / N) and
// scale_inverse. Both are unscaled unless asked.
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
#include <ridge/samples.hpp>

namespace ridge::fft {

enum class Kind {
  complex,  // complex samples <-> complex spectrum
  real,     // real samples <-> the n/2+1 first values of the spectrum's last axis
};

using ridge::Samples;

// What the numbers of both arrays are in memory. Halves are widened on load and rounded on store, and everything
// between is float: <ridge/half.hpp> has the conversions.
enum class Storage {
  same,  // the plan's own
  float16,
  bfloat16,
};

enum class Directions { both, forward, inverse };

// Distances between neighbours in elements of that side's type (a real plan's samples are counted in reals).
// Empty and 0 mean packed, last axis fastest.
struct Strides {
  std::vector<std::size_t> axes = {};  // one an axis, in the order of the shape
  std::size_t batch = 0;               // from a transform to the next
};

// Done to the points of a transform on their way in, in cache, at no extra pass over memory. Each factor is one value a
// point of the whole shape, packed, the same for every transform of the batch; empty means none.
struct Load {
  Samples samples = Samples::same;  // or int8, int16; forward only
  std::vector<double> window = {};
  std::vector<std::complex<double>> multiply = {};  // where the input is complex
};

// The same on the way out.
struct Store {
  std::vector<double> window = {};
  std::vector<std::complex<double>> multiply = {};  // where the output is complex
};

struct Problem {
  std::vector<std::size_t> shape = {};  // one to three axes, slowest first; real: of the samples
  std::size_t batch = 1;
  Kind kind = Kind::complex;
  Strides input = {}, output = {};  // forward goes from input to output, inverse from output to input
  bool in_place = false;            // forward(data), inverse(data). Real: rows of samples are padded to 2 (n/2+1)
  double scale_forward = 1, scale_inverse = 1;
  std::size_t threads = 0;  // host: 0 = all
  Load load_forward = {}, load_inverse = {};
  Store store_forward = {}, store_inverse = {};
  Storage storage = Storage::same;           // halves: plans of float only
  Directions directions = Directions::both;  // the other one is not built, and refused
};

template <class T>
class Transform;  // a decided, ready transform on the host
template <class T>
class DeviceTransform;  // and on another device

// On another device than the host, spans are uploaded, transformed and downloaded again, one run at a time; buffers
// stay where they are.
//
// Cheap to copy: copies share tables and scratch. Runs are const, may be made by any number of threads at once, and
// allocate nothing as long as no more than kPreparedCallers of them run at once: each caller beyond those makes its
// scratch when it first comes.
template <class T>
class Plan {
 public:
  using Real = T;
  using Complex = std::complex<T>;

  Plan(const Device& device, const Problem& problem, const planner::Options& options = {});

  // Complex plans. A span may be longer than needed; in == out only where the plan was made in place.
  void forward(std::span<const Complex> in, std::span<Complex> out) const;
  void inverse(std::span<const Complex> in, std::span<Complex> out) const;
  void forward(std::span<Complex> data) const { forward(std::span<const Complex>(data), data); }
  void inverse(std::span<Complex> data) const { inverse(std::span<const Complex>(data), data); }

  // Real plans. In place, the samples and the spectrum are the same memory.
  void forward(std::span<const Real> in, std::span<Complex> out) const;
  void inverse(std::span<const Complex> in, std::span<Real> out) const;

  // Memory of the plan's device, on a queue of it: enqueued, not waited for. The buffers hold what the spans above
  // would; the same buffer twice only where the plan was made in place. Not for plans on the host.
  void enqueue_forward(Queue& queue, const Buffer& in, const Buffer& out) const;
  void enqueue_inverse(Queue& queue, const Buffer& in, const Buffer& out) const;

  // Plans whose load_forward.samples say so: real samples, or re, im, re, im, ... of complex ones.
  void forward(std::span<const std::int8_t> in, std::span<Complex> out) const;
  void forward(std::span<const std::int16_t> in, std::span<Complex> out) const;

  // Plans whose storage says so: reals, or re, im, re, im, ... of complex numbers. On the host each call takes memory
  // for the floats.
  void forward(std::span<const std::uint16_t> in, std::span<std::uint16_t> out) const;
  void inverse(std::span<const std::uint16_t> in, std::span<std::uint16_t> out) const;

  // Nothing is checked: kind, sizes, alignment and overlap are right. On the host; numbers of the plan's own type.
  void forward_unchecked(const void* in, void* out) const noexcept;
  void inverse_unchecked(const void* in, void* out) const noexcept;

  // Elements a forward's input must have (complex or real; int8, int16, halves: values), and its output (complex
  // elements; halves: values).
  std::size_t input_size() const;
  std::size_t output_size() const;
  double flops() const;  // 5 N log2 N, half of it for real, of the whole batch: the usual count
  double bytes() const;  // samples and spectrum once each, the least traffic

  std::string explain() const;                              // the decisions, passes, flops done, floor
  const std::vector<planner::Decision>& decisions() const;  // one a different length among the axes
  std::vector<KernelSource> kernels() const;                // devices: what a forward run launches, in order
  const Problem& problem() const;
  const Device& device() const;

 private:
  void check_direction(bool forward) const;
  void run_float16(bool forward, std::span<const std::uint16_t> in, std::span<std::uint16_t> out) const;

  Directions directions_ = Directions::both;
  std::shared_ptr<const Transform<T>> transform_;  // one of the two
  std::shared_ptr<const DeviceTransform<T>> on_device_;
};

inline constexpr std::size_t kPreparedCallers = 2;

template <class T>
Plan<T> plan(const Device& device, const Problem& problem, const planner::Options& options = {}) {
  return Plan<T>(device, problem, options);
}

// Every way to do a line of n points, allowed or not, for `ridge fft explain`, `ridge bench` and the tests. Devices: of
// a packed batch of many lines.
template <class T>
std::vector<planner::Candidate> candidates(const Device& device, std::size_t n);

}  // namespace ridge::fft
