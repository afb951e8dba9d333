// Nonuniform Fourier transforms of types 1, 2 and 3, in one to three dimensions, float and double.
//
//   auto nufft = ridge::nufft::plan<float>(ridge::host(), {.modes = {256, 256}, .points = x.size(), .epsilon = 1e-6});
//   nufft.set_points(x, y);
//   nufft.run(strengths, modes);
//
// Type 1 (to_modes):  modes[k] = sum over j of strengths[j] * exp(sign * i * k . x[j]).
// Type 2 (to_points): values[j] = sum over k of modes[k] * exp(sign * i * k . x[j]).
// Type 3 (Type3Plan):  values[k] = sum over j of strengths[j] * exp(sign * i * s[k] . x[j]), s[k] anywhere.
// An axis of n modes has the frequencies -(n/2) ... (n-1)/2, with integer divisions. Coordinates are radians; they are
// folded into one period of 2 pi. Coordinate x belongs to the first axis of `modes`, z to the third.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

namespace ridge::nufft {

enum class Type {
  to_modes = 1,   // type 1: strengths at points -> Fourier modes
  to_points = 2,  // type 2: Fourier modes -> values at points
};

enum class Order {
  centered,  // ascending frequencies: -(n/2) ... (n-1)/2 (FINUFFT's modeord 0)
  fft,       // as transforms store them: 0 ... (n-1)/2, -(n/2) ... -1 (modeord 1)
};

struct Problem {
  Type type = Type::to_modes;
  std::vector<std::size_t> modes = {};  // one to three axes, slowest first
  std::size_t points = 0;               // expected number of points, for the planner; 0 = as many as modes
  double epsilon = 1e-6;                // relative error in the L2 norm over the output, for random input
  int sign = +1;                        // of the exponent: +1 or -1
  std::size_t batch = 1;                // sets of strengths and modes that share the points
  Order order = Order::centered;
  bool fold = true;         // coordinates outside [-pi, pi]: fold them into the period, or (false) refuse them
  double upsampling = 0;    // cells of the fine grid per mode and axis: 2.25, 2, 1.5 or 1.25; 0 = planned
  std::size_t threads = 0;  // host: 0 = all
  // Strengths and values are real, about half the work: run_real(). Type 2 gives the real part of the sum.
  bool real = false;
};

template <class T>
struct PlanState;  // src/nufft/plan.cpp
class PointSet;    // src/nufft/variant.hpp

// Runs transforms of one problem. Cheap to copy: copies share tables and scratch memory, and each copy keeps the points
// that were set before it was made. Runs are const; any number of threads may call run(), and the runs of one plan are
// made one after another. The answer has the same bits for any number of threads.
template <class T>
class Plan {
 public:
  using Complex = std::complex<T>;

  Plan(const Device& device, const Problem& problem, const planner::Options& options = {.effort = Effort::quick});

  // Sorts the points for all later runs; the coordinates are not needed afterwards. One span per axis of `modes`, all
  // of one length, which may be 0. Error{invalid_argument} if a coordinate is NaN, infinite or too far from 0.
  void set_points(std::span<const T> x, std::span<const T> y = {}, std::span<const T> z = {});
  // The same for coordinates in buffers of the plan's device, one per axis. Waits for the queue.
  void set_points(Queue& queue, std::size_t count, const std::vector<Buffer>& axes);
  std::size_t points() const;  // 0 before set_points()

  // Type 1: strengths (batch x points) -> modes (batch x modes). Type 2: modes -> values at the points.
  void run(std::span<const Complex> in, std::span<Complex> out) const;
  // The adjoint (conjugate transpose) of run(): the other type with the other sign.
  void adjoint(std::span<const Complex> in, std::span<Complex> out) const;
  // Plans with Problem::real: run() and adjoint() with real strengths or values. The adjoint is that of the real-linear
  // map, for the inner product Re(sum of a * conj(b)).
  void run_real(std::span<const T> strengths, std::span<Complex> modes) const;      // type 1
  void run_real(std::span<const Complex> modes, std::span<T> values) const;         // type 2
  void adjoint_real(std::span<const Complex> modes, std::span<T> values) const;     // of type 1
  void adjoint_real(std::span<const T> strengths, std::span<Complex> modes) const;  // of type 2
  // Modes -> values at the points and their derivatives by each coordinate (axes x batch x points), with one transform.
  // The sign is that of run() for type 2, that of adjoint() for type 1. The derivatives' errors are about ten times the
  // values'.
  void slopes(std::span<const Complex> modes, std::span<Complex> values, std::span<Complex> slopes) const;
  // Buffers of the plan's device, with the contents of the spans of run() or run_real(). The fine grid belongs to the
  // plan: enqueue the runs of one plan on one queue, or wait between queues.
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const;
  void enqueue_adjoint(Queue& queue, const Buffer& in, const Buffer& out) const;
  // The same for slopes(): `values` receives the values, then the derivatives ((1 + axes) x batch x points).
  void enqueue_slopes(Queue& queue, const Buffer& modes, const Buffer& values) const;

  std::string explain() const;
  const std::vector<planner::Decision>& decisions() const;  // the variant, then the lengths of the fine grid
  const std::vector<KernelSource>& kernels() const;         // device kernels; empty on the host
  const Device& device() const;
  const Problem& problem() const;
  double flops() const;  // spreading or interpolation and the transform of the fine grid, for the expected points
  double bytes() const;  // points, strengths and modes once each

 private:
  std::shared_ptr<const PlanState<T>> state_;
  std::shared_ptr<const PointSet> points_;
};

template <class T>
Plan<T> plan(const Device& device, const Problem& problem,
             const planner::Options& options = {.effort = Effort::quick}) {
  return Plan<T>(device, problem, options);
}

struct Type3Problem {
  std::size_t axes = 1;
  double epsilon = 1e-6;  // as in Problem, plus the rounding of the largest phase s . x
  int sign = +1;
  std::size_t batch = 1;
  std::size_t threads = 0;  // host: 0 = all
};

template <class T>
struct Type3State;  // src/nufft/type3.cpp

// Type 3: from points anywhere to frequencies anywhere. Copies share the points that were set.
template <class T>
class Type3Plan {
 public:
  using Complex = std::complex<T>;

  explicit Type3Plan(const Type3Problem& problem) : Type3Plan(host(), problem) {}
  Type3Plan(const Device& device, const Type3Problem& problem);

  // One span per axis, in host memory. Coordinates and frequencies have any finite size; memory is proportional to the
  // product over the axes of (extent of the points) x (extent of the frequencies). Error{out_of_memory} with both sizes
  // if it is too large.
  void set_points(const std::vector<std::span<const T>>& points, const std::vector<std::span<const T>>& frequencies);
  std::size_t points() const;       // 0 before set_points()
  std::size_t frequencies() const;  // 0 before set_points()

  // From batch x points to batch x frequencies.
  void run(std::span<const Complex> strengths, std::span<Complex> values) const;
  void adjoint(std::span<const Complex> values, std::span<Complex> strengths) const;
  // Buffers of the plan's device with the contents of the spans. The grids belong to the points that were set: enqueue
  // on one queue, or wait between queues.
  void enqueue(Queue& queue, const Buffer& strengths, const Buffer& values) const;
  void enqueue_adjoint(Queue& queue, const Buffer& values, const Buffer& strengths) const;
  std::string explain() const;  // fine grid, kernel, and the decisions of its transforms
  const Device& device() const { return device_; }
  const Type3Problem& problem() const { return problem_; }

 private:
  Device device_;
  Type3Problem problem_;
  std::shared_ptr<const Type3State<T>> state_;
};

// The normal operator A* W A of a type 2 transform A with weights W per point, as one convolution on a grid of twice as
// many modes per axis: iterative reconstruction needs no points after the construction.
template <class T>
class Normal {
 public:
  using Complex = std::complex<T>;

  // Modes, epsilon, sign, order and threads of `problem`; type and batch are ignored. One span of coordinates per axis;
  // no weights: all are 1.
  Normal(const Problem& problem, const std::vector<std::span<const T>>& points, std::span<const T> weights = {})
      : Normal(host(), problem, points, weights) {}
  Normal(const Device& device, const Problem& problem, const std::vector<std::span<const T>>& points,
         std::span<const T> weights = {});
  void run(std::span<const Complex> in, std::span<Complex> out) const;  // modes -> modes
  // Buffers of a device other than the host. The padded grid belongs to the operator: enqueue on one queue.
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// Smallest epsilon that a plan of this type accepts for a number of axes.
template <class T>
double least_epsilon(std::size_t axes);

// Every variant that exists for a device, allowed or not.
template <class T>
std::vector<planner::Candidate> candidates(const Device& device, const Problem& problem);

}  // namespace ridge::nufft
