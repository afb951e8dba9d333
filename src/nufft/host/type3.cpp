// Type 3 as spreading followed by a type 2. With the points' centre at 0 and their scale chosen so that the largest
// frequency is pi / upsampling per cell, the spread grid is a set of modes that a type 2 evaluates at the frequencies;
// the kernel's transform is divided out per frequency:
//   sum_l b[l] exp(i l t) = F(t) * sum_j c[j] exp(i g[j] t),   b[l] = sum_j c[j] phi(l - g[j]),   g t = x s.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/threads.hpp"
#include "fft/host/prime/numbers.hpp"
#include "nufft/host/tiles.hpp"
#include "nufft/host/tiling.hpp"
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
    product *= std::polar(1.0, sign * phase) * std::complex<double>(1, sign * error);
  }
  return product;
}

}  // namespace

// Fixed points and frequencies. Arrays of axes are slowest first, unused axes leading.
template <class T>
struct Type3State {
  using Complex = std::complex<T>;

  std::size_t axes, threads, batch;
  int sign;
  std::array<Type3Axis, 3> axis{};
  std::array<std::size_t, 3> cells{1, 1, 1};
  std::unique_ptr<const TileGrid<T>> grid{};  // its cells are the modes of `inner`
  std::unique_ptr<const Tiles<T>> inner{};
  std::shared_ptr<const SortedPoints<T>> points{}, frequencies{};
  std::vector<Complex> before{}, after{};  // factors of the strengths and of the values
  mutable std::mutex busy{};
  mutable std::vector<Complex> scaled_points{}, scaled_frequencies{};

  // Calls use(first, end) for parts of `count` elements.
  template <class Use>
  void in_parts(std::size_t count, const Use& use) const {
    constexpr std::size_t kPart = 4096;
    for_units(threads, (count + kPart - 1) / kPart,
              [&](std::size_t unit, std::size_t) { use(unit * kPart, std::min(count, (unit + 1) * kPart)); });
  }
  static Complex times(const Complex& a, const Complex& b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
  void multiply(const Complex* in, const std::vector<Complex>& factors, bool conjugate, Complex* out) const {
    in_parts(factors.size(), [&](std::size_t first, std::size_t end) {
      for (std::size_t j = first; j < end; ++j) {
        out[j] = times(in[j], conjugate ? std::conj(factors[j]) : factors[j]);
      }
    });
  }

  void run(const Complex* strengths, Complex* values) const {
    std::lock_guard lock(busy);
    multiply(strengths, before, false, scaled_points.data());
    grid->spread(*points, scaled_points.data());
    inner->to_points(*frequencies, sign, grid->data(), scaled_frequencies.data());
    multiply(scaled_frequencies.data(), after, false, values);
  }
  void adjoint(const Complex* values, Complex* strengths) const {
    std::lock_guard lock(busy);
    multiply(values, after, true, scaled_frequencies.data());
    inner->to_modes(*frequencies, -sign, scaled_frequencies.data(), grid->data());
    grid->interpolate(*points, scaled_points.data());
    multiply(scaled_points.data(), before, true, strengths);
  }
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

template <class T>
std::shared_ptr<const SortedPoints<T>> sort_angles(const TileGrid<T>& grid, const Type3State<T>& state,
                                                   const Spans<T>& spans, bool points) {
  std::vector<std::vector<double>> angles;
  Coordinates<double> all{.axis = {}, .count = spans[0].size()};
  for (std::size_t i = 0; i < state.axes; ++i) {
    const Type3Axis& axis = state.axis[3 - state.axes + i];
    const double turn = 2 * std::numbers::pi / static_cast<double>(state.cells[3 - state.axes + i]);
    angles.push_back(points ? angles_of(spans[i], axis.points.centre, axis.scale * turn)
                            : angles_of(spans[i], axis.frequencies.centre, 1 / axis.scale));
    all.axis[i] = angles.back().data();
  }
  return grid.sort(all, true);
}

// Factors that move both centres to 0 and divide by the kernel's transform.
template <class T>
void set_factors(Type3State<T>& state, const Kernel& kernel, const Spans<T>& points, const Spans<T>& frequencies) {
  const std::size_t first = 3 - state.axes;
  std::array<double, 3> from{}, to{};
  for (std::size_t i = first; i < 3; ++i) {
    from[i] = state.axis[i].points.centre;
    to[i] = state.axis[i].frequencies.centre;
  }
  state.before.resize(points[0].size());
  state.after.resize(frequencies[0].size());
  state.in_parts(state.before.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      std::array<double, 3> x{};
      for (std::size_t i = first; i < 3; ++i) x[i] = double{points[i - first][j]} - from[i];
      state.before[j] = std::complex<T>(phase_of(state.sign, x, to));
    }
  });
  state.in_parts(state.after.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      std::array<double, 3> s{};
      double factor = 1;
      for (std::size_t i = first; i < 3; ++i) {
        s[i] = double{frequencies[i - first][k]};
        factor *= kernel.factor((s[i] - to[i]) / state.axis[i].scale);
      }
      state.after[k] = std::complex<T>(factor * phase_of(state.sign, s, from));
    }
  });
}

// Lengths of the grid; refuses those whose inner fine grid exceeds the memory.
template <class T>
void set_cells(Type3State<T>& state) {
  double bytes = sizeof(std::complex<T>);
  for (std::size_t i = 3 - state.axes; i < 3; ++i) bytes *= kType3Upsampling * state.axis[i].cells;
  const auto memory = static_cast<double>(host().limits().memory);
  if (!(bytes < 0x1p60) || (memory > 0 && bytes > memory)) {
    throw Error(ErrorKind::out_of_memory,
                fmt::format("{}: extents of points x frequencies need a fine grid of {}, the machine has {}: split the "
                            "points or the frequencies into groups of smaller extent",
                            kType3, base::human_bytes(bytes), base::human_bytes(memory)));
  }
  for (std::size_t i = 3 - state.axes; i < 3; ++i) {
    state.cells[i] = fft::prime::smooth_length(static_cast<std::size_t>(std::ceil(state.axis[i].cells)));
  }
}

}  // namespace

template <class T>
Type3Plan<T>::Type3Plan(const Type3Problem& problem) : problem_(problem) {
  if (problem.axes < 1 || problem.axes > 3) refuse_type3(fmt::format("axes must be 1 to 3, got {}", problem.axes));
  if (problem.sign != 1 && problem.sign != -1) refuse_type3(fmt::format("sign must be +1 or -1, got {}", problem.sign));
  if (problem.batch == 0) refuse_type3("batch must be at least 1, got 0");
  check_epsilon(problem.epsilon, kShareOfError * least_epsilon<T>(problem.axes), sizeof(T) == 8);
}

template <class T>
void Type3Plan<T>::set_points(const Spans<T>& given_points, const Spans<T>& given_frequencies) {
  const std::size_t axes = problem_.axes, first = 3 - axes;
  check_spans(given_points, axes, "points");
  check_spans(given_frequencies, axes, "frequencies");
  const double epsilon = problem_.epsilon / kShareOfError;
  const std::size_t width = kernel_width(epsilon, kType3Upsampling, axes, sizeof(T) == 8 ? 0x1p-53 : 0x1p-24);
  auto state = std::make_shared<Type3State<T>>();
  state->axes = axes;
  state->threads = problem_.threads == 0 ? base::hardware_threads() : problem_.threads;
  state->batch = problem_.batch;
  state->sign = problem_.sign;
  for (std::size_t i = 0; i < axes; ++i) {
    state->axis[first + i] =
        design_axis(extent_of(given_points[i], "points", i), extent_of(given_frequencies[i], "frequencies", i), width);
  }
  set_cells(*state);
  const Kernel kernel(width, kType3Upsampling);
  state->grid = std::make_unique<const TileGrid<T>>(state->cells, axes, kernel, state->threads);
  Layout layout{.type = Type::to_points,
                .axes = axes,
                .modes = state->cells,
                .points = std::max<std::size_t>(1, given_frequencies[0].size()),
                .epsilon = epsilon,
                .order = Order::fft,
                .threads = state->threads,
                .float64 = sizeof(T) == 8};
  state->inner = std::make_unique<const Tiles<T>>(layout, design_tiles(layout, kType3Upsampling),
                                                  planner::Options{.effort = Effort::quick});
  state->points = sort_angles(*state->grid, *state, given_points, true);
  state->frequencies = sort_angles(state->inner->grid(), *state, given_frequencies, false);
  set_factors(*state, kernel, given_points, given_frequencies);
  state->scaled_points.resize(state->before.size());
  state->scaled_frequencies.resize(state->after.size());
  state_ = std::move(state);
}

template <class T>
std::size_t Type3Plan<T>::points() const {
  return state_ ? state_->before.size() : 0;
}
template <class T>
std::size_t Type3Plan<T>::frequencies() const {
  return state_ ? state_->after.size() : 0;
}

namespace {

template <class T>
void check_type3(const Type3State<T>* state, std::span<const std::complex<T>> in, std::size_t from,
                 std::span<std::complex<T>> out, std::size_t to) {
  if (state == nullptr) refuse_type3("run() needs points: call set_points() first");
  const std::size_t each = sizeof(std::complex<T>) * state->batch;
  if (from != 0) planner::check_length(kType3, "input", in.size_bytes(), each * from);
  if (to != 0) planner::check_length(kType3, "output", out.size_bytes(), each * to);
  if (from != 0 && to != 0) planner::check_apart(kType3, in.data(), each * from, out.data(), each * to, false);
}

}  // namespace

template <class T>
void Type3Plan<T>::run(std::span<const Complex> strengths, std::span<Complex> values) const {
  check_type3<T>(state_.get(), strengths, points(), values, frequencies());
  for (std::size_t set = 0; set < problem_.batch; ++set) {
    state_->run(strengths.data() + set * points(), values.data() + set * frequencies());
  }
}

template <class T>
void Type3Plan<T>::adjoint(std::span<const Complex> values, std::span<Complex> strengths) const {
  check_type3<T>(state_.get(), values, frequencies(), strengths, points());
  for (std::size_t set = 0; set < problem_.batch; ++set) {
    state_->adjoint(values.data() + set * frequencies(), strengths.data() + set * points());
  }
}

template <class T>
std::string Type3Plan<T>::explain() const {
  if (!state_) return "nufft type 3: no points yet\n";
  std::string text = fmt::format("nufft type 3: {} points to {} frequencies over a grid of {}x{}x{} cells\n", points(),
                                 frequencies(), state_->cells[0], state_->cells[1], state_->cells[2]);
  for (const planner::Decision& decision : state_->inner->decisions()) text += decision.explain() + "\n";
  return text;
}

template class Type3Plan<float>;
template class Type3Plan<double>;

}  // namespace ridge::nufft
