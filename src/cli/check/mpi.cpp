// Random FFT problems over MPI processes, compared with a high-precision reference.
#include "cli/check/systematic.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "check/fft/wide_dft.hpp"

namespace ridge::cli {
namespace {

using check::Draw;
using check::Outcome;
using check::Random;

// The processes of the current run. Static, because a workload is a plain function without state.
std::optional<mpi::Communicator> everyone;

template <class T>
class DistributedCheck {
 public:
  using Real = check::Wide<T>;
  using Value = check::WidePoint<Real>;
  using Complex = std::complex<T>;

  DistributedCheck(Draw& draw, const mpi::fft::Problem& problem, const planner::Options& options, std::uint64_t data)
      : draw_(draw), problem_(problem), plan_(*everyone, problem, options), data_(data) {
    draw_.problem += ", " + plan_.variant();
    shape_ = problem.shape;
    spectrum_ = shape_;
    if (real()) spectrum_.back() = shape_.back() / 2 + 1;
  }

  std::string check() {
    std::vector<Value> samples = draw_samples(), values = samples;
    transform(values, -1);
    const std::vector<Value> spectrum = stored(values);
    std::string wrong;
    if (real()) {
      wrong = run<T, Complex>(samples, shape_, plan_.input(), spectrum, spectrum_, plan_.output(), true);
    } else {
      wrong = run<Complex, Complex>(samples, shape_, plan_.input(), spectrum, spectrum_, plan_.output(), true);
    }
    if (!wrong.empty()) return "forward: " + wrong;
    // The inverse's reference starts from the spectrum rounded to the stored precision.
    std::vector<Value> given = spectrum;
    for (Value& value : given) value = {rounded(value.re), rounded(value.im)};
    std::vector<Value> back = whole(given);
    transform(back, 1);
    if (real()) {
      wrong = run<Complex, T>(given, spectrum_, plan_.output(), back, shape_, plan_.input(), false);
    } else {
      wrong = run<Complex, Complex>(given, spectrum_, plan_.output(), back, shape_, plan_.input(), false);
    }
    return wrong.empty() ? "" : "inverse: " + wrong;
  }

 private:
  bool real() const { return problem_.kind == fft::Kind::real; }
  static Real rounded(const Real& value) {
    return Real(static_cast<double>(static_cast<T>(static_cast<double>(value))));
  }
  static std::size_t count(const mpi::Shape& shape) {
    std::size_t all = 1;
    for (const std::size_t n : shape) all *= n;
    return all;
  }

  std::vector<Value> draw_samples() const {
    Random random(data_);
    std::vector<Value> values(count(shape_) * problem_.batch);
    for (Value& value : values) {
      const double re = random.uniform() - 0.5, im = real() ? 0 : random.uniform() - 0.5;
      value = {rounded(Real(re)), rounded(Real(im))};
    }
    return values;
  }

  void transform(std::vector<Value>& values, int sign) const {
    std::size_t inner = 1;
    for (std::size_t axis = shape_.size(); axis-- > 0; inner *= shape_[axis]) {
      const std::size_t n = shape_[axis];
      if (n == 1) continue;
      const auto roots = check::wide_roots<Real>(n, sign);
      std::vector<Value> line(n), result(n);
      for (std::size_t start = 0; start < values.size(); ++start) {
        if (start / inner % n != 0) continue;
        for (std::size_t i = 0; i < n; ++i) line[i] = values[start + i * inner];
        check::wide_dft(line.data(), 1, n, roots, 1, result.data());
        for (std::size_t i = 0; i < n; ++i) values[start + i * inner] = result[i];
      }
    }
  }

  // Conversions between the whole spectrum and the stored part: n/2+1 values along the last axis of a real transform.
  std::vector<Value> stored(const std::vector<Value>& values) const {
    const std::size_t n = shape_.back(), half = spectrum_.back();
    std::vector<Value> some(values.size() / n * half);
    for (std::size_t i = 0; i < some.size(); ++i) some[i] = values[i / half * n + i % half];
    return some;
  }
  std::vector<Value> whole(const std::vector<Value>& some) const {
    if (!real()) return some;
    const std::size_t n = shape_.back(), half = spectrum_.back(), each = count(shape_);
    std::vector<Value> values(some.size() / half * n);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t k = i % n;
      if (k < half) {
        values[i] = some[i / n * half + k];
        if ((k == 0 || 2 * k == n) && shape_.size() == 1) values[i].im = Real(0.0);
        continue;
      }
      std::size_t partner = n - k, place = half, rest = i % each / n;
      for (std::size_t axis = shape_.size() - 1; axis-- > 0;) {
        const std::size_t m = shape_[axis];
        partner += (m - rest % m) % m * place;
        place *= m;
        rest /= m;
      }
      const Value& other = some[i / each * place + partner];
      values[i] = {other.re, -other.im};
    }
    return values;
  }

  // Calls visit(index in the whole grid, index in this process's memory) for the points of a box.
  template <class Visit>
  void each_point(const mpi::Shape& shape, const mpi::Box& box, const Visit& visit) const {
    const auto strides = box.strides();
    const std::size_t ny = shape.size() > 1 ? shape[1] : 1, nx = shape.size() > 2 ? shape[2] : 1;
    for (std::size_t b = 0; b < problem_.batch; ++b) {
      for (std::size_t i = box.begin[0]; i < box.end[0]; ++i) {
        for (std::size_t j = box.begin[1]; j < box.end[1]; ++j) {
          for (std::size_t k = box.begin[2]; k < box.end[2]; ++k) {
            visit(((b * shape[0] + i) * ny + j) * nx + k, b * box.size() + (i - box.begin[0]) * strides[0] +
                                                              (j - box.begin[1]) * strides[1] +
                                                              (k - box.begin[2]) * strides[2]);
          }
        }
      }
    }
  }

  static void put(T& to, const Value& value) { to = static_cast<T>(static_cast<double>(value.re)); }
  static void put(Complex& to, const Value& value) {
    to = {static_cast<T>(static_cast<double>(value.re)), static_cast<T>(static_cast<double>(value.im))};
  }

  template <class In, class Out>
  std::string run(const std::vector<Value>& given, const mpi::Shape& in_shape, const mpi::Box& in_box,
                  const std::vector<Value>& expected, const mpi::Shape& out_shape, const mpi::Box& out_box,
                  bool forward) const {
    std::vector<In> in(in_box.size() * problem_.batch);
    std::vector<Out> out(out_box.size() * problem_.batch, Out(std::numeric_limits<T>::quiet_NaN()));
    each_point(in_shape, in_box, [&](std::size_t from, std::size_t to) { put(in[to], given[from]); });
    const std::vector<In> before = in;
    if (forward) {
      if constexpr (std::is_same_v<Out, Complex>) plan_.forward(std::span<const In>(in), std::span<Out>(out));
    } else {
      if constexpr (std::is_same_v<In, Complex>) plan_.inverse(std::span<const In>(in), std::span<Out>(out));
    }
    draw_.answered(std::as_writable_bytes(std::span(out)));
    const double scale = forward ? problem_.scale_forward : problem_.scale_inverse;
    double difference = 0, norm = 0;
    each_point(out_shape, out_box, [&](std::size_t from, std::size_t to) {
      const std::complex<double> right(static_cast<double>(expected[from].re) * scale,
                                       std::is_same_v<Out, T> ? 0 : static_cast<double>(expected[from].im) * scale);
      difference += std::norm(std::complex<double>(out[to]) - right);
      norm += std::norm(right);
    });
    // Every process gets the sums over all, so that they agree on the outcome.
    difference = everyone->sum(difference);
    norm = everyone->sum(norm);
    if (everyone->sum(in == before ? 0 : 1) > 0) return "the input was changed";
    const double error = norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
    if (!(error <= gate())) return fmt::format("relative error {:.2e}, the gate is {:.2e}", error, gate());
    return {};
  }

  // The specified gate; doubled for lengths computed by convolution (prime factors above 13), and larger below 16
  // points, where the mean over few values varies more.
  double gate() const {
    bool convolution = false;
    for (std::size_t rest : shape_) {
      for (; rest > 1; rest /= check::smallest_prime_factor(rest))
        convolution |= check::smallest_prime_factor(rest) > 13;
    }
    const auto points = static_cast<double>(count(shape_));
    return std::numeric_limits<T>::epsilon() * (convolution ? 1.2 : 0.6) * std::sqrt(std::max(1.0, std::log2(points))) *
           (points < 16 ? 2.5 : 1);
  }

  Draw& draw_;
  mpi::fft::Problem problem_;
  mpi::fft::Plan<T> plan_;
  mpi::Shape shape_, spectrum_;
  std::uint64_t data_;
};

// Draws boxes of any decomposition and memory order; empty: the plan's own.
std::optional<mpi::Box> draw_box(Random& random, const mpi::Shape& shape, std::size_t kind) {
  const std::size_t count = everyone->count(), rank = everyone->rank();
  const std::size_t axis = random.below(shape.size());
  std::array<int, 3> order{0, 1, 2};
  for (std::size_t i = 3; i-- > 1;) std::swap(order[i], order[random.below(i + 1)]);
  if (kind == 0) return std::nullopt;
  mpi::Box box = (kind == 1 ? mpi::bricks(shape, count) : mpi::slabs(shape, count, axis))[rank];
  if (kind == 2) box.order = order;
  return box;
}

template <class T>
Outcome check_mpi_typed(Draw& draw) {
  Random& random = draw.random;
  mpi::fft::Problem problem;
  problem.kind = random.chance(0.4) ? fft::Kind::real : fft::Kind::complex;
  const std::size_t axes = random.between(1, 3), boxes = random.chance(0.5) ? 0 : random.between(1, 2);
  if (random.chance(0.3)) problem.scale_forward = 0.5;
  if (random.chance(0.3)) problem.scale_inverse = 0.125;
  problem.threads = random.below(3);
  const std::uint64_t data = random.bits();
  Random details(random.bits());
  planner::Options options{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};
  if (axes == 3 && random.chance(0.4)) options.variant = "pencils";
  std::size_t left = std::min<std::size_t>(draw.points, sizeof(T) == 4 ? 20000 : 4000);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const double share = 1.0 / static_cast<double>(axes - axis);
    problem.shape.push_back(random.length(static_cast<std::size_t>(std::pow(static_cast<double>(left), share))));
    left = std::max<std::size_t>(1, left / problem.shape.back());
  }
  problem.batch = random.between(1, 3);
  mpi::Shape spectrum = problem.shape;
  if (problem.kind == fft::Kind::real) spectrum.back() = spectrum.back() / 2 + 1;
  problem.input = draw_box(details, problem.shape, boxes);
  problem.output = draw_box(details, spectrum, boxes);
  draw.problem = fmt::format("{} {} {} batch {} over {} processes, {}", sizeof(T) == 4 ? "f32" : "f64",
                             problem.kind == fft::Kind::real ? "real" : "complex", fmt::join(problem.shape, "x"),
                             problem.batch, everyone->count(),
                             boxes == 0   ? "its own boxes"
                             : boxes == 1 ? "bricks"
                                          : "slabs in another order");
  return {.wrong = DistributedCheck<T>(draw, problem, options, data).check()};
}

Outcome check_mpi(Draw& draw) {
  return draw.random.chance(0.4) ? check_mpi_typed<double>(draw) : check_mpi_typed<float>(draw);
}

}  // namespace

check::Workload mpi_workload(const mpi::Communicator& all) {
  everyone = all;
  return {"mpi", check_mpi};
}

}  // namespace ridge::cli
