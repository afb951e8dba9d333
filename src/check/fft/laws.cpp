// Checks transforms of any shape and batch by identities: linearity, impulses, shifts, Parseval's energy, the inverse,
// the adjoint. For a linear transform the first three decide correctness for every input (Ergun, STOC 1995), as in
// FFTW's own test.
#include <algorithm>
#include <complex>
#include <limits>
#include <numbers>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/fft.hpp>

#include "check/check.hpp"
#include "check/fft/case.hpp"
#include "check/fft/wide_dft.hpp"
#include "check/laws.hpp"

namespace ridge::check {
namespace {

template <class T>
class FftLaws {
 public:
  using Complex = std::complex<T>;

  FftLaws(Draw& draw, const fft::Problem& problem, std::uint64_t data, const planner::Options& options)
      : draw_(draw),
        problem_(problem),
        real_(problem.kind == fft::Kind::real),
        each_(real_ ? 1 : 2),
        points_(points_of(problem.shape)),
        spectrum_shape_(spectrum_shape(problem)),
        bins_(points_of(spectrum_shape_)),
        random_(data),
        plan_(draw.device, problem, options) {
    draw.problem += ", " + chosen_by(plan_.decisions());
  }

  std::string check() {
    const std::vector<T> x = noise();
    std::vector<Complex> X = forward(x);
    draw_.answered(std::as_writable_bytes(std::span(X)));
    std::string wrong = parseval(x, X);
    if (wrong.empty()) wrong = inverse_law(x, X);
    if (wrong.empty()) wrong = impulse();
    if (wrong.empty()) wrong = shift(x, X);
    if (wrong.empty()) wrong = linearity_and_adjoint(x, X);
    return wrong;
  }

 private:
  // Relative least-squares error allowed for one transform: twice the specification's bound, doubled again for lengths
  // computed by convolution.
  double gate() const {
    bool convolution = false;
    for (std::size_t n : problem_.shape) {
      for (; n > 1; n /= smallest_prime_factor(n)) convolution |= smallest_prime_factor(n) > 13;
    }
    return (convolution ? 2.4 : 1.2) * std::numeric_limits<T>::epsilon() *
           std::sqrt(std::max(1.0, std::log2(static_cast<double>(points_))));
  }

  std::vector<T> noise() {
    std::vector<T> values(problem_.batch * points_ * each_);
    fill_values(std::as_writable_bytes(std::span(values)), sizeof(T) == 4 ? Values::float32 : Values::float64,
                random_.bits());
    return values;
  }

  std::vector<Complex> forward(const std::vector<T>& samples) const {
    const T none = std::numeric_limits<T>::quiet_NaN();
    std::vector<Complex> out(problem_.batch * bins_, {none, none});
    if (real_) {
      plan_.forward(std::span<const T>(samples), std::span(out));
    } else {
      plan_.forward(std::span(reinterpret_cast<const Complex*>(samples.data()), samples.size() / 2), std::span(out));
    }
    return out;
  }
  std::vector<T> inverse(const std::vector<Complex>& spectrum) const {
    std::vector<T> out(problem_.batch * points_ * each_, std::numeric_limits<T>::quiet_NaN());
    if (real_) {
      plan_.inverse(std::span<const Complex>(spectrum), std::span(out));
    } else {
      plan_.inverse(std::span<const Complex>(spectrum),
                    std::span(reinterpret_cast<Complex*>(out.data()), out.size() / 2));
    }
    return out;
  }

  // Number of spectrum values that a stored one represents: two in a half spectrum, except for those that are their own
  // mirror.
  double times(std::size_t bin) const {
    const std::size_t k = bin % spectrum_shape_.back();
    return real_ && k != 0 && 2 * k != problem_.shape.back() ? 2 : 1;
  }

  std::string parseval(const std::vector<T>& x, const std::vector<Complex>& X) const {
    const double allowed = 4 * gate() + 1e-15 * std::sqrt(static_cast<double>(points_));
    for (std::size_t line = 0; line < problem_.batch; ++line) {
      double before = 0, after = 0;
      for (std::size_t i = 0; i < points_ * each_; ++i) {
        const auto value = static_cast<double>(x[line * points_ * each_ + i]);
        before += value * value;
      }
      for (std::size_t k = 0; k < bins_; ++k) after += times(k) * std::norm(std::complex<double>(X[line * bins_ + k]));
      const double ratio = after / (before * static_cast<double>(points_));
      if (!(std::abs(ratio - 1) <= allowed))
        return fmt::format("energy of transform {}: {:.3e} too much, allowed {:.1e}", line, ratio - 1, allowed);
    }
    return {};
  }

  std::string inverse_law(const std::vector<T>& x, const std::vector<Complex>& X) const {
    const std::vector<T> back = inverse(X);
    const std::string wrong = not_the_sum<T>(back, static_cast<double>(points_), x, 0, x, points_ * each_, 3 * gate());
    return wrong.empty() ? "" : "inverse of the forward transform is not N times the input: " + wrong;
  }

  // The product of exp(-2 pi i k m / n) over all axes.
  std::complex<double> turn(std::size_t bin, const std::vector<std::size_t>& m) const {
    using Angle = std::conditional_t<std::is_same_v<T, float>, double, long double>;
    Angle turns = 0;
    for (std::size_t axis = problem_.shape.size(); axis-- > 0;) {
      const std::size_t n = problem_.shape[axis], k = bin % spectrum_shape_[axis];
      turns += static_cast<Angle>(k * m[axis] % n) / static_cast<Angle>(n);
      bin /= spectrum_shape_[axis];
    }
    const Angle angle = -2 * std::numbers::pi_v<Angle> * (turns - std::floor(turns));
    return {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
  }

  std::vector<std::size_t> place() {
    std::vector<std::size_t> m;
    for (const std::size_t n : problem_.shape) m.push_back(random_.below(n));
    return m;
  }
  std::size_t index_of(const std::vector<std::size_t>& m) const {
    std::size_t index = 0;
    for (std::size_t axis = 0; axis < m.size(); ++axis) index = index * problem_.shape[axis] + m[axis];
    return index;
  }

  // A single 1 at position m: every value of the spectrum is known.
  std::string impulse() {
    const std::vector<std::size_t> m = place();
    std::vector<T> x(problem_.batch * points_ * each_);
    for (std::size_t line = 0; line < problem_.batch; ++line) x[(line * points_ + index_of(m)) * each_] = 1;
    const std::vector<Complex> X = forward(x);
    const double allowed = 8 * gate();
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      const std::complex<double> right = turn(bin, m);
      for (std::size_t line = 0; line < problem_.batch; ++line) {
        const std::complex<double> value(X[line * bins_ + bin]);
        if (!(std::abs(value - right) <= allowed))
          return fmt::format("impulse at {}, transform {}, value {}: {}{:+}i instead of {}{:+}i, allowed {:.1e}",
                             fmt::join(m, ","), line, bin, value.real(), value.imag(), right.real(), right.imag(),
                             allowed);
      }
    }
    return {};
  }

  // A cyclic shift by m multiplies the spectrum by exp(-2 pi i k m / n).
  std::string shift(const std::vector<T>& x, const std::vector<Complex>& X) {
    const std::vector<std::size_t> m = place();
    std::vector<T> moved(x.size());
    for (std::size_t i = 0; i < points_; ++i) {
      std::size_t rest = i, to = 0, step = 1;
      for (std::size_t axis = problem_.shape.size(); axis-- > 0;) {
        const std::size_t n = problem_.shape[axis];
        to += (rest % n + m[axis]) % n * step;
        step *= n;
        rest /= n;
      }
      for (std::size_t line = 0; line < problem_.batch; ++line)
        std::copy_n(x.data() + (line * points_ + i) * each_, each_, moved.data() + (line * points_ + to) * each_);
    }
    const std::vector<Complex> Y = forward(moved);
    const double allowed = 3 * gate();
    for (std::size_t line = 0; line < problem_.batch; ++line) {
      double difference = 0, norm = 0;
      for (std::size_t k = 0; k < bins_; ++k) {
        const std::complex<double> right = std::complex<double>(X[line * bins_ + k]) * turn(k, m);
        difference += std::norm(std::complex<double>(Y[line * bins_ + k]) - right);
        norm += std::norm(right);
      }
      if (!(std::sqrt(difference) <= allowed * std::sqrt(norm)))
        return fmt::format("shift by {}, transform {}: {:.2e} off, allowed {:.1e}", fmt::join(m, ","), line,
                           std::sqrt(difference / norm), allowed);
    }
    return {};
  }

  std::string linearity_and_adjoint(const std::vector<T>& x, const std::vector<Complex>& X) {
    constexpr double kA = 0.5, kB = -0.25;  // exact factors: the sum is rounded once
    const std::vector<T> y = noise();
    const std::vector<Complex> Y = forward(y);
    if (!real_) {
      // <F x, y> = <x, F* y>, where F* is the unscaled inverse; the samples y are reinterpreted as a spectrum.
      const std::vector<Complex> spectrum(reinterpret_cast<const Complex*>(y.data()),
                                          reinterpret_cast<const Complex*>(y.data()) + y.size() / 2);
      const std::vector<T> z = inverse(spectrum);
      std::complex<double> left = 0, right = 0;
      double size_x = 0, size_y = 0;
      for (std::size_t i = 0; i < spectrum.size(); ++i) {
        const std::complex<double> xi(x[2 * i], x[2 * i + 1]), yi(spectrum[i]), zi(z[2 * i], z[2 * i + 1]);
        left += std::complex<double>(X[i]) * std::conj(yi);
        right += xi * std::conj(zi);
        size_x += std::norm(xi);
        size_y += std::norm(yi);
      }
      const double allowed = 3 * gate() * std::sqrt(size_x * size_y * static_cast<double>(points_));
      if (!(std::abs(left - right) <= allowed))
        return fmt::format("adjoint: <F x, y> and <x, F* y> differ by {:.2e}, allowed {:.1e}", std::abs(left - right),
                           allowed);
    }
    std::vector<T> sum(x.size());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = static_cast<T>(kA * x[i] + kB * y[i]);
    const std::vector<Complex> Z = forward(sum);
    const auto numbers = [](const std::vector<Complex>& of) {
      return std::span<const T>(reinterpret_cast<const T*>(of.data()), 2 * of.size());
    };
    return not_the_sum<T>(numbers(Z), kA, numbers(X), kB, numbers(Y), 2 * bins_, 3 * gate());
  }

  Draw& draw_;
  const fft::Problem& problem_;
  bool real_;
  std::size_t each_, points_;
  std::vector<std::size_t> spectrum_shape_;
  std::size_t bins_;
  Random random_;
  fft::Plan<T> plan_;
};

template <class T>
Outcome laws_of(Draw& draw) {
  Random& random = draw.random;
  fft::Problem problem;
  problem.kind = random.chance(0.4) ? fft::Kind::real : fft::Kind::complex;
  problem.threads = random.below(4);
  const std::size_t axes = random.between(1, 3);
  const bool batched = random.chance(0.5);
  const std::uint64_t data = random.bits(), by_chance = random.bits();
  std::size_t left = draw.points;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const double share = 1.0 / static_cast<double>(axes - axis);
    problem.shape.push_back(
        random.length(std::max<std::size_t>(1, static_cast<std::size_t>(std::pow(static_cast<double>(left), share)))));
    left = std::max<std::size_t>(1, left / problem.shape.back());
  }
  if (batched && left > 1) problem.batch = random.magnitude(left);
  draw.problem =
      fmt::format("{} {} {} batch {}", sizeof(T) == 4 ? "f32" : "f64",
                  problem.kind == fft::Kind::real ? "real" : "complex", fmt::join(problem.shape, "x"), problem.batch);
  planner::Options options{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};
  if (axes == 1 && draw.device.is_host())
    options = some_variant(fft::candidates<T>(draw.device, problem.shape[0]), by_chance);
  return {.wrong = FftLaws<T>(draw, problem, data, options).check()};
}

}  // namespace

Outcome fft_laws(Draw& draw) {
  const bool wide = draw.random.chance(0.4) && draw.device.limits().float64;
  return wide ? laws_of<double>(draw) : laws_of<float>(draw);
}

}  // namespace ridge::check
