// Type 3 as spreading followed by a type 2. With the points' centre at 0 and their scale chosen so that the largest
// frequency is pi / upsampling per cell, the spread grid is a set of modes that a type 2 evaluates at the frequencies;
// the kernel's transform is divided out per frequency:
//   sum_l b[l] exp(i l t) = F(t) * sum_j c[j] exp(i g[j] t),   b[l] = sum_j c[j] phi(l - g[j]),   g t = x s.
#include "nufft/type3.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/threads.hpp"
#include "fft/host/prime/numbers.hpp"
#include "nufft/host/tiling.hpp"
#include "nufft/kernel.hpp"
#include "plan/arguments.hpp"

namespace ridge::nufft {
namespace {

constexpr double kType3Upsampling = 2;
constexpr double kShareOfError = 1.5;  // spreading and the inner type 2 each get epsilon / 1.5: their squares add up
constexpr const char* kType3 = "nufft type 3";

[[noreturn]] void refuse_type3(const std::string& message) {
  throw Error(ErrorKind::invalid_argument, fmt::format("{}: {}", kType3, message));
}

// Interval of one axis.
struct Extent1 {
  double centre = 0, half = 0;
};

template <class T>
Extent1 extent_of(std::span<const T> values, const char* what, std::size_t axis) {
  double low = 0, high = 0;
  for (std::size_t j = 0; j < values.size(); ++j) {
    const double value{values[j]};
    if (!std::isfinite(value)) {
      refuse_type3(fmt::format("set_points() needs finite {}, got {} of index {} on axis {}", what, value, j, axis));
    }
    low = j == 0 ? value : std::min(low, value);
    high = j == 0 ? value : std::max(high, value);
  }
  return {.centre = low / 2 + high / 2, .half = high / 2 - low / 2};
}

// One axis of the transform: cell of point x is scale * (x - points.centre), angle of frequency s is
// (s - frequencies.centre) / scale.
struct Type3Axis {
  Extent1 points{}, frequencies{};
  double scale = 1;
  double cells = 1;  // least number
};

Type3Axis design_axis(const Extent1& points, const Extent1& frequencies, std::size_t width) {
  Type3Axis axis{.points = points, .frequencies = frequencies};
  if (frequencies.half > 0) {
    axis.scale = kType3Upsampling * frequencies.half / std::numbers::pi;
  } else if (points.half > 0) {
    axis.scale = 1 / points.half;
  }
  axis.cells = 2 * points.half * axis.scale + static_cast<double>(width) + 2;
  return axis;
}

// exp(i sign sum_i a[i] b[i]) with the rounding error of each product.
std::complex<double> phase_of(int sign, const std::array<double, 3>& a, const std::array<double, 3>& b) {
  std::complex<double> product = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const double phase = a[i] * b[i], error = std::fma(a[i], b[i], -phase);
    product *= std::polar(1.0, sign * phase) * std::polar(1.0, sign * error);
  }
  return product;
}

}  // namespace

// Fixed points and frequencies.
template <class T>
struct Type3State {
  std::array<std::size_t, 3> cells;
  std::size_t points, frequencies;
  std::unique_ptr<const Type3Steps<T>> steps;
};

namespace {

template <class T>
using Spans = std::vector<std::span<const T>>;

template <class T>
void check_spans(const Spans<T>& spans, std::size_t axes, const char* what) {
  if (spans.size() != axes)
    refuse_type3(fmt::format("set_points() needs {} arrays of {}, got {}", axes, what, spans.size()));
  for (const auto& span : spans) {
    if (span.size() != spans[0].size()) {
      refuse_type3(
          fmt::format("set_points() needs {} of one length, got {} and {}", what, spans[0].size(), span.size()));
    }
  }
}

// Values of one axis as angles: scale * (value - centre).
template <class T>
std::vector<double> angles_of(std::span<const T> values, double centre, double scale) {
  std::vector<double> angles(values.size());
  for (std::size_t j = 0; j < values.size(); ++j) angles[j] = scale * (double{values[j]} - centre);
  return angles;
}

// Angles of the points on the spread grid, and of the frequencies on the grid of the type 2.
template <class T>
void set_angles(Type3Setup<T>& setup, const std::array<Type3Axis, 3>& axes, const Spans<T>& points,
                const Spans<T>& frequencies) {
  for (std::size_t i = 0; i < setup.axes; ++i) {
    const Type3Axis& axis = axes[3 - setup.axes + i];
    const double cell = 2 * std::numbers::pi / static_cast<double>(setup.cells[3 - setup.axes + i]);
    setup.points.push_back(angles_of(points[i], axis.points.centre, axis.scale * cell));
    setup.frequencies.push_back(angles_of(frequencies[i], axis.frequencies.centre, 1 / axis.scale));
  }
}

// Calls use(j) for each of `count` elements, in parallel.
template <class Use>
void for_elements(std::size_t threads, std::size_t count, const Use& use) {
  constexpr std::size_t kPart = 4096;
  for_units(threads, (count + kPart - 1) / kPart, [&](std::size_t unit, std::size_t) {
    for (std::size_t j = unit * kPart; j < std::min(count, (unit + 1) * kPart); ++j) use(j);
  });
}

// Factors that move both centres to 0 and divide by the kernel's transform.
template <class T>
void set_factors(Type3Setup<T>& setup, const std::array<Type3Axis, 3>& axes, const Spans<T>& points,
                 const Spans<T>& frequencies) {
  const Kernel kernel(setup.width, kType3Upsampling);
  const std::size_t first = 3 - setup.axes;
  std::array<double, 3> from{}, to{};
  for (std::size_t i = first; i < 3; ++i) {
    from[i] = axes[i].points.centre;
    to[i] = axes[i].frequencies.centre;
  }
  setup.before.resize(points[0].size());
  setup.after.resize(frequencies[0].size());
  for_elements(setup.threads, setup.before.size(), [&](std::size_t j) {
    std::array<double, 3> x{};
    for (std::size_t i = first; i < 3; ++i) x[i] = double{points[i - first][j]} - from[i];
    setup.before[j] = std::complex<T>(phase_of(setup.sign, x, to));
  });
  for_elements(setup.threads, setup.after.size(), [&](std::size_t k) {
    std::array<double, 3> s{};
    double factor = 1;
    for (std::size_t i = first; i < 3; ++i) {
      s[i] = double{frequencies[i - first][k]};
      factor *= kernel.factor((s[i] - to[i]) / axes[i].scale);
    }
    setup.after[k] = std::complex<T>(factor * phase_of(setup.sign, s, from));
  });
}

// Lengths of the grid; refuses those whose inner fine grid exceeds the memory.
std::array<std::size_t, 3> lengths_of(const Device& device, const std::array<Type3Axis, 3>& axes, std::size_t first,
                                      std::size_t complex_bytes) {
  auto bytes = static_cast<double>(complex_bytes);
  for (std::size_t i = first; i < 3; ++i) bytes *= kType3Upsampling * axes[i].cells;
  const auto memory = static_cast<double>(device.limits().memory);
  if (!(bytes < 0x1p60) || (memory > 0 && bytes > memory)) {
    throw Error(ErrorKind::out_of_memory,
                fmt::format("{}: extents of points x frequencies need a fine grid of {}, {} has {}: split the "
                            "points or the frequencies into groups of smaller extent",
                            kType3, base::human_bytes(bytes), device.is_host() ? "the machine" : device.id(),
                            base::human_bytes(memory)));
  }
  std::array<std::size_t, 3> cells{1, 1, 1};
  for (std::size_t i = first; i < 3; ++i) {
    cells[i] = fft::prime::smooth_length(static_cast<std::size_t>(std::ceil(axes[i].cells)));
  }
  return cells;
}

}  // namespace

template <class T>
Type3Plan<T>::Type3Plan(const Device& device, const Type3Problem& problem) : device_(device), problem_(problem) {
  if (problem.axes < 1 || problem.axes > 3) refuse_type3(fmt::format("axes must be 1 to 3, got {}", problem.axes));
  if (problem.sign != 1 && problem.sign != -1) refuse_type3(fmt::format("sign must be +1 or -1, got {}", problem.sign));
  if (problem.batch == 0) refuse_type3("batch must be at least 1, got 0");
  check_epsilon(problem.epsilon, kShareOfError * least_epsilon<T>(problem.axes), sizeof(T) == 8);
  if (sizeof(T) == 8 && !device.limits().float64) {
    throw Error(ErrorKind::unavailable, fmt::format("{} needs double precision, {} has none", kType3, device.id()));
  }
}

template <class T>
void Type3Plan<T>::set_points(const Spans<T>& given_points, const Spans<T>& given_frequencies) {
  const std::size_t axes = problem_.axes, first = 3 - axes;
  check_spans(given_points, axes, "points");
  check_spans(given_frequencies, axes, "frequencies");
  const double epsilon = problem_.epsilon / kShareOfError;
  Type3Setup<T> setup{
      .axes = axes,
      .batch = problem_.batch,
      .threads = std::min(problem_.threads == 0 ? base::hardware_threads() : problem_.threads, base::kMostThreads),
      .sign = problem_.sign,
      .epsilon = epsilon,
      .upsampling = kType3Upsampling,
      .width = kernel_width(epsilon, kType3Upsampling, axes, sizeof(T) == 8 ? 0x1p-53 : 0x1p-24)};
  std::array<Type3Axis, 3> designs{};
  for (std::size_t i = 0; i < axes; ++i) {
    designs[first + i] = design_axis(extent_of(given_points[i], "points", i),
                                     extent_of(given_frequencies[i], "frequencies", i), setup.width);
  }
  setup.cells = lengths_of(device_, designs, first, sizeof(Complex));
  set_angles(setup, designs, given_points, given_frequencies);
  set_factors(setup, designs, given_points, given_frequencies);
  state_ = std::make_shared<const Type3State<T>>(
      Type3State<T>{setup.cells, setup.before.size(), setup.after.size(),
                    device_.is_host() ? type3_on_host(setup) : type3_on_device(device_, setup)});
}

template <class T>
std::size_t Type3Plan<T>::points() const {
  return state_ ? state_->points : 0;
}
template <class T>
std::size_t Type3Plan<T>::frequencies() const {
  return state_ ? state_->frequencies : 0;
}

namespace {

template <class T>
void check_type3(const Type3State<T>* state, std::size_t batch, std::span<const std::complex<T>> in, std::size_t from,
                 std::span<std::complex<T>> out, std::size_t to) {
  if (state == nullptr) refuse_type3("run() needs points: call set_points() first");
  const std::size_t each = sizeof(std::complex<T>) * batch;
  if (from != 0) planner::check_length(kType3, "input", in.size_bytes(), each * from);
  if (to != 0) planner::check_length(kType3, "output", out.size_bytes(), each * to);
  if (from != 0 && to != 0) planner::check_apart(kType3, in.data(), each * from, out.data(), each * to, false);
}

template <class T>
void enqueue_type3(const Type3State<T>* state, const Device& device, std::size_t batch, bool adjoint, Queue& queue,
                   const Buffer& in, const Buffer& out) {
  if (state == nullptr) refuse_type3("enqueue() needs points: call set_points() first");
  const std::size_t each = sizeof(std::complex<T>) * batch;
  planner::check_queue(kType3, queue, device);
  planner::check_buffer(kType3, "input", in, device, each * (adjoint ? state->frequencies : state->points),
                        sizeof(std::complex<T>));
  planner::check_buffer(kType3, "output", out, device, each * (adjoint ? state->points : state->frequencies),
                        sizeof(std::complex<T>));
  planner::check_apart(kType3, in, out, false);
  state->steps->enqueue(queue, adjoint, in, out);
}

}  // namespace

template <class T>
void Type3Plan<T>::run(std::span<const Complex> strengths, std::span<Complex> values) const {
  check_type3<T>(state_.get(), problem_.batch, strengths, points(), values, frequencies());
  state_->steps->run(false, strengths.data(), values.data());
}

template <class T>
void Type3Plan<T>::adjoint(std::span<const Complex> values, std::span<Complex> strengths) const {
  check_type3<T>(state_.get(), problem_.batch, values, frequencies(), strengths, points());
  state_->steps->run(true, values.data(), strengths.data());
}

template <class T>
void Type3Plan<T>::enqueue(Queue& queue, const Buffer& strengths, const Buffer& values) const {
  enqueue_type3<T>(state_.get(), device_, problem_.batch, false, queue, strengths, values);
}

template <class T>
void Type3Plan<T>::enqueue_adjoint(Queue& queue, const Buffer& values, const Buffer& strengths) const {
  enqueue_type3<T>(state_.get(), device_, problem_.batch, true, queue, values, strengths);
}

template <class T>
std::string Type3Plan<T>::explain() const {
  if (!state_) return "nufft type 3: no points yet\n";
  std::string text =
      fmt::format("nufft type 3 on {}: {} points to {} frequencies over a grid of {}x{}x{} cells\n", device_.id(),
                  points(), frequencies(), state_->cells[0], state_->cells[1], state_->cells[2]);
  for (const planner::Decision& decision : state_->steps->decisions()) text += decision.explain() + "\n";
  return text;
}

template class Type3Plan<float>;
template class Type3Plan<double>;

}  // namespace ridge::nufft
