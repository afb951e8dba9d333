// Compares one direction of a drawn transform with a DFT in twice the precision. Small problems are compared point by
// point; of large ones the energy of every transform and a few points.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/worst.hpp"
#include "check/fft/case.hpp"
#include "check/fft/wide_dft.hpp"

namespace ridge::check {

template <class T>
class FftDirection {
 public:
  using Real = Wide<T>;
  using Point = WidePoint<Real>;
  using Points = std::vector<Point>;

  FftDirection(const FftCase& made, const FftSides& sides, bool forward)
      : made_(made),
        problem_(made.problem),
        forward_(forward),
        real_(made.problem.kind == fft::Kind::real),
        in_(forward_ ? sides.samples : sides.spectrum),
        out_(forward_ ? sides.spectrum : sides.samples),
        samples_shape_(made.problem.shape),
        whole_in_(forward_ ? samples_shape_ : spectrum_shape(made.problem)),
        whole_out_(forward_ ? spectrum_shape(made.problem) : samples_shape_),
        in_box_(forward_ ? made.problem.given : made.problem.wanted),
        out_box_(forward_ ? made.problem.wanted : made.problem.given),
        in_shape_(forward_ ? given_shape(made.problem) : wanted_shape(made.problem)),
        out_shape_(forward_ ? wanted_shape(made.problem) : given_shape(made.problem)) {
    in_values_ = real_ && forward_ ? 1 : 2;
    out_values_ = real_ && !forward_ ? 1 : 2;
    value_bytes_ = sizeof(T);
    if (forward_ && problem_.load_forward.samples == Samples::int8) value_bytes_ = 1;
    if (forward_ && problem_.load_forward.samples == Samples::int16) value_bytes_ = 2;
  }

  // Describes what is wrong; empty if nothing is. `Plan` is any type with forward() and inverse().
  template <class Plan>
  std::string check(const Plan& plan, const Draw& draw) {
    const std::size_t in_bytes = in_.extent * in_values_ * value_bytes_,
                      out_bytes = out_.extent * out_values_ * sizeof(T);
    const std::size_t in_shift = made_.shift * in_values_ * value_bytes_;
    const std::size_t out_shift = problem_.in_place ? in_shift : made_.shift * out_values_ * sizeof(T);
    std::vector<std::byte> from(in_shift + std::max(in_bytes, problem_.in_place ? out_bytes : 0));
    fill_values(from, value_bytes_ == sizeof(T) ? kValues : Values::bytes, made_.data + (forward_ ? 0 : 1));
    if constexpr (requires { plan.decisions(); }) historical_ = chose_historical(plan.decisions());
    input_ = from.data() + in_shift;
    if (!forward_ && real_ && in_box_.whole()) make_hermitian();
    plant_oddity();
    const std::vector<std::byte> before = from;
    std::vector<std::byte> to(problem_.in_place ? 0 : out_shift + out_bytes, std::byte{0xff});
    std::byte* output = problem_.in_place ? from.data() + in_shift : to.data() + out_shift;
    transform(plan, from.data() + in_shift, in_bytes, output, out_bytes);
    draw.answered({output, out_bytes}, from);
    if (!problem_.in_place && from != before) return "the input was changed";
    input_ = before.data() + in_shift;
    output_ = output;
    if (!problem_.in_place) {
      if (std::string wrong = gaps(); !wrong.empty()) return wrong;
    }
    return affordable() ? every_point() : some_points();
  }

 private:
  static constexpr Values kValues = sizeof(T) == 4 ? Values::float32 : Values::float64;
  static constexpr double kEpsilon = std::numeric_limits<T>::epsilon();

  template <class Plan>
  void transform(const Plan& plan, std::byte* in, std::size_t in_bytes, std::byte* out, std::size_t out_bytes) {
    using Complex = std::complex<T>;
    const auto span_of = []<class E>(E* data, std::size_t bytes) { return std::span<E>(data, bytes / sizeof(E)); };
    const auto complex_in = span_of(reinterpret_cast<const Complex*>(in), in_bytes);
    const auto complex_out = span_of(reinterpret_cast<Complex*>(out), out_bytes);
    if (!forward_) {
      if (real_) return plan.inverse(complex_in, span_of(reinterpret_cast<T*>(out), out_bytes));
      return plan.inverse(complex_in, complex_out);
    }
    const auto bytes = span_of(reinterpret_cast<const std::int8_t*>(in), in_bytes);
    const auto shorts = span_of(reinterpret_cast<const std::int16_t*>(in), in_bytes);
    if constexpr (requires { plan.forward(bytes, complex_out); }) {
      if (value_bytes_ == 1) return plan.forward(bytes, complex_out);
      if (value_bytes_ == 2) return plan.forward(shorts, complex_out);
    }
    if (real_) return plan.forward(span_of(reinterpret_cast<const T*>(in), in_bytes), complex_out);
    plan.forward(complex_in, complex_out);
  }

  double value(const std::byte* at) const {
    if (value_bytes_ == 1) return static_cast<double>(*reinterpret_cast<const std::int8_t*>(at));
    if (value_bytes_ == 2) {
      std::int16_t number;
      std::memcpy(&number, at, 2);
      return number;
    }
    T number;
    std::memcpy(&number, at, sizeof(T));
    return static_cast<double>(number);
  }
  static double stored(const std::byte* at) {
    T number;
    std::memcpy(&number, at, sizeof(T));
    return static_cast<double>(number);
  }
  std::byte* input_at(std::size_t line, std::size_t index) const {
    return const_cast<std::byte*>(input_) + in_.at(line, index) * in_values_ * value_bytes_;
  }
  std::complex<double> output(std::size_t line, std::size_t index) const {
    const std::byte* at = output_ + out_.at(line, index) * out_values_ * sizeof(T);
    return {stored(at), out_values_ == 2 ? stored(at + sizeof(T)) : 0.0};
  }

  // Makes the input the half spectrum of real samples.
  void make_hermitian() {
    const std::size_t last = samples_shape_.back(), half = in_shape_.back(), count = points_of(in_shape_);
    for (std::size_t line = 0; line < problem_.batch; ++line) {
      for (std::size_t index = 0; index < count; ++index) {
        const std::size_t k = index % half;
        if (k != 0 && 2 * k != last) continue;
        std::size_t partner = k, place = half, rest = index / half;
        for (std::size_t axis = in_shape_.size() - 1; axis-- > 0;) {
          const std::size_t n = in_shape_[axis];
          partner += (n - rest % n) % n * place;
          place *= n;
          rest /= n;
        }
        T pair[2];
        std::memcpy(pair, input_at(line, partner), sizeof(pair));
        pair[1] = partner == index ? T(0) : -pair[1];
        if (partner <= index) std::memcpy(input_at(line, index), pair, sizeof(pair));
      }
    }
  }

  void plant_oddity() {
    if (made_.oddity == Oddity::none || value_bytes_ != sizeof(T) || in_.aliases) return;
    const std::size_t count = points_of(in_shape_);
    const auto put = [&](std::size_t index, T number) {
      std::memcpy(input_at(made_.odd_line, index), &number, sizeof(T));
    };
    if (made_.oddity == Oddity::denormal) {
      quiet_ = true;
      for (std::size_t index = 0; index < count; ++index) {
        for (std::size_t part = 0; part < in_values_; ++part) {
          std::byte* at = input_at(made_.odd_line, index) + part * sizeof(T);
          const T small = static_cast<T>(stored(at)) * std::numeric_limits<T>::min() / 4;
          std::memcpy(at, &small, sizeof(T));
        }
      }
      return;
    }
    planted_ = true;
    put(made_.data % count,
        made_.oddity == Oddity::nan ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity());
  }

  // Finds writes to elements that do not belong to the output.
  std::string gaps() const {
    std::vector<bool> used(out_.extent, false);
    const std::size_t count = points_of(out_shape_);
    for (std::size_t line = 0; line < problem_.batch; ++line) {
      for (std::size_t index = 0; index < count; ++index) used[out_.at(line, index)] = true;
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (used[i]) continue;
      const std::byte* at = output_ + i * out_values_ * sizeof(T);
      if (!std::all_of(at, at + out_values_ * sizeof(T), [](std::byte byte) { return byte == std::byte{0xff}; }))
        return fmt::format("element {} was written, which is not part of the output", i);
    }
    return {};
  }

  const auto& load() const { return forward_ ? problem_.load_forward : problem_.load_inverse; }
  const auto& store() const { return forward_ ? problem_.store_forward : problem_.store_inverse; }
  double scale() const { return static_cast<T>(forward_ ? problem_.scale_forward : problem_.scale_inverse); }

  // The complete complex input of a transform, packed; points outside the box are zero, and a half spectrum is
  // completed.
  Points loaded(std::size_t line) const {
    const std::size_t count = points_of(in_shape_);
    Points points(points_of(whole_in_));
    for (std::size_t index = 0; index < count; ++index) {
      const std::byte* at = input_at(line, index);
      Point point{Real(value(at)), Real(in_values_ == 2 ? value(at + value_bytes_) : 0.0)};
      if (!load().window.empty()) point = point * Point{Real(load().window[index]), Real(0.0)};
      if (!load().multiply.empty())
        point = point * Point{Real(load().multiply[index].real()), Real(load().multiply[index].imag())};
      points[whole_place(in_box_, whole_in_, index)] = point;
    }
    if (forward_ || !real_) return points;
    const std::size_t n = samples_shape_.back(), half = whole_in_.back(), all = points_of(samples_shape_);
    Points whole(all);
    for (std::size_t index = 0; index < all; ++index) {
      const std::size_t k = index % n;
      const bool own = k == 0 || 2 * k == n;  // only the Hermitian part of these values counts
      if (k < half && (!own || in_box_.whole())) {
        whole[index] = points[index / n * half + k];
        continue;
      }
      std::size_t partner = own ? k : n - k, place = half, rest = index / n;
      for (std::size_t axis = samples_shape_.size() - 1; axis-- > 0;) {
        const std::size_t m = samples_shape_[axis];
        partner += (m - rest % m) % m * place;
        place *= m;
        rest /= m;
      }
      whole[index] = {points[partner].re, -points[partner].im};
      if (own) whole[index] = (whole[index] + points[index / n * half + k]) * Point{Real(0.5), Real(0.0)};
    }
    return whole;
  }

  std::complex<double> finished(Point point, std::size_t out_index) const {
    point = point * Point{Real(scale()), Real(0.0)};
    if (!store().window.empty()) point = point * Point{Real(store().window[out_index]), Real(0.0)};
    if (!store().multiply.empty())
      point = point * Point{Real(store().multiply[out_index].real()), Real(store().multiply[out_index].imag())};
    return {static_cast<double>(point.re), out_values_ == 2 ? static_cast<double>(point.im) : 0.0};
  }

  const std::vector<Point>& roots(std::size_t n) {
    auto& table = roots_[n];
    if (table.empty()) table = wide_roots<Real>(n, forward_ ? -1 : 1);
    return table;
  }

  void transform_axes(Points& points) {
    std::size_t inner = 1;
    for (std::size_t axis = samples_shape_.size(); axis-- > 0;) {
      const std::size_t n = samples_shape_[axis];
      Points line(n), result(n);
      for (std::size_t start = 0; n > 1 && start < points.size(); ++start) {
        if (start / inner % n != 0) continue;
        for (std::size_t i = 0; i < n; ++i) line[i] = points[start + i * inner];
        wide_dft(line.data(), 1, n, roots(n), 1, result.data());
        for (std::size_t i = 0; i < n; ++i) points[start + i * inner] = result[i];
      }
      inner *= n;
    }
  }

  // Converts an index into the packed output to an index into an array of the samples' shape.
  std::size_t whole_index(std::size_t out_index) const {
    out_index = whole_place(out_box_, whole_out_, out_index);
    if (!(forward_ && real_)) return out_index;
    const std::size_t half = whole_out_.back();
    return out_index / half * samples_shape_.back() + out_index % half;
  }

  bool affordable() const {
    double cost = 0;
    for (std::size_t n : samples_shape_) {
      for (std::size_t rest = n; rest > 1;) {
        const std::size_t p = smallest_prime_factor(rest);
        cost += static_cast<double>(p);
        rest /= p;
      }
    }
    return cost * static_cast<double>(points_of(samples_shape_) * problem_.batch) < (sizeof(T) == 4 ? 2e7 : 4e6);
  }

  // The historical algorithms, which are chosen by name only, add and subtract before they multiply: at 3 to 70 points
  // their errors reach 1.6 times the specification's bound (20 of 9497 random problems exceed it).
  static constexpr double kHistorical = 2;
  static bool chose_historical(const std::vector<planner::Decision>& decisions) {
    return std::any_of(decisions.begin(), decisions.end(), [](const planner::Decision& one) {
      return one.winner < one.trials.size() && one.trials[one.winner].name.starts_with("classic/");
    });
  }

  // The specification's error bound, doubled for lengths computed by convolution, plus 0.6 roundings per real factor.
  double gate() const {
    const auto n = static_cast<double>(points_of(samples_shape_));
    bool convolution = false;
    for (std::size_t length : samples_shape_) {
      for (std::size_t p = 2; length > 1; ++p) {
        if (p * p > length) p = length;
        while (length % p == 0) length /= p;
        convolution |= p > 13;
      }
    }
    const double factors = 1.0 * !load().window.empty() + 2.0 * !load().multiply.empty() +
                           1.0 * !store().window.empty() + 2.0 * !store().multiply.empty();
    const double allowed = 0.6 * (convolution ? 2 : 1) * (historical_ ? kHistorical : 1);
    return kEpsilon * (allowed * std::sqrt(std::max(1.0, std::log2(n))) + 0.6 * factors);
  }
  // True if two real transforms may be computed as one complex transform (docs/fft.md): odd lengths on the host, float
  // lengths 16, 32 and 64 on devices. The rounding errors of the larger one then affect the other.
  bool may_be_paired() const {
    const std::size_t n = samples_shape_.back();
    return real_ && (n % 2 == 1 || (sizeof(T) == sizeof(float) && (n == 16 || n == 32 || n == 64)));
  }
  // Largest allowed error of a point in a transform of denormals. Denormals may be flushed to zero, an error below the
  // smallest normal number per term.
  double floor_of_line(std::size_t line) const {
    if (!quiet_ || line != made_.odd_line) return 0;
    const auto n = static_cast<double>(points_of(samples_shape_));
    return static_cast<double>(std::numeric_limits<T>::min()) * n + (may_be_paired() ? 8 * gate() * std::sqrt(n) : 0);
  }
  bool spoilt(std::size_t line) const { return planted_ && line == made_.odd_line; }

  // A NaN or infinity must reach every output point, since each depends on all inputs. Of an inverse real transform,
  // one such point suffices.
  std::string spoilt_line(std::size_t line) const {
    const std::size_t count = points_of(out_shape_);
    std::size_t spoilt = 0, sound = 0;
    for (std::size_t index = 0; index < count; ++index) {
      const auto got = output(line, index);
      if (!std::isfinite(got.real()) || !std::isfinite(got.imag())) {
        ++spoilt;
      } else {
        sound = index;
      }
    }
    if (spoilt == count || (real_ && !forward_ && spoilt > 0)) return {};
    return fmt::format("line {} holds {}, and its point {} is finite", line,
                       made_.oddity == Oddity::nan ? "NaN" : "infinity", sound);
  }

  std::string every_point() {
    double all_difference = 0, all_norm = 0;
    std::size_t compared = 0;
    const std::size_t count = points_of(out_shape_);
    for (std::size_t line = 0; line < problem_.batch; ++line) {
      if (spoilt(line)) {
        if (std::string wrong = spoilt_line(line); !wrong.empty()) return wrong;
        continue;
      }
      Points points = loaded(line);
      double difference = 0, norm = 0, usual = 0;
      for (const Point& point : points) {
        const auto re = static_cast<double>(point.re), im = static_cast<double>(point.im);
        usual += (re * re + im * im) * scale() * scale() * static_cast<double>(count);
      }
      transform_axes(points);
      base::Worst largest;
      std::size_t largest_at = 0;
      for (std::size_t index = 0; index < count; ++index) {
        const auto expected = finished(points[whole_index(index)], index);
        const double off = std::norm(output(line, index) - expected);
        difference += off;
        norm += std::norm(expected);
        if (largest.add(off)) largest_at = index;
      }
      if (!out_box_.whole()) norm = std::max(norm, usual);  // a few values may all be small by chance
      if (floor_of_line(line) > 0) {
        if (!(std::sqrt(largest.value()) <= floor_of_line(line)))
          return fmt::format("line {} of denormals: point {} is off by {:.2e}", line, largest_at,
                             std::sqrt(largest.value()));
        continue;
      }
      const double error = norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
      if (!(error <= 2 * gate()))
        return fmt::format("line {}: relative error {:.2e}, twice the gate is {:.2e}; worst at point {}", line, error,
                           2 * gate(), largest_at);
      all_difference += difference;
      all_norm += norm;
      compared += count;
    }
    const double error = all_norm > 0 ? std::sqrt(all_difference / all_norm) : 0;
    // A mean needs enough values.
    if (compared >= 16 && !(error <= gate()))
      return fmt::format("relative error {:.2e}, the gate is {:.2e}", error, gate());
    return {};
  }

  std::string some_points() {
    constexpr std::size_t kPoints = 4;
    Random random(made_.data);
    const std::size_t count = points_of(out_shape_), all = points_of(samples_shape_);
    const bool energy = store().window.empty() && store().multiply.empty() && out_box_.whole();
    const std::size_t sampled = random.below(problem_.batch);
    for (std::size_t line = 0; line < problem_.batch; ++line) {
      if (spoilt(line)) {
        if (std::string wrong = spoilt_line(line); !wrong.empty()) return wrong;
        continue;
      }
      if (floor_of_line(line) > 0) continue;
      if (!energy && line != sampled) continue;
      const Points points = loaded(line);
      double in_energy = 0, out_energy = 0;
      for (const Point& point : points) {
        const auto re = static_cast<double>(point.re), im = static_cast<double>(point.im);
        in_energy += re * re + im * im;
      }
      const double size = std::sqrt(in_energy) * scale();  // root mean square of the answer
      for (std::size_t index = 0; index < count; ++index) {
        // Each point of a half spectrum counts twice, except those that are their own mirror.
        const std::size_t k = index % out_shape_.back();
        const bool twice = forward_ && real_ && k != 0 && 2 * k != samples_shape_.back();
        out_energy += (twice ? 2 : 1) * std::norm(output(line, index));
      }
      const double expected_energy = in_energy * scale() * scale() * static_cast<double>(all);
      if (energy &&
          !(std::abs(out_energy / expected_energy - 1) <= 40 * kEpsilon + 1e-15 * std::sqrt(static_cast<double>(all))))
        return fmt::format("line {}: the energy is {:.9e} times what it should be", line, out_energy / expected_energy);
      if (line != sampled) continue;
      for (std::size_t i = 0; i < kPoints; ++i) {
        const std::size_t index = random.below(count);
        const auto expected = finished(direct(points, whole_index(index)), index);
        const double error = std::abs(output(line, index) - expected) / size;
        if (!(error <= 8 * gate()))
          return fmt::format("line {}, point {}: off by {:.2e} of the root mean square, allowed {:.2e}", line, index,
                             error, 8 * gate());
      }
    }
    return {};
  }

  // One point by the definition.
  Point direct(const Points& points, std::size_t index) {
    const std::size_t axes = samples_shape_.size();
    std::vector<std::size_t> k(axes);
    std::vector<const Point*> tables(axes);
    for (std::size_t axis = axes; axis-- > 0; index /= samples_shape_[axis]) k[axis] = index % samples_shape_[axis];
    for (std::size_t axis = 0; axis < axes; ++axis) tables[axis] = roots(samples_shape_[axis]).data();
    Point sum{};
    for (std::size_t i = 0; i < points.size(); ++i) {
      Point term = points[i];
      std::size_t rest = i;
      for (std::size_t axis = axes; axis-- > 0;) {
        const std::size_t n = samples_shape_[axis];
        if (k[axis] != 0) term = term * tables[axis][rest % n * k[axis] % n];
        rest /= n;
      }
      sum = sum + term;
    }
    return sum;
  }

  const FftCase& made_;
  const fft::Problem& problem_;
  bool forward_, real_;
  const FftSide &in_, &out_;
  std::vector<std::size_t> samples_shape_, whole_in_, whole_out_;
  fft::Box in_box_, out_box_;
  std::vector<std::size_t> in_shape_, out_shape_;
  std::size_t in_values_ = 2, out_values_ = 2, value_bytes_ = sizeof(T);
  const std::byte *input_ = nullptr, *output_ = nullptr;
  bool historical_ = false;
  bool planted_ = false, quiet_ = false;  // odd_line holds NaN or infinity; odd_line holds denormals
  std::map<std::size_t, std::vector<Point>> roots_;
};

}  // namespace ridge::check
