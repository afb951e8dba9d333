// Checks nonuniform transforms by identities: linearity; single points and modes; shifted points; the energy at equally
// spaced points; the adjoint. Shifts are exact, because coordinates are multiples of 2^-18.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/nufft.hpp>

#include "check/check.hpp"
#include "check/laws.hpp"

namespace ridge::check {
namespace {

using Wide = std::complex<long double>;

template <class T>
using Values1 = std::vector<std::complex<T>>;

constexpr double kUnit = 1.0 / (1 << 18);  // of coordinates: few enough bits for sums in float
constexpr double kOneValue = 20;           // error of a single value, in units of epsilon times the root mean square

template <class T>
Values1<T> some_values(std::size_t count, Random& random) {
  Values1<T> values(count);
  fill_values(std::as_writable_bytes(std::span(values)), sizeof(T) == 4 ? Values::float32 : Values::float64,
              random.bits());
  return values;
}

template <class T>
double norm_of(const Values1<T>& values) {
  long double square = 0;
  for (const auto& value : values) square += std::norm(Wide(value));
  return static_cast<double>(std::sqrt(square));
}

// Describes the first value, or the norm, that is off by more than the relative error `epsilon` of values of this root
// mean square; empty if none is.
template <class T, class Right>
std::string compare_values(const char* law, const Values1<T>& got, double rms, double epsilon, const Right& right) {
  long double square = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto off = static_cast<double>(std::abs(Wide(got[i]) - right(i)));
    square += static_cast<long double>(off) * static_cast<long double>(off);
    if (!(off <= kOneValue * epsilon * rms))
      return fmt::format("{}: value {}: {:.2e} off, allowed {:.1e}", law, i, off, kOneValue * epsilon * rms);
  }
  const double allowed = 3 * epsilon * rms * std::sqrt(static_cast<double>(got.size()));
  const auto error = static_cast<double>(std::sqrt(square));
  if (error <= allowed) return {};
  return fmt::format("{}: {:.2e} off in the L2 norm, allowed {:.1e}", law, error, allowed);
}

// |<A x, y> - <x, A* y>| against the errors of both.
template <class T>
std::string compare_inner(const Values1<T>& x, const Values1<T>& Ax, const Values1<T>& y, const Values1<T>& By,
                          double epsilon) {
  Wide one = 0, other = 0;
  for (std::size_t i = 0; i < Ax.size(); ++i) one += Wide(Ax[i]) * std::conj(Wide(y[i]));
  for (std::size_t i = 0; i < x.size(); ++i) other += Wide(x[i]) * std::conj(Wide(By[i]));
  const double allowed = epsilon * (norm_of<T>(Ax) * norm_of<T>(y) + norm_of<T>(x) * norm_of<T>(By));
  const auto off = static_cast<double>(std::abs(one - other));
  if (off <= allowed) return {};
  return fmt::format("adjoint: <A x, y> and <x, A* y> differ by {:.2e}, allowed {:.1e}", off, allowed);
}

// The transform of x / 2 - y / 4 from those of x and y.
template <class T, class Run>
std::string linearity_of(const Run& run, const Values1<T>& x, const Values1<T>& X, const Values1<T>& y, double rms,
                         double epsilon) {
  const Values1<T> Y = run(y);
  Values1<T> sum(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) sum[i] = T(0.5) * x[i] - T(0.25) * y[i];
  return compare_values<T>("linearity", run(sum), rms, epsilon,
                           [&](std::size_t i) { return 0.5L * Wide(X[i]) - 0.25L * Wide(Y[i]); });
}

template <class T, class Plan>
std::string adjoint_of(const Plan& plan, const Draw& draw, const Values1<T>& x, const Values1<T>& X,
                       const Values1<T>& y, double epsilon) {
  const T none = std::numeric_limits<T>::quiet_NaN();
  Values1<T> back(x.size(), {none, none});
  plan.adjoint(y, back);
  draw.answered(std::as_writable_bytes(std::span(back)));
  return compare_inner<T>(x, X, y, back, 2 * epsilon);
}

template <class T>
double some_epsilon(Random& random) {
  return std::max(1.6 * nufft::least_epsilon<T>(3), std::pow(10.0, -2 - 12 * random.uniform()));
}

// Points for which spreading takes about a second.
std::size_t most_points(const Draw& draw, double epsilon, std::size_t axes) {
  const double cells = std::pow(2 - std::log10(epsilon), static_cast<double>(axes));
  return std::min(draw.points, static_cast<std::size_t>(3e8 / cells));
}

template <class T>
class NufftLaws {
 public:
  explicit NufftLaws(Draw& draw) : draw_(draw), random_(draw.random) {
    problem_.type = random_.chance(0.5) ? nufft::Type::to_modes : nufft::Type::to_points;
    problem_.sign = random_.chance(0.5) ? 1 : -1;
    problem_.order = random_.chance(0.5) ? nufft::Order::centered : nufft::Order::fft;
    problem_.batch = random_.chance(0.2) ? random_.between(2, 3) : 1;
    problem_.threads = random_.below(4);
    problem_.epsilon = some_epsilon<T>(random_);
    const std::size_t axes = random_.between(1, 3);
    const std::size_t most = std::max<std::size_t>(8, most_points(draw, problem_.epsilon, axes) / problem_.batch);
    const auto side = static_cast<std::size_t>(std::pow(static_cast<double>(most), 1.0 / static_cast<double>(axes)));
    for (std::size_t i = 0; i < axes; ++i) {
      problem_.modes.push_back(random_.length(std::max<std::size_t>(2, side)));
      modes_ *= problem_.modes.back();
    }
    points_ = random_.between(most / 2 + 1, most);
    problem_.points = points_;
    draw.problem =
        fmt::format("{} type {} modes {} points {} epsilon {:.1e} sign {:+} batch {}{}", sizeof(T) == 4 ? "f32" : "f64",
                    static_cast<int>(problem_.type), fmt::join(problem_.modes, "x"), points_, problem_.epsilon,
                    problem_.sign, problem_.batch, problem_.order == nufft::Order::fft ? " fft order" : "");
  }

  std::string check() {
    plan_ = std::make_unique<nufft::Plan<T>>(
        draw_.device, problem_, some_variant(nufft::candidates<T>(draw_.device, problem_), random_.bits()));
    draw_.problem += " by " + chosen_by(plan_->decisions());
    for (std::vector<T>& axis : at_) {
      for (std::size_t j = 0; j < points_; ++j) axis.push_back(coordinate());
    }
    set_points(at_);
    const Values1<T> x = some_values<T>(inputs(), random_), X = run(x);
    std::string wrong = linearity(x, X);
    if (wrong.empty()) wrong = adjoint(x, X);
    if (wrong.empty()) wrong = impulse();
    if (wrong.empty()) wrong = shift(x, X);
    if (wrong.empty()) wrong = energy();
    return wrong;
  }

 private:
  bool to_modes() const { return problem_.type == nufft::Type::to_modes; }
  std::size_t inputs() const { return problem_.batch * (to_modes() ? points_ : modes_); }
  T coordinate() { return static_cast<T>(std::floor(std::numbers::pi / kUnit * (2 * random_.uniform() - 1)) * kUnit); }
  void set_points(const std::array<std::vector<T>, 3>& at) {
    const std::size_t axes = problem_.modes.size();
    plan_->set_points(at[0], axes > 1 ? std::span<const T>(at[1]) : std::span<const T>(),
                      axes > 2 ? std::span<const T>(at[2]) : std::span<const T>());
  }
  Values1<T> run(const Values1<T>& in) const {
    const T none = std::numeric_limits<T>::quiet_NaN();
    Values1<T> out(in.size() / (to_modes() ? points_ : modes_) * (to_modes() ? modes_ : points_), {none, none});
    plan_->run(in, out);
    draw_.answered(std::as_writable_bytes(std::span(out)));
    return out;
  }

  // The promised error plus, for type 1, the rounding errors of its sums over points.
  double epsilon() const {
    const double width = std::pow(4.0, static_cast<double>(problem_.modes.size()));
    const double terms = std::min(1.0, width / static_cast<double>(modes_)) * static_cast<double>(points_);
    return problem_.epsilon + double{std::numeric_limits<T>::epsilon()} / 2 * std::sqrt(to_modes() ? terms : 1);
  }
  // Expected root mean square of the outputs: phases are random, so the powers of the inputs add.
  double rms_of(const Values1<T>& in) const { return norm_of<T>(in) / std::sqrt(static_cast<double>(problem_.batch)); }

  // exp(sign i k . x) for the mode at this index of one set.
  Wide phase(std::size_t mode, const std::array<T, 3>& x) const {
    long double angle = 0;
    for (std::size_t axis = problem_.modes.size(); axis-- > 0;) {
      const auto n = static_cast<long>(problem_.modes[axis]);
      const auto i = static_cast<long>(mode % problem_.modes[axis]);
      const long k = problem_.order == nufft::Order::centered ? i - n / 2 : i < n - n / 2 ? i : i - n;
      angle += static_cast<long double>(k) * static_cast<long double>(x[axis]);
      mode /= problem_.modes[axis];
    }
    return {std::cos(angle), problem_.sign * std::sin(angle)};
  }
  std::array<T, 3> point(std::size_t j) const { return {at_[0][j], at_[1][j], at_[2][j]}; }

  std::string linearity(const Values1<T>& x, const Values1<T>& X) {
    const Values1<T> y = some_values<T>(x.size(), random_);
    return linearity_of<T>([this](const Values1<T>& in) { return run(in); }, x, X, y, rms_of(x), epsilon());
  }

  std::string adjoint(const Values1<T>& x, const Values1<T>& X) {
    return adjoint_of<T>(*plan_, draw_, x, X, some_values<T>(X.size(), random_), epsilon());
  }

  // A single input of 1 (a point's strength or a mode) per set: every output is a phase factor.
  std::string impulse() {
    const std::size_t count = to_modes() ? points_ : modes_, at = random_.below(count);
    Values1<T> in(inputs());
    for (std::size_t set = 0; set < problem_.batch; ++set) in[set * count + at] = 1;
    return compare_values<T>("impulse", run(in), 1, epsilon(), [&](std::size_t i) {
      return to_modes() ? phase(i % modes_, point(at)) : phase(at, point(i % points_));
    });
  }

  // Moves all points by d. Type 1: modes are multiplied by exp(sign i k . d). Type 2: with modes divided by it, the
  // values stay the same.
  std::string shift(const Values1<T>& x, const Values1<T>& X) {
    std::array<T, 3> by{};
    for (T& d : by) d = coordinate();
    std::array<std::vector<T>, 3> moved = at_;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (T& place : moved[axis]) place += by[axis];
    }
    set_points(moved);
    Values1<T> in = x;
    if (!to_modes()) {
      for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = std::complex<T>(Wide(in[i]) * std::conj(phase(i % modes_, by)));
    }
    return compare_values<T>("shift", run(in), rms_of(x), 2 * epsilon(), [&](std::size_t i) {
      return to_modes() ? Wide(X[i]) * phase(i % modes_, by) : Wide(X[i]);
    });
  }

  // Points on a grid with as many points as modes: the norm grows by the square root of their number.
  std::string energy() {
    const std::size_t before = points_;
    points_ = modes_;
    std::array<std::vector<T>, 3> grid;
    for (std::size_t axis = 0; axis < 3; ++axis) grid[axis].resize(modes_);
    for (std::size_t j = 0; j < modes_; ++j) {
      std::size_t rest = j;
      for (std::size_t axis = problem_.modes.size(); axis-- > 0;) {
        const std::size_t n = problem_.modes[axis];
        const double place = static_cast<double>(rest % n) / static_cast<double>(n) - 0.5;
        grid[axis][j] = static_cast<T>(2 * std::numbers::pi * place);
        rest /= n;
      }
    }
    set_points(grid);
    const Values1<T> x = some_values<T>(inputs(), random_), X = run(x);
    points_ = before;
    const double ratio = norm_of<T>(X) / norm_of<T>(x) / std::sqrt(static_cast<double>(modes_));
    // Coordinates of the grid are rounded.
    const auto longest = static_cast<double>(*std::max_element(problem_.modes.begin(), problem_.modes.end()));
    const double allowed = 3 * epsilon() + double{std::numeric_limits<T>::epsilon()} * longest;
    if (std::abs(ratio - 1) <= allowed) return {};
    return fmt::format("energy: the norm is off by {:.2e} of itself, allowed {:.1e}", ratio - 1, allowed);
  }

  Draw& draw_;
  Random& random_;
  nufft::Problem problem_{};
  std::size_t points_ = 0, modes_ = 1;
  std::array<std::vector<T>, 3> at_{};
  std::unique_ptr<nufft::Plan<T>> plan_{};
};

// Type 3: frequencies anywhere. The product of the extents bounds the grid.
template <class T>
class Type3Laws {
 public:
  explicit Type3Laws(Draw& draw) : draw_(draw), random_(draw.random) {
    problem_ = {.axes = random_.between(1, 3), .sign = random_.chance(0.5) ? 1 : -1, .threads = random_.below(4)};
    problem_.epsilon = some_epsilon<T>(random_);
    problem_.batch = random_.chance(0.2) ? 2 : 1;
    const std::size_t most = std::max<std::size_t>(8, most_points(draw, problem_.epsilon, problem_.axes) / 8);
    points_ = random_.between(most / 2 + 1, most);
    count_ = random_.between(most / 2 + 1, most);
    const double grid = std::min(4000.0, static_cast<double>(draw.points));
    product_ = std::pow(grid, random_.uniform() / static_cast<double>(problem_.axes));
    extent_ = std::pow(2.0, std::floor(20 * random_.uniform()) - 10);
    draw.problem = fmt::format("{} type 3, {} axes, {} points over {:.1e}, {} frequencies over {:.1e}, epsilon {:.1e}",
                               sizeof(T) == 4 ? "f32" : "f64", problem_.axes, points_, extent_, count_,
                               product_ / extent_, problem_.epsilon);
  }

  std::string check() {
    plan_ = std::make_unique<nufft::Type3Plan<T>>(draw_.device, problem_);
    const double unit = kUnit * extent_;
    for (std::size_t i = 0; i < problem_.axes; ++i) {
      for (std::size_t j = 0; j < points_; ++j)
        x_[i].push_back(static_cast<T>(std::floor(random_.uniform() / kUnit) * unit));
      for (std::size_t k = 0; k < count_; ++k)
        s_[i].push_back(static_cast<T>(product_ / extent_ * (random_.uniform() - 0.5)));
    }
    set_points(x_);
    const Values1<T> x = some_values<T>(problem_.batch * points_, random_), X = run(x);
    std::string wrong = linearity(x, X);
    if (wrong.empty()) wrong = adjoint(x, X);
    if (wrong.empty()) wrong = impulse();
    if (wrong.empty()) wrong = shift(x, X, unit);
    return wrong;
  }

 private:
  using Places = std::array<std::vector<T>, 3>;
  void set_points(const Places& from) {
    std::vector<std::span<const T>> points, frequencies;
    for (std::size_t i = 0; i < problem_.axes; ++i) points.emplace_back(from[i]), frequencies.emplace_back(s_[i]);
    plan_->set_points(points, frequencies);
  }
  Values1<T> run(const Values1<T>& in) const {
    const T none = std::numeric_limits<T>::quiet_NaN();
    Values1<T> out(problem_.batch * count_, {none, none});
    plan_->run(in, out);
    draw_.answered(std::as_writable_bytes(std::span(out)));
    return out;
  }
  double epsilon() const {
    return problem_.epsilon +
           double{std::numeric_limits<T>::epsilon()} * (std::sqrt(static_cast<double>(points_)) + 8 * product_);
  }
  double rms_of(const Values1<T>& in) const { return norm_of<T>(in) / std::sqrt(static_cast<double>(problem_.batch)); }
  Wide phase(std::size_t k, const std::array<T, 3>& at) const {
    long double angle = 0;
    for (std::size_t i = 0; i < problem_.axes; ++i)
      angle += static_cast<long double>(s_[i][k]) * static_cast<long double>(at[i]);
    return {std::cos(angle), problem_.sign * std::sin(angle)};
  }

  std::string linearity(const Values1<T>& x, const Values1<T>& X) {
    const Values1<T> y = some_values<T>(x.size(), random_);
    return linearity_of<T>([this](const Values1<T>& in) { return run(in); }, x, X, y, rms_of(x), epsilon());
  }
  std::string adjoint(const Values1<T>& x, const Values1<T>& X) {
    return adjoint_of<T>(*plan_, draw_, x, X, some_values<T>(X.size(), random_), epsilon());
  }
  std::string impulse() {
    const std::size_t at = random_.below(points_);
    Values1<T> in(problem_.batch * points_);
    for (std::size_t set = 0; set < problem_.batch; ++set) in[set * points_ + at] = 1;
    std::array<T, 3> place{};
    for (std::size_t i = 0; i < problem_.axes; ++i) place[i] = x_[i][at];
    return compare_values<T>("impulse", run(in), 1, epsilon(), [&](std::size_t i) { return phase(i % count_, place); });
  }
  std::string shift(const Values1<T>& x, const Values1<T>& X, double unit) {
    std::array<T, 3> by{};
    Places moved = x_;
    for (std::size_t i = 0; i < problem_.axes; ++i) {
      by[i] = static_cast<T>(std::floor(4 * random_.uniform() / kUnit) * unit);
      for (T& place : moved[i]) place += by[i];
    }
    set_points(moved);
    return compare_values<T>("shift", run(x), rms_of(x), 2 * epsilon(),
                             [&](std::size_t i) { return Wide(X[i]) * phase(i % count_, by); });
  }

  Draw& draw_;
  Random& random_;
  nufft::Type3Problem problem_{};
  std::size_t points_ = 0, count_ = 0;
  double extent_ = 1, product_ = 1;
  Places x_{}, s_{};
  std::unique_ptr<nufft::Type3Plan<T>> plan_{};
};

template <class T>
std::string check_nufft_laws(Draw& draw, bool type3) {
  return type3 ? Type3Laws<T>(draw).check() : NufftLaws<T>(draw).check();
}

}  // namespace

Outcome nufft_laws(Draw& draw) {
  const bool type3 = draw.random.chance(0.2);
  const bool wide = draw.random.chance(0.5) && draw.device.limits().float64;
  return {.wrong = wide ? check_nufft_laws<double>(draw, type3) : check_nufft_laws<float>(draw, type3)};
}

}  // namespace ridge::check
