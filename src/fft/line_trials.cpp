#include "fft/line_trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include <fmt/format.h>

#include "device/random.hpp"
#include "fft/reference.hpp"

namespace ridge::fft {
namespace {

constexpr std::size_t kTrialPoints = 4096;  // short lines are timed many at a time
constexpr double kLongRun = 0.02;           // one such run says enough
constexpr double kSeveral = 4;              // gates that a wrong answer exceeds

template <class T>
void fill(base::AlignedArray<std::complex<T>>& points, std::uint64_t seed) {
  fill_random(std::as_writable_bytes(points.span()), sizeof(T) == sizeof(float) ? Numbers::float32 : Numbers::float64,
              seed);
}

double work_of_reference(std::size_t n) {
  double work = 0;
  for (std::size_t rest = n; rest > 1;) {
    const std::size_t p = reference::smallest_factor(rest);
    work += static_cast<double>(p);
    rest /= p;
  }
  return work * static_cast<double>(n);
}

// One point by definition. The root of a place is a product of two from short tables, for a million long double sines
// take a second.
template <class Real, class T>
Point<Real> point_of(const std::complex<T>* in, std::size_t n, std::size_t k, bool inverse) {
  const auto step = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(n))));
  const auto root = [&](std::size_t place) {
    const long double angle = (inverse ? 2 : -2) * std::numbers::pi_v<long double> * static_cast<long double>(place) /
                              static_cast<long double>(n);
    if constexpr (sizeof(Real) == sizeof(double)) {
      return Point<Real>{static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
    } else {
      return Point<Real>{Real::from(std::cos(angle)), Real::from(std::sin(angle))};
    }
  };
  std::vector<Point<Real>> fine(step), coarse(n / step + 1);
  for (std::size_t i = 0; i < fine.size(); ++i) fine[i] = root(i);
  for (std::size_t i = 0; i < coarse.size(); ++i) coarse[i] = root(i * step);
  Point<Real> sum{};
  std::size_t place = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const Point<Real> value{Real(in[j].real()), Real(in[j].imag())};
    sum = sum + value * (coarse[place / step] * fine[place % step]);
    place += k;
    if (place >= n) place -= n;
  }
  return sum;
}

template <class T>
double energy_of(const std::complex<T>* points, std::size_t n) {
  Wide sum;
  for (std::size_t i = 0; i < n; ++i) sum = sum + Wide(std::norm(std::complex<double>(points[i])));
  return static_cast<double>(sum);
}

// Of a few points, in units of the answer's root mean square; the energy counts as one.
template <class T>
double error_of_long_line(const std::complex<T>* in, const std::complex<T>* out, std::size_t n, bool inverse,
                          std::size_t line) {
  using Real = reference::Wider<T>;
  const double size = std::sqrt(energy_of(in, n));
  double worst = std::abs(energy_of(out, n) / (size * size * static_cast<double>(n)) - 1) / 2;
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}, (7 * n / 10 + line) % n, n - 1}) {
    const Point<Real> expected = point_of<Real>(in, n, k, inverse);
    const double re = static_cast<double>(Real(out[k].real()) - expected.re);
    const double im = static_cast<double>(Real(out[k].imag()) - expected.im);
    const double error = std::hypot(re, im) / size / 4;  // a single point strays further than the mean
    if (std::isnan(worst)) break;  // of the energy or a point, and stays so
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

}  // namespace

template <class T>
double wrong_from(std::size_t n) {
  return kSeveral * reference::error_gate<T>(n);
}

template <class T>
planner::Comparison compare_lines(const char* what, const std::complex<T>* in, const std::complex<T>* out,
                                  std::size_t n, std::size_t count, bool inverse) {
  const bool whole = work_of_reference(n) < (sizeof(T) == sizeof(float) ? 4e6 : 1e6);
  planner::Comparison result{.worst = 0, .allowed = wrong_from<T>(n)};
  for (std::size_t line = 0; line < count; ++line) {
    const std::complex<T>*from = in + line * n, *to = out + line * n;
    const double error = whole ? reference::relative_error<T>(
                                     to, 1, reference::dft(std::vector<std::complex<T>>(from, from + n), inverse))
                               : error_of_long_line(from, to, n, inverse, line);
    if (error <= result.worst) continue;
    result.worst = error;
    result.where = fmt::format("{}, line {}", what, line);
    if (std::isnan(error)) break;
  }
  return result;
}

template <class T>
void LineTrials<T>::reserve(std::size_t n) {
  if (in_.size() != 0) return;
  count_ = std::max<std::size_t>(kTrialPoints / n, 1);
  in_ = base::AlignedArray<Complex>(n * count_);
  out_ = base::AlignedArray<Complex>(n * count_);
  fill(in_, 1);
  fill(out_, 2);
}

template <class T>
double LineTrials<T>::seconds(const LineKernel<T>& kernel) {
  const std::size_t n = kernel.length();
  reserve(n);
  base::AlignedArray<Complex> scratch(kernel.scratch());
  const auto lines = static_cast<double>(count_);
  const auto many = [&] { kernel.run_many(Direction::forward, in_.data(), n, out_.data(), n, count_, scratch.data()); };
  const auto one_by_one = [&] {
    for (std::size_t i = 0; i < count_; ++i) {
      kernel.run(Direction::forward, in_.data() + i * n, out_.data() + i * n, scratch.data());
    }
  };
  const auto once = [&] {
    const double start = base::now();
    many();
    return base::now() - start;
  };
  if (once() > kLongRun) return std::min(once(), once()) / lines;
  const double together = base::best_seconds(many, repeat_) / lines;
  // A line serves alone and in batches: what both of them take, for some do well in batches only.
  if (count_ == 1 || !alone_) return together;
  return (together + base::best_seconds(one_by_one, repeat_) / lines) / 2;
}

template <class T>
planner::Comparison LineTrials<T>::compare(const LineKernel<T>& kernel) {
  const std::size_t n = kernel.length();
  reserve(n);
  // A few lines say as much as many; enough for every path of run_many().
  const std::size_t count = std::min<std::size_t>(count_, 37), columns = n * 5 <= kTrialPoints * 64 ? 5 : 1;
  base::AlignedArray<Complex> scratch(std::max(kernel.scratch(), kernel.scratch_columns()));
  const T unstored = std::numeric_limits<T>::quiet_NaN();
  const auto forget = [&](base::AlignedArray<Complex>& points) {
    std::fill(points.begin(), points.end(), Complex(unstored, unstored));
  };
  forget(out_);
  kernel.run_many(Direction::forward, in_.data(), n, out_.data(), n, count, scratch.data());
  planner::Comparison worst = compare_lines<T>("forward", in_.data(), out_.data(), n, count, false);
  const auto take = [&](const planner::Comparison& other) {
    if (worst.right() && !(other.worst <= worst.worst)) worst = other;
  };
  forget(out_);
  kernel.run(Direction::inverse, in_.data(), out_.data(), scratch.data());
  take(compare_lines<T>("inverse", in_.data(), out_.data(), n, 1, true));
  // Columns side by side, gathered again as lines.
  base::AlignedArray<Complex> side(n * columns), turned(n * columns), lines(n * columns);
  fill(side, 3);
  forget(turned);
  kernel.run_columns(Direction::forward, side.data(), columns, turned.data(), columns, columns, scratch.data());
  const auto gather = [&](const base::AlignedArray<Complex>& from, base::AlignedArray<Complex>& to) {
    for (std::size_t i = 0; i < n * columns; ++i) to[i % columns * n + i / columns] = from[i];
  };
  gather(side, lines);
  gather(turned, side);
  take(compare_lines<T>("columns", lines.data(), side.data(), n, columns, false));
  return worst;
}

template class LineTrials<float>;
template class LineTrials<double>;
template double wrong_from<float>(std::size_t);
template double wrong_from<double>(std::size_t);
template planner::Comparison compare_lines(const char*, const std::complex<float>*, const std::complex<float>*,
                                           std::size_t, std::size_t, bool);
template planner::Comparison compare_lines(const char*, const std::complex<double>*, const std::complex<double>*,
                                           std::size_t, std::size_t, bool);

}  // namespace ridge::fft
